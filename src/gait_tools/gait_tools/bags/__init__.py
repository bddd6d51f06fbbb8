"""Trials as rosbag2 directories (MCAP): writing, reading, and replay through a controller."""
