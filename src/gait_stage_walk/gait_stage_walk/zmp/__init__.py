# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A walk of any biped with soles: footsteps, a previewed zero-moment point, legs by kinematics."""
