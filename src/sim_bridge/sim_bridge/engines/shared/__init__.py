"""Mechanics and laws that every engine shares."""
