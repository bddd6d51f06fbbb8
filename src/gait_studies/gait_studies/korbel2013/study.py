# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Parts of the study of the tensegrity spine and its evolved gaits (Korbel 2013).

To add rows, write a function of the session that returns them and list it in ``study``. Part
``evolution`` runs the evolutions; the parts after it read them.
"""

from __future__ import annotations

from gait_studies.korbel2013.evolution import (
    measure_evolution,
    measure_populations,
    measure_step_size,
)
from gait_studies.korbel2013.gait import measure_champion
from gait_studies.korbel2013.model import (
    measure_contact,
    measure_oscillators,
    measure_robot,
    measure_standing,
)
from gait_studies.korbel2013.search import measure_fitness, measure_search
from gait_tools.study.definition import Study, StudyPart


def study() -> Study:
    """Return the study of Korbel (2013): ten evolutions of the gait of a tensegrity spine."""
    return Study(
        name='korbel2013',
        title='A spine of five tetrahedra: cables, oscillators and ten evolutions of its gait.',
        source='Korbel (2013), Central Pattern Generator Gait Evolution of a Robotic Modular '
        'Tetrahedral Tensegrity, University of Idaho.',
        parts=(
            StudyPart(name='robot', measure=measure_robot),
            StudyPart(name='standing', measure=measure_standing),
            StudyPart(name='contact', measure=measure_contact),
            StudyPart(name='oscillators', measure=measure_oscillators),
            StudyPart(name='fitness', measure=measure_fitness),
            StudyPart(name='search', measure=measure_search),
            StudyPart(name='evolution', measure=measure_evolution),
            StudyPart(name='populations', measure=measure_populations),
            StudyPart(name='champion', measure=measure_champion),
            StudyPart(name='step_size', measure=measure_step_size),
        ),
    )
