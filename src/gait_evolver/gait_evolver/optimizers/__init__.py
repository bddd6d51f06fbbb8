# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Optimisers with ask and tell, selected by registered name."""
