"""Node graph as data, and its start by launch files or as child processes."""
