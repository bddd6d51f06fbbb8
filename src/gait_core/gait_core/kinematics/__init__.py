"""Kinematics of whole robots and of legs, and their frames."""
