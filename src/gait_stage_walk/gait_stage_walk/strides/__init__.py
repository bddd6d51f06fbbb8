"""Keyframe strides of a hexapod with extending legs."""
