"""Sensor noise and delay, and range sensors."""
