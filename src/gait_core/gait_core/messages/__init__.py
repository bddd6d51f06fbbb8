# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages over any factory, rclpy or rosbags, built and read."""
