# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The engine ``mujoco``; the only folder that imports MuJoCo."""
