"""Trials as rosbag2 directories (MCAP): written, read back, and played through a controller."""
