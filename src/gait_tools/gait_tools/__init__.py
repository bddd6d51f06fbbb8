# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The gait command and what it shows, checks and records."""
