# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Behaviours, staged walk and keyframe strides."""
