# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every registered engine, for the tests that hold them all to the same closed forms."""

import pytest

from gait_core import registry
from gait_core.robot.model import RobotModel
from gait_core.testing.skips import joint_engines, need_engine


@pytest.fixture(params=joint_engines())
def engine_name(request):
    """Name each engine of joints in turn; one whose library is absent is skipped by name."""
    need_engine(request.param)
    return request.param


@pytest.fixture
def engine_of(engine_name):
    """Make engines for a robot of the test; they are closed at the end."""
    made = []

    def make(robot: RobotModel):
        made.append(registry.engine(engine_name)(lambda name, draw: robot))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def able_engine_of(engine_of):
    """Make engines as ``engine_of`` does; one that says it cannot carry the robot is skipped."""

    def make(robot: RobotModel):
        engine = engine_of(robot)
        for needed, what in (
            (robot.ball_joints, 'ball joints'),
            (robot.force_elements, 'springs, cables'),
        ):
            if needed and not any(what in carried for carried in engine.supported_features):
                pytest.skip(f"engine '{engine.name}' carries no {what}")
        return engine

    return make
