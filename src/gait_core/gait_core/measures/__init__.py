"""Measures of a walk: stability, energy, footfalls, metrics."""
