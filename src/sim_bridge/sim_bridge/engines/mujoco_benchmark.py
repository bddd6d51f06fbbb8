"""What trials in the ``mujoco`` engine take, also against the same in ``bullet``."""

from __future__ import annotations

from functools import partial
from typing import Any

from gait_core.benchmark import Measurement, in_turn, timed, usable_engines, usable_robots
from gait_core.targets import AppliedTape
from gait_core.trial_setup import default_trial
from sim_bridge.engines.mujoco_bare import bare_trial
from sim_bridge.engines.trial_benchmark import (
    BOXES,
    ROBOTS,
    SECONDS,
    box_tape,
    open_loop,
    trial_rows,
    trial_time,
)

RATES = {'a1': 3.0}
"""The least trials in mujoco for one in bullet."""
_TAPES = 4
"""In a batch."""


def benchmark() -> list[Measurement]:
    """Return steps, overhead, resets and batches in MuJoCo, and trial rates over Bullet's."""
    rows = [*trial_rows('mujoco', bare_trial), *_batches()]
    if 'bullet' in usable_engines():
        rows += [_rate(robot) for robot in usable_robots(*ROBOTS)]
    return rows


def _batches() -> list[Measurement]:
    """Return physics steps per second of tapes side by side, on one thread and on two."""
    tape = box_tape('mujoco', *BOXES[0], seconds=2.0)
    engine: Any = tape.engine
    tapes = [AppliedTape.of(tape.applied())] * _TAPES
    engine.reset(tape.spec.scene, 0)
    one, two = in_turn(
        *(partial(timed, partial(engine.rollout_batch, tapes, count)) for count in (1, 2)),
        repeats=3,
    )
    engine.close()
    joints = len(tape.robot.joint_names)
    return [
        Measurement(
            id=f'steps_batch_{count}_mujoco_{joints}',
            what=f'physics steps of {joints} joints in mujoco, {_TAPES} tapes on {threads}',
            unit='1/s',
            measured=_TAPES * tape.steps / seconds,
            group='engine',
        )
        for count, threads, seconds in ((1, 'one thread', one), (2, 'two threads', two))
    ]


def _rate(robot: str) -> Measurement:
    bullet, mujoco = in_turn(
        *(
            trial_time(open_loop(default_trial(robot, SECONDS, {'engine': engine})))
            for engine in ('bullet', 'mujoco')
        )
    )
    return Measurement(
        id=f'rate_{robot}',
        what=f'trials of {robot} in mujoco for one in bullet',
        unit='-',
        measured=bullet / mujoco,
        budget=RATES.get(robot),
        at_most=False,
        group='trial',
    )
