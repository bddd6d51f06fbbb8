# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scaling of the mass of a robot."""

from __future__ import annotations

from dataclasses import replace

from gait_core.robot.model import RobotModel


def scale_mass(robot: RobotModel, factor: float) -> RobotModel:
    """Return a robot with every mass and inertia multiplied by a factor; itself for 1."""
    if factor == 1.0:
        return robot
    links = tuple(
        replace(link, mass=link.mass * factor, inertia=link.inertia * factor)
        for link in robot.links
    )
    return replace(robot, links=links)
