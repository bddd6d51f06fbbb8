"""Trials over ROS: lock-step, service, workers and the state that a bridge publishes."""
