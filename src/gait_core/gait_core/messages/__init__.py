"""Messages over any factory, rclpy or rosbags, built and read."""
