"""Every registered engine, for the tests that hold them all to the same closed forms."""

import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.robot.model import RobotModel


@pytest.fixture(params=registry.names('engines'))
def engine_name(request):
    """Name each registered engine in turn; one whose library is absent is skipped by name."""
    try:
        registry.load('engines', request.param)
    except ConfigurationError as error:
        pytest.skip(str(error))
    return request.param


@pytest.fixture
def engine_of(engine_name):
    """Make engines for a robot of the test; they are closed at the end."""
    made = []

    def make(robot: RobotModel):
        made.append(registry.load('engines', engine_name)(lambda name, draw: robot))
        return made[-1]

    yield make
    for engine in made:
        engine.close()
