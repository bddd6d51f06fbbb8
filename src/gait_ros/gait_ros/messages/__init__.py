# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Conversions between ROS messages and dataclasses of gait_core."""
