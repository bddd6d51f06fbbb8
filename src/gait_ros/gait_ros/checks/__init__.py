# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Acceptance checks over ROS for `gait bench`."""
