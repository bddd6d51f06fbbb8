# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials: specification, loop, validity gates, record and hash."""
