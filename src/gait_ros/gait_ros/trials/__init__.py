# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials over ROS: lock-step, service, workers and published states of a bridge."""
