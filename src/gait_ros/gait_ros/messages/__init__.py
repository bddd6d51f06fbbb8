"""Messages of rclpy from the dataclasses of gait_core and back."""
