# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reflexes over any walk: feet that stumble or miss the ground, and tilt of the base."""
