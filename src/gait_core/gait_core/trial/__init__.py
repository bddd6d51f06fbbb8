"""Trials: specification, loop, validity gates, record and hash."""
