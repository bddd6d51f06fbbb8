# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The hexapod with extending legs of Cafarelli (2017)."""

from pathlib import Path


def experiments() -> Path:
    """Return the folder of experiments of this study."""
    return Path(__file__).parent / 'experiments'
