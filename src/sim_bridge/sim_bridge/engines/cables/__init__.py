# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The engine ``cables``: free bodies, force elements and contact nodes."""
