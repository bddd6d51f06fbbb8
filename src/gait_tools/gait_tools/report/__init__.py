# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Self-contained page about a run or a champion, which works without a network."""
