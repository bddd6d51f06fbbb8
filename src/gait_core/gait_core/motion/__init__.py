"""Joint targets, observations, states and requests for motion."""
