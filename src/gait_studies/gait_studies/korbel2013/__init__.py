# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tensegrity spine of Korbel (2013)."""

from pathlib import Path


def experiments() -> Path:
    """Return the folder of experiments of this study."""
    return Path(__file__).parent / 'experiments'
