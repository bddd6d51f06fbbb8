# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node graph as data, and its start by launch files or as child processes."""
