"""
GuRoo's staged walk and its genetic algorithm (Pike 2003).

To add rows, write a function of the session that returns them and list it in ``study``.
"""

from __future__ import annotations

from gait_studies.pike2003.beyond import pushes, square, straight, uneven
from gait_studies.pike2003.commands import schedule, superposition
from gait_studies.pike2003.fall import why_it_falls
from gait_studies.pike2003.ranking import improved_search, ranking
from gait_studies.pike2003.search import (
    fitness,
    published_search,
    read_back,
)
from gait_studies.pike2003.walk import distance, spectrum, turn
from gait_tools.study.definition import Part, Study


def study() -> Study:
    """Return the study of Pike (2003): GuRoo's staged walk and its genetic algorithm."""
    return Study(
        name='pike2003',
        title="GuRoo's staged walk: schedule, superposition, ZMP genetic algorithm, distance.",
        source='Pike (2003), Gait Generation for a Humanoid Robot, University of Queensland.',
        parts=(
            Part(name='superposition', measure=superposition),
            Part(name='schedule', measure=schedule),
            Part(name='read_back', measure=read_back),
            Part(name='fitness', measure=fitness),
            Part(name='spectrum', measure=spectrum),
            Part(name='distance', measure=distance),
            Part(name='turn', measure=turn),
            Part(name='why_it_falls', measure=why_it_falls),
            Part(name='straight', measure=straight),
            Part(name='square', measure=square),
            Part(name='uneven', measure=uneven),
            Part(name='pushes', measure=pushes),
            Part(name='published_search', measure=published_search),
            Part(name='ranking', measure=ranking),
            Part(name='improved_search', measure=improved_search),
        ),
    )
