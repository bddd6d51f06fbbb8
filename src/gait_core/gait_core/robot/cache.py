"""Values derived from a robot once and kept beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from gait_core.robot.mechanism import Mechanism

Robot = TypeVar('Robot', bound=Mechanism)
T = TypeVar('T')


def cached_per_robot(derive: Callable[[Robot], T]) -> Callable[[Robot], T]:
    """
    Return the function with its value kept in the robot's own ``__dict__``.

    A robot holds arrays and mappings and cannot be hashed, so ``lru_cache`` cannot serve. A copy
    made with ``dataclasses.replace`` starts without the kept values.
    """
    key = f'{derive.__module__}.{derive.__qualname__}'

    @wraps(derive)
    def _kept(robot: Robot) -> T:
        store = vars(robot)
        if key not in store:
            store[key] = derive(robot)
        value: T = store[key]
        return value

    return _kept
