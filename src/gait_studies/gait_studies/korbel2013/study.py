"""
The tensegrity spine and its evolving gaits (Korbel 2013).

To add rows, write a function of the session that returns them and list it in ``study``. The
evolutions run first among those that need them; later parts read their runs.
"""

from __future__ import annotations

from gait_studies.korbel2013.evolution import evolution, populations, step_size
from gait_studies.korbel2013.gait import champion
from gait_studies.korbel2013.model import contact, oscillators, robot, standing
from gait_studies.korbel2013.search import fitness, search
from gait_tools.study.definition import Part, Study


def study() -> Study:
    """Return the study of Korbel (2013): ten evolutions of the gait of a tensegrity spine."""
    return Study(
        name='korbel2013',
        title='A spine of five tetrahedra: cables, oscillators and ten evolutions of its gait.',
        source='Korbel (2013), Central Pattern Generator Gait Evolution of a Robotic Modular '
        'Tetrahedral Tensegrity, University of Idaho.',
        parts=(
            Part(name='robot', measure=robot),
            Part(name='standing', measure=standing),
            Part(name='contact', measure=contact),
            Part(name='oscillators', measure=oscillators),
            Part(name='fitness', measure=fitness),
            Part(name='search', measure=search),
            Part(name='evolution', measure=evolution),
            Part(name='populations', measure=populations),
            Part(name='champion', measure=champion),
            Part(name='step_size', measure=step_size),
        ),
    )
