"""Conversions between ROS messages and dataclasses of gait_core."""
