# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Parts of the study of the neural quadruped (Bishop 2008).

To add rows, write a function of the session that returns them and list it in ``study``. An
interrupted run continues at its last trial. Checks of the network, the servos and the breeding by
themselves are tests.
"""

from __future__ import annotations

from gait_studies.bishop2008.model import (
    measure_ground,
    measure_robot,
    measure_search,
    measure_standing,
)
from gait_studies.bishop2008.runs import (
    compare_runs,
    measure_penalty,
    measure_run_a,
    measure_run_b,
)
from gait_studies.bishop2008.walk import measure_champions, measure_matrix, measure_steering
from gait_tools.study.definition import Study, StudyPart

_SKIPPED = 'what the short searches find does not walk'


def study() -> Study:
    """Return the study of Bishop (2008): searches for networks that walk drawn robots."""
    return Study(
        name='bishop2008',
        title='A perceptron layer learns to walk drawn bodies over rough ground.',
        source='Bishop (2008), A Method for Generating Robot Control Systems, Youngstown State '
        'University.',
        parts=(
            StudyPart(name='robot', measure=measure_robot),
            StudyPart(name='ground', measure=measure_ground),
            StudyPart(name='standing', measure=measure_standing),
            StudyPart(name='search', measure=measure_search),
            StudyPart(name='run_a', measure=measure_run_a),
            StudyPart(name='run_b', measure=measure_run_b),
            StudyPart(name='runs_compared', measure=compare_runs),
            StudyPart(name='champions', measure=measure_champions, skipped_when_quick=_SKIPPED),
            StudyPart(name='matrix', measure=measure_matrix, skipped_when_quick=_SKIPPED),
            StudyPart(name='steering', measure=measure_steering, skipped_when_quick=_SKIPPED),
            StudyPart(
                name='penalty',
                measure=measure_penalty,
                skipped_when_quick='two searches of 40 generations',
            ),
        ),
    )
