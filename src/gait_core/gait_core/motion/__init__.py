# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint targets, observations, states and motion requests."""
