# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller of a layer of threshold perceptrons on linear servos."""
