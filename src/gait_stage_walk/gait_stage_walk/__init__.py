"""Behaviours, staged walk and keyframe strides."""
