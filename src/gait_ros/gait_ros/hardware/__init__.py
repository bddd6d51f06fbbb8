"""Motors behind joints: calibration, limits, guard, and the description for ros2_control."""
