"""Trials over ROS: lock-step, service, workers and published states of a bridge."""
