# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files named by a user: bounded reading, atomic writing, archives."""
