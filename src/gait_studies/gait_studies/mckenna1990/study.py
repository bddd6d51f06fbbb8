"""
The cockroach and its insect gait (McKenna 1990), with the reflexes that it left uncalibrated.

To add rows, write a function of the session that returns them and list it in ``study``. Reflexes
are tried with the thresholds of ``calibration``, which runs before them.
"""

from __future__ import annotations

from functools import partial

from gait_studies.mckenna1990.cost import cost
from gait_studies.mckenna1990.free import free_bodies
from gait_studies.mckenna1990.gait import gait
from gait_studies.mckenna1990.model import physics, robot
from gait_studies.mckenna1990.motor import motor
from gait_studies.mckenna1990.reflexes import DISTURBED, calibration, reflexes
from gait_studies.mckenna1990.walks import stop_and_go, uneven, walks
from gait_tools.study.definition import Part, Study


def study() -> Study:
    """Return the study of McKenna (1990): gaits, reflexes and motor programs of the roach."""
    return Study(
        name='mckenna1990',
        title='A cockroach on springs: tripod to wave by one number, reflexes calibrated.',
        source='McKenna (1990), A Dynamic Model of Locomotion for Computer Animation, MIT.',
        parts=(
            Part(name='robot', measure=robot),
            Part(name='physics', measure=physics),
            Part(name='free_bodies', measure=free_bodies),
            Part(name='gait', measure=gait),
            Part(name='cost', measure=cost),
            Part(name='walks', measure=walks),
            Part(name='stop_and_go', measure=stop_and_go),
            Part(name='uneven', measure=uneven),
            Part(name='calibration', measure=calibration),
            *(
                Part(name=f'reflexes_{name}', measure=partial(reflexes, name=name))
                for name in DISTURBED
            ),
            Part(name='motor', measure=motor),
        ),
    )
