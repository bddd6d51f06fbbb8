# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The cockroach of McKenna (1990)."""

from pathlib import Path


def experiments() -> Path:
    """Return the folder of experiments of this study."""
    return Path(__file__).parent / 'experiments'
