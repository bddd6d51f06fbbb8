# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials as rosbag2 directories (MCAP): writing, reading, and replay through a controller."""
