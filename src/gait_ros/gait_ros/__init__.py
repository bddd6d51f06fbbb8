"""The rclpy side that all nodes of the suite share."""
