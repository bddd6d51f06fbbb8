# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Live controllers: observation, motion requests, safe output, and their nodes."""
