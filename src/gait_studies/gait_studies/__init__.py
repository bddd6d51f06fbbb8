# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Published studies: one folder each, registered as ``gait.studies``."""
