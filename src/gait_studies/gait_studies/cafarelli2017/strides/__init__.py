# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Strides of the hexapod with extending legs: published energy model and work along the path.

References
----------
Cafarelli (2017), *Energy-efficient Gait Control Schema of a Hexapod Robot with Dynamic Leg
Lengths*, MSc thesis, Southern Illinois University Edwardsville.

"""
