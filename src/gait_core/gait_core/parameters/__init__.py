# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Declared parameters, and plain data that is checked against dataclasses."""
