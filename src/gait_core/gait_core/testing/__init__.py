# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fixtures and doubles shared by the tests of every package."""
