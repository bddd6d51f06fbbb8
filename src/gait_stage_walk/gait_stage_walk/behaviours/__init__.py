# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Behaviours that move one robot at a time, and their arbiter."""
