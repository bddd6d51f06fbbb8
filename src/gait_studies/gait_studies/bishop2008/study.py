"""
The neural quadruped (Bishop 2008): body, ground, search, runs A and B, where a walk carries.

To add rows, write a function of the session that returns them and list it in ``study``. The budget
of a run is counted in turns; each goes on where it stopped. Checks of single parts of the network,
the servos and the breeding are tests.
"""

from __future__ import annotations

from gait_studies.bishop2008.model import ground, robot, search, standing
from gait_studies.bishop2008.runs import penalty, run_a, run_b, runs_compared
from gait_studies.bishop2008.walk import champions, matrix, steering
from gait_tools.study.definition import Part, Study

_SHORT = 'what the short searches find does not walk'


def study() -> Study:
    """Return the study of Bishop (2008): searches for networks that walk drawn robots."""
    return Study(
        name='bishop2008',
        title='A perceptron layer learns to walk drawn bodies over rough ground.',
        source='Bishop (2008), A Method for Generating Robot Control Systems, Youngstown State '
        'University.',
        parts=(
            Part(name='robot', measure=robot),
            Part(name='ground', measure=ground),
            Part(name='standing', measure=standing),
            Part(name='search', measure=search),
            Part(name='run_a', measure=run_a),
            Part(name='run_b', measure=run_b),
            Part(name='runs_compared', measure=runs_compared),
            Part(name='champions', measure=champions, skipped_when_quick=_SHORT),
            Part(name='matrix', measure=matrix, skipped_when_quick=_SHORT),
            Part(name='steering', measure=steering, skipped_when_quick=_SHORT),
            Part(
                name='penalty',
                measure=penalty,
                skipped_when_quick='two searches of 40 generations',
            ),
        ),
    )
