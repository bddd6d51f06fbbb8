"""Declared parameters, and plain data that is checked against dataclasses."""
