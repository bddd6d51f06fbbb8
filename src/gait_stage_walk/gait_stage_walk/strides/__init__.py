# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Keyframe strides of a hexapod with extending legs."""
