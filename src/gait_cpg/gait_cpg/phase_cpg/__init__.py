# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Walk of phase oscillators: footholds, swing, posture, steering."""
