# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Run directories: experiment, log, checkpoint and champion."""
