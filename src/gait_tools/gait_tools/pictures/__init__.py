"""Pictures of trials and of robots."""
