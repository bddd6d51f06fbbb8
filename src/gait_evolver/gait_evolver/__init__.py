"""Evolution of gaits and the gait command."""
