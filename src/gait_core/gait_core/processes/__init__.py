# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Liveness of worker processes, their end, and the compilation of kernels."""
