"""ROS 2 nodes of the suite and their common parts."""
