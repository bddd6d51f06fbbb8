"""The gait command and what it shows, checks and records."""
