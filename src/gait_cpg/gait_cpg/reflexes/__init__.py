"""Reflexes over any walk: feet that stumble or miss the ground, trunk tilt."""
