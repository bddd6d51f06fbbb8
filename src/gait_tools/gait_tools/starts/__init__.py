# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts of experiments, robots, controllers and fitness terms: commented files that run."""
