# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Parts of the study of the cockroach and its insect gait (McKenna 1990).

To add rows, write a function of the session that returns them and list it in ``study``. Part
``calibration`` writes the thresholds with which the reflexes are measured after it.
"""

from __future__ import annotations

from functools import partial

from gait_studies.mckenna1990.free_bodies import measure_free_bodies
from gait_studies.mckenna1990.gait import measure_gait
from gait_studies.mckenna1990.model import measure_physics, measure_robot
from gait_studies.mckenna1990.motor_programs import measure_motor_programs
from gait_studies.mckenna1990.processor_time import measure_processor_time
from gait_studies.mckenna1990.reflexes import DISTURBANCES, measure_calibration, measure_reflexes
from gait_studies.mckenna1990.walks import measure_stop_and_go, measure_uneven, measure_walks
from gait_tools.study.definition import Study, StudyPart


def study() -> Study:
    """Return the study of McKenna (1990): gaits, reflexes and motor programs of the roach."""
    return Study(
        name='mckenna1990',
        title='A cockroach on springs: tripod to wave by one number, reflexes calibrated.',
        source='McKenna (1990), A Dynamic Model of Locomotion for Computer Animation, MIT.',
        parts=(
            StudyPart(name='robot', measure=measure_robot),
            StudyPart(name='physics', measure=measure_physics),
            StudyPart(name='free_bodies', measure=measure_free_bodies),
            StudyPart(name='gait', measure=measure_gait),
            StudyPart(name='cost', measure=measure_processor_time),
            StudyPart(name='walks', measure=measure_walks),
            StudyPart(name='stop_and_go', measure=measure_stop_and_go),
            StudyPart(name='uneven', measure=measure_uneven),
            StudyPart(name='calibration', measure=measure_calibration),
            *(
                StudyPart(name=f'reflexes_{name}', measure=partial(measure_reflexes, name=name))
                for name in DISTURBANCES
            ),
            StudyPart(name='motor', measure=measure_motor_programs),
        ),
    )
