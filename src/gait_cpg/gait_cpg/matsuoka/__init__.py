# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller of Matsuoka oscillators on joints or cables."""
