# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo, imported without its log file of warnings: engines read them from the state."""

from __future__ import annotations

from typing import Any

import mujoco

mj: Any = mujoco


def _ignore(text: str) -> None:
    """Drop a warning; without a handler MuJoCo would write it to a file in the current folder."""


mj.set_mju_user_warning(_ignore)
