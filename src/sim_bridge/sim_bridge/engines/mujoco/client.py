# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo, imported without its log file of warnings: engines read them from the state."""

from __future__ import annotations

from typing import Any

import mujoco

mj: Any = mujoco

# Earlier releases give a sliding body 1 % less load; those before 3.7 lack fields of a model.
_OLDEST = (3, 9)
if tuple(int(part) for part in mujoco.__version__.split('.')[:2]) < _OLDEST:
    raise ImportError(
        f'MuJoCo {mujoco.__version__} is too old, expected 3.9 or later '
        "(pip install 'mujoco>=3.9')"
    )


def _ignore(text: str) -> None:
    """Drop a warning; without a handler MuJoCo would write it to a file in the current folder."""


mj.set_mju_user_warning(_ignore)
