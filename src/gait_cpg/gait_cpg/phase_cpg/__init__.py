"""Walk of phase oscillators: footholds, swing, posture, steering."""
