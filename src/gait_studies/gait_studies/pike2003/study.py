# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Parts of the study of GuRoo's staged walk and its genetic algorithm (Pike 2003).

To add rows, write a function of the session that returns them and list it in ``study``.
"""

from __future__ import annotations

from gait_studies.pike2003.commands import measure_schedule, measure_superposition
from gait_studies.pike2003.fall import measure_fall
from gait_studies.pike2003.feedback_walks import (
    measure_pushes,
    measure_square,
    measure_straight,
    measure_uneven,
)
from gait_studies.pike2003.ranking import measure_improved_search, measure_ranking
from gait_studies.pike2003.search import (
    measure_fitness,
    measure_published_search,
    measure_read_back,
)
from gait_studies.pike2003.walk import measure_distance, measure_spectrum, measure_turn
from gait_tools.study.definition import Study, StudyPart


def study() -> Study:
    """Return the study of Pike (2003): GuRoo's staged walk and its genetic algorithm."""
    return Study(
        name='pike2003',
        title="GuRoo's staged walk: schedule, superposition, ZMP genetic algorithm, distance.",
        source='Pike (2003), Gait Generation for a Humanoid Robot, University of Queensland.',
        parts=(
            StudyPart(name='superposition', measure=measure_superposition),
            StudyPart(name='schedule', measure=measure_schedule),
            StudyPart(name='read_back', measure=measure_read_back),
            StudyPart(name='fitness', measure=measure_fitness),
            StudyPart(name='spectrum', measure=measure_spectrum),
            StudyPart(name='distance', measure=measure_distance),
            StudyPart(name='turn', measure=measure_turn),
            StudyPart(name='why_it_falls', measure=measure_fall),
            StudyPart(name='straight', measure=measure_straight),
            StudyPart(name='square', measure=measure_square),
            StudyPart(name='uneven', measure=measure_uneven),
            StudyPart(name='pushes', measure=measure_pushes),
            StudyPart(name='published_search', measure=measure_published_search),
            StudyPart(name='ranking', measure=measure_ranking),
            StudyPart(name='improved_search', measure=measure_improved_search),
        ),
    )
