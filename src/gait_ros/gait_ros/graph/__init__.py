"""The node graph as data, and what starts it: launch files and processes."""
