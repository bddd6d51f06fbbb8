# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Parts of the study of the hexapod with extending legs (Cafarelli 2017).

To add rows, write a function of the session that returns them and list it in ``study``.
"""

from __future__ import annotations

from gait_studies.cafarelli2017.grid import measure_grid
from gait_studies.cafarelli2017.model import (
    measure_flaw,
    measure_model,
    measure_published_best,
    measure_single_leg,
)
from gait_studies.cafarelli2017.physics import measure_replays, measure_searches, measure_walks
from gait_studies.cafarelli2017.robot import measure_robot
from gait_studies.cafarelli2017.runs import (
    measure_higher_rates,
    measure_sweeps,
    measure_table_6_10,
)
from gait_studies.cafarelli2017.verdict import (
    measure_assumptions,
    measure_assumptions_uphill,
    measure_fronts,
    measure_leads,
    measure_verdict,
)
from gait_tools.study.definition import Study, StudyPart


def study() -> Study:
    """Return the study of Cafarelli (2017): the energy of a hexapod with extending legs."""
    return Study(
        name='cafarelli2017',
        title='Do legs that change their length save energy? Tables, flaw, the question again.',
        source='Cafarelli (2017), Energy-efficient Gait Control Schema of a Hexapod Robot with '
        'Dynamic Leg Lengths, Southern Illinois University Edwardsville.',
        parts=(
            StudyPart(name='single_leg', measure=measure_single_leg),
            StudyPart(name='model', measure=measure_model),
            StudyPart(name='robot', measure=measure_robot),
            StudyPart(name='flaw', measure=measure_flaw),
            StudyPart(name='published_best', measure=measure_published_best),
            StudyPart(name='table_6_10', measure=measure_table_6_10),
            StudyPart(name='walks', measure=measure_walks),
            StudyPart(name='verdict', measure=measure_verdict),
            StudyPart(name='assumptions', measure=measure_assumptions),
            StudyPart(name='grid', measure=measure_grid),
            StudyPart(name='replays', measure=measure_replays),
            StudyPart(name='sweeps', measure=measure_sweeps),
            StudyPart(
                name='higher_rates',
                measure=measure_higher_rates,
                skipped_when_quick='five runs of 600 generations',
            ),
            StudyPart(name='leads', measure=measure_leads),
            StudyPart(name='fronts', measure=measure_fronts),
            StudyPart(name='assumptions_uphill', measure=measure_assumptions_uphill),
            StudyPart(name='searches', measure=measure_searches),
        ),
    )
