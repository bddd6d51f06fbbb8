# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Safety layer between a live controller and a robot."""
