"""MuJoCo, imported with its warnings silenced: engines read them from the state."""

from __future__ import annotations

from typing import Any

import mujoco

mj: Any = mujoco


def _ignore(text: str) -> None:
    """Take a warning; without a handler MuJoCo writes it to a file in the working directory."""


mj.set_mju_user_warning(_ignore)
