"""
The hexapod with extending legs: its published study, its flaw, and its question asked again.

To add rows, write a function of the session that returns them and list it in ``study``.
"""

from __future__ import annotations

from gait_studies.cafarelli2017.grid import grid
from gait_studies.cafarelli2017.model import flaw, model, published_best, single_leg
from gait_studies.cafarelli2017.physics import replays, searches, walks
from gait_studies.cafarelli2017.robot import robot
from gait_studies.cafarelli2017.runs import higher_rates, sweeps, table_6_10
from gait_studies.cafarelli2017.verdict import (
    assumptions,
    assumptions_uphill,
    fronts,
    leads,
    verdict,
)
from gait_tools.study.definition import Part, Study


def study() -> Study:
    """Return the study of Cafarelli (2017): the energy of a hexapod with extending legs."""
    return Study(
        name='cafarelli2017',
        title='Do legs that change their length save energy? Tables, flaw, the question again.',
        source='Cafarelli (2017), Energy-efficient Gait Control Schema of a Hexapod Robot with '
        'Dynamic Leg Lengths, Southern Illinois University Edwardsville.',
        parts=(
            Part(name='single_leg', measure=single_leg),
            Part(name='model', measure=model),
            Part(name='robot', measure=robot),
            Part(name='flaw', measure=flaw),
            Part(name='published_best', measure=published_best),
            Part(name='table_6_10', measure=table_6_10),
            Part(name='walks', measure=walks),
            Part(name='verdict', measure=verdict),
            Part(name='assumptions', measure=assumptions),
            Part(name='grid', measure=grid),
            Part(name='replays', measure=replays),
            Part(name='sweeps', measure=sweeps),
            Part(
                name='higher_rates',
                measure=higher_rates,
                skipped_when_quick='five runs of 600 generations',
            ),
            Part(name='leads', measure=leads),
            Part(name='fronts', measure=fronts),
            Part(name='assumptions_uphill', measure=assumptions_uphill),
            Part(name='searches', measure=searches),
        ),
    )
