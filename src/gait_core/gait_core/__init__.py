# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contracts, robot models and measures shared by every package of the gait suite."""
