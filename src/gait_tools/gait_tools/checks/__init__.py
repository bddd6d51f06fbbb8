"""Long acceptance checks of `gait bench --checks`."""
