"""Study mckenna1990: motor programs searched from the hand-tuned ones on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gait_core.metrics import heading
from gait_core.rollout import Rollout
from gait_evolver.fitness import smoothness
from gait_evolver.studies.mckenna1990_walks import speed, trial
from gait_evolver.study import Row, at_least, at_most
from gait_evolver.study_session import Session

_SECONDS = 1.2
_QUICK = 2


def motor(session: Session) -> Sequence[Row]:
    """Evolve the motor programs; compare at the robot's own physics step."""
    short = {'generations': _QUICK} if session.quick else {}
    one = session.evolve('motor', 'roach_motor', {'seed': session.seed, **short})
    names = one.plan.space.names
    evolved = {name: one.champion.spec.parameters[name] for name in names}
    spec = trial(_SECONDS)
    before = session.record(spec)
    after = session.record(replace(spec, parameters={**spec.parameters, **evolved}))
    start = float(np.max([row.fitness for row in one.generations[0] if row.fitness is not None]))
    changes = ', '.join(
        f'{name} {spec.parameters[name]:.2f} to {value:.2f}' for name, value in evolved.items()
    )
    rows = [
        at_least('motor_speed', 'speed of the evolved programs', speed(after), speed(before),
                 'cm/s', note=f'hand-tuned {speed(before):.2f} cm/s; physics step 26 us, '
                 'the search had 52 us'),
        at_most('motor_smooth', 'root mean square acceleration of their joints',
                -smoothness(after), -smoothness(before), 'rad/s^2',
                note=f'hand-tuned {-smoothness(before):.0f} rad/s^2'),
        at_most('motor_pitch', 'pitching of the body, root mean square', _pitching(after),
                1.5 * _pitching(before), 'rad/s',
                note=f'hand-tuned {_pitching(before):.2f} rad/s'),
        at_least('motor_fitness', 'fitness of the champion', one.champion.fitness, start,
                 note=f'first generation {start:.2f}, {len(one.rows)} trials'),
        at_most('motor_heading', 'turn of the evolved walk over 1.2 s',
                float(np.degrees(np.ptp(heading(after.body_poses[:, 0])))), 60.0, 'deg'),
        at_least('motor_genes', 'motor parameters that moved by more than 0.05',
                 float(sum(abs(value - spec.parameters[name]) > 0.05
                           for name, value in evolved.items())), 1.0, note=changes),
    ]  # fmt: skip
    if session.quick:
        return [row for row in rows if row.id in ('motor_fitness', 'motor_genes')]
    return rows


def _pitching(rollout: Rollout) -> float:
    """Return the root mean square pitching rate of the base [rad/s]."""
    yaw = heading(rollout.body_poses[:, 0])
    spin = rollout.body_twists[:, 0, 3:5]
    across = np.column_stack([-np.sin(yaw), np.cos(yaw)])
    return float(np.sqrt(np.mean((spin * across).sum(axis=1) ** 2)))
