# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evaluators, which run trials: in processes of this machine, on a Ray cluster or on bridges."""
