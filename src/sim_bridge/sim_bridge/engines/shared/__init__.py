# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mechanics and laws that every engine shares."""
