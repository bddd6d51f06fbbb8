"""Contracts, robot models and measures shared by every package of the gait suite."""
