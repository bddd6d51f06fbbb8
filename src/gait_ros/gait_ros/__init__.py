"""What every node of the suite shares on the rclpy side."""
