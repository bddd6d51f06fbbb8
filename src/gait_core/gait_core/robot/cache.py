# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Cache of values derived from a robot."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from gait_core.robot.mechanism import Mechanism

Robot = TypeVar('Robot', bound=Mechanism)
T = TypeVar('T')


def cached_per_robot(derive: Callable[[Robot], T]) -> Callable[[Robot], T]:
    """
    Return the function with its value cached in the ``__dict__`` of the robot.

    ``lru_cache`` needs a hash, which a robot with arrays and mappings does not have. A copy made
    by ``dataclasses.replace`` starts with an empty cache.
    """
    key = f'{derive.__module__}.{derive.__qualname__}'

    @wraps(derive)
    def cached(robot: Robot) -> T:
        store = vars(robot)
        if key not in store:
            store[key] = derive(robot)
        value: T = store[key]
        return value

    return cached
