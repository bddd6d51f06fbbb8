# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kinematics of whole robots and of legs, and their frames."""
