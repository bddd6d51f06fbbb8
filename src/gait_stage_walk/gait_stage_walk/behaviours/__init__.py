"""Behaviours that move one robot at a time, and their arbiter."""
