# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Physics engines, one module each; only that module and its helpers import the library."""
