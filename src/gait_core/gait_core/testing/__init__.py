"""Fixtures and doubles shared by the tests of every package."""
