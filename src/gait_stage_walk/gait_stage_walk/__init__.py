# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Walks by stages and plans: staged walk with behaviours, keyframe strides, ZMP walk."""
