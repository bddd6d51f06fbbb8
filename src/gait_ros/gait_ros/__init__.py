# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""ROS 2 nodes of the suite and their common parts."""
