# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measures of a walk: stability, energy, foot contacts, metrics."""
