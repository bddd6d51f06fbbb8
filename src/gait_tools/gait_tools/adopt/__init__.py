# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot folders from legged URDFs: legs, joint roles, stance, workspace and doubts."""
