# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
The cockroach of McKenna (1990).

Rows ``check_<number>`` answer numbered checks: the project's own list of facts of the thesis to
verify. It was written with a crude model of the roach, whose figures are no bounds.
"""

from pathlib import Path


def experiments() -> Path:
    """Return the folder of experiments of this study."""
    return Path(__file__).parent / 'experiments'
