# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evaluators run trials: in processes of this machine, or on sim_bridge workers."""
