"""Acceptance checks over ROS for `gait bench`."""
