# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Skipping of tests whose physics engine, optimiser or robot files are not installed.

Each raises ``unittest.SkipTest``, which pytest knows in a test, in a fixture and at the top of a
module; no module of the suite imports pytest.
"""

from __future__ import annotations

from pathlib import Path
from unittest import SkipTest

from gait_core import registry
from gait_core.contracts import Optimizer
from gait_core.errors import NotInstalled
from gait_core.robot.find import find_package_data
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel


def need_engine(name: str) -> None:
    """Skip the test or module where the library of an engine cannot be imported."""
    try:
        registry.engine(name)
    except NotInstalled as error:
        raise SkipTest(str(error)) from error


def need_optimizer(name: str) -> type[Optimizer]:
    """Return an optimiser's class; skip the test where its library cannot be imported."""
    try:
        return registry.optimizer(name)
    except NotInstalled as error:
        raise SkipTest(str(error)) from error


def joint_engines() -> tuple[str, ...]:
    """
    Return the registered engines that are made for robots with joints.

    One whose library is absent is among them: ``need_engine`` skips it by name.
    """
    return tuple(name for name in registry.names('engines') if _has_joints(name))


def _has_joints(name: str) -> bool:
    try:
        carries = registry.engine(name).supported_features
    except NotInstalled:
        return True
    return not carries or any('joints' in carried for carried in carries)


def need_robot(name: str) -> RobotModel:
    """Return a robot; skip the test where the package that holds its files is not installed."""
    try:
        return load_robot(name)
    except NotInstalled as error:
        raise SkipTest(f"robot '{name}': {error}") from error


def need_data(reference: str) -> Path:
    """Return the file of ``module:path``; skip the test where the module is not installed."""
    try:
        return find_package_data(reference)
    except NotInstalled as error:
        raise SkipTest(str(error)) from error
