# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study mckenna1990: step pattern of the gait, with constant observations and without physics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.arrays import BoolArray, FloatArray
from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.trial.spec import Command
from gait_studies.mckenna1990.model import ROBOT
from gait_studies.mckenna1990.pictures import draw_step_pattern
from gait_tools.study.definition import StudyRow, row_at_least, row_at_most, row_near
from gait_tools.study.session import StudySession

CONTROLLER = 'insect_gait'
CONTROL_PERIOD = 1.0 / 2400.0
STEP_DURATION = 0.05
"""Duration of a swing [s]."""
WAVE_ORDER = ('bl', 'ml', 'fl', 'br', 'mr', 'fr')
"""Legs in the order of their swings in the wave."""
WAITING, STEPPING = 1.0, 2.0
_CYCLE_TIMES = (0.1, 0.15, 0.2, 0.3, 0.5)
_FORWARD = Command(velocity=(0.06, 0.0, 0.0))


class HeldWalk:
    """
    Gait controller with constant observations; single readings can be changed.

    Attributes
    ----------
    controller : object
    states : list of (6,) lists
        State of each leg at every tick, in ``WAVE_ORDER``: 0 stance, 1 waiting, 2 swing.

    """

    def __init__(self, **parameters: Any) -> None:
        cls = registry.controller(CONTROLLER)
        self.robot = load_robot(ROBOT)
        self.controller = cls(
            self.robot, make_parameters(cls.Params, {'heading_gain': 0.0, **parameters})
        )
        self.states: list[list[float]] = []
        self.targets: list[FloatArray] = []
        self._readings = {
            'positions': self.robot.stance.copy(),
            'efforts': 0.0 * self.robot.stance,
        }

    def set_reading(self, kind: str, joint: str, value: float) -> None:
        """Set the measured angle [rad] ('positions') or torque [N m] ('efforts') of a joint."""
        self._readings[kind][self.robot.joint_index[joint]] = value

    def run(self, seconds: float) -> None:
        """Step the controller for a duration [s]; continue if called again."""
        zero = np.zeros(3)
        observation = Observation(
            tick=0,
            time=0.0,
            joint_names=self.robot.joint_names,
            joint_positions=self._readings['positions'],
            joint_efforts=self._readings['efforts'],
            imu=Imu(
                orientation=np.array([0.0, 0.0, 0.0, 1.0]),
                angular_velocity=zero,
                linear_acceleration=zero,
            ),
            contacts=Contacts(soles=self.robot.soles),
        )
        for _ in range(round(seconds / CONTROL_PERIOD)):
            targets = self.controller.step(CONTROL_PERIOD, _FORWARD, observation)
            state = self.controller.state()
            self.states.append([state[f'state.{leg}'] for leg in WAVE_ORDER])
            assert targets.position is not None
            self.targets.append(targets.position[-1])
            self.names = targets.names

    def stepping(self) -> BoolArray:
        """Return which legs are in swing, (T, 6)."""
        return np.asarray(np.array(self.states) == STEPPING)

    def steps(self) -> list[FloatArray]:
        """Return start and end [s] of the complete swings of each leg, (k, 2)."""
        steps = []
        for column in self.stepping().T:
            edges = np.diff(column.astype(int))
            begun, ended = np.flatnonzero(edges > 0) + 1, np.flatnonzero(edges < 0) + 1
            ended = ended[ended > begun[0]] if len(begun) else ended[:0]
            steps.append(CONTROL_PERIOD * np.column_stack([begun[: len(ended)], ended]))
        return steps


def measure_gait(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 11 to 19: motor programs, oscillators, order, ramp and reflexes."""
    held = {cycle: _run_cycle(cycle) for cycle in _CYCLE_TIMES}
    for name, cycle, seconds in (
        ('tripod', 0.1, 0.6),
        ('intermediate', 0.2, 0.9),
        ('wave', 0.5, 1.6),
    ):
        draw_step_pattern(
            session.picture(f'steps_{name}'),
            held[cycle].stepping(),
            WAVE_ORDER,
            CONTROL_PERIOD,
            seconds,
        )
    return [
        _command_row(),
        *_timing_rows(held),
        *_tripod_rows(held[0.1]),
        *_wave_rows(held),
        *_ramp_rows(session),
        _refusal_row(),
        *_reflex_rows(),
    ]


def _run_cycle(cycle: float) -> HeldWalk:
    held = HeldWalk(period_scale=cycle / (2.0 * STEP_DURATION))
    held.run(max(1.0, 4.2 * cycle))
    return held


def _command_row() -> StudyRow:
    """Return the row of check 11: in a swing the rest angle is a straight line in time."""
    held = HeldWalk()
    held.run(0.3)
    joint = held.names.index('leg_bl0')
    begun, ended = held.steps()[0][1]
    angles = np.array(held.targets)[
        round(begun / CONTROL_PERIOD) : round(ended / CONTROL_PERIOD) + 1, joint
    ]
    line = np.interp(
        np.arange(len(angles)), [0, round(STEP_DURATION / CONTROL_PERIOD)], [0.3, -0.1]
    )
    return row_at_most(
        'check_11',
        'rest angle of a coxa in its step less a straight line from 0.3 to -0.1 rad in 50 ms',
        float(np.abs(angles - line).max()),
        0.4 * CONTROL_PERIOD / STEP_DURATION + 1e-9,
        'rad',
        note='a physics step of the thesis is a control period here',
    )


def _timing_rows(walks: Mapping[float, HeldWalk]) -> list[StudyRow]:
    """Return the rows of checks 12 and 13: cycle, swing duration and lags."""
    cycles, durations, sides, across = [], [], [], []
    for cycle, walk in walks.items():
        begun = [steps[:, 0] for steps in walk.steps()]
        for steps in walk.steps():
            durations.append(np.abs(steps[:, 1] - steps[:, 0] - STEP_DURATION).max())
            cycles.append(np.abs(np.diff(steps[:, 0]) - cycle).max())
        for back, front in ((0, 1), (1, 2), (3, 4), (4, 5)):
            sides.append(_lag_error(begun[back], begun[front], STEP_DURATION, cycle))
        for left in range(3):
            across.append(_lag_error(begun[left], begun[left + 3], 0.5 * cycle, cycle))
    frames = 1.01
    rows = (
        ('check_12', 'largest error of the step interval of a leg (expected: the cycle)', cycles),
        ('check_13_step', 'largest error of the duration of a step (expected: 50 ms)', durations),
        ('check_13_side', 'largest error of the lag of neighbours (expected: 50 ms)', sides),
        (
            'check_13_across',
            'largest error of the lag across the body (expected: half a cycle)',
            across,
        ),
    )
    note = 'five cycles of 0.1 to 0.5 s'
    return [
        row_at_most(name, what, float(max(values)) / CONTROL_PERIOD, frames, 'frames', note=note)
        for name, what, values in rows
    ]


def _lag_error(first: FloatArray, second: FloatArray, expected_lag: float, cycle: float) -> float:
    """Return the error of the lag of the second leg after the first, modulo the cycle [s]."""
    lag = second[1] - first[1] - expected_lag
    return float(abs(lag - cycle * round(lag / cycle)))


def _tripod_rows(walk: HeldWalk) -> list[StudyRow]:
    """Return the row of check 14: two tripods that alternate."""
    stepping = walk.stepping()[round(0.2 / CONTROL_PERIOD) :]
    first_tripod = np.array([leg in ('bl', 'fl', 'mr') for leg in WAVE_ORDER])
    either = (stepping == first_tripod).all(axis=1) | (stepping == ~first_tripod).all(axis=1)
    changes = np.abs(np.diff((stepping == first_tripod).all(axis=1).astype(int))).sum()
    return [
        row_at_most(
            'check_14',
            'mean number of frames between two tripods in which neither steps alone',
            float((~either).sum() / max(1, changes)),
            1.0,
            note='LB, LF and RM; RB, RF and LM',
        )
    ]


def _wave_rows(walks: Mapping[float, HeldWalk]) -> list[StudyRow]:
    """Return the rows of check 15: one leg at a time, in the order of the wave."""
    order = []
    for cycle in (0.3, 0.5):
        begun = sorted((t, leg) for leg, s in enumerate(walks[cycle].steps()) for t in s[:, 0])
        legs = [leg for _, leg in begun]
        first = legs.index(0)
        order.append(legs[first : first + 6] == list(range(6)))
    most = max(int(walks[cycle].stepping().sum(axis=1).max()) for cycle in (0.3, 0.5))
    return [
        row_near(
            'check_15_legs',
            'largest number of legs that step at once in the wave',
            float(most),
            1.0,
            0.0,
        ),
        row_near(
            'check_15_order',
            'waves in the order LB LM LF RB RM RF, of two',
            float(sum(order)),
            2.0,
            0.0,
        ),
    ]


def _ramp_rows(session: StudySession) -> list[StudyRow]:
    """Return the rows of check 16: missed, doubled and overlapping swings in a ramp."""
    held = HeldWalk(period_scale=5.0, period_rate=4.0 / 3.0)
    held.run(0.5)
    held.controller.set_params(replace(held.controller.params, period_scale=1.0))
    held.run(3.5)
    draw_step_pattern(
        session.picture('steps_ramp'), held.stepping(), WAVE_ORDER, CONTROL_PERIOD, 4.0
    )
    steps = held.steps()
    ratios, overlaps = [], []
    for leg_steps in steps:
        middle = 0.5 * (leg_steps[1:, 0] + leg_steps[:-1, 0])
        scale = 5.0 - 4.0 / 3.0 * np.clip(middle - 0.5, 0.0, 3.0)
        ratios.append(np.diff(leg_steps[:, 0]) / (2.0 * STEP_DURATION * scale))
    for back, front in ((0, 1), (1, 2), (3, 4), (4, 5)):
        gaps = np.abs(steps[back][:, None, 0] - steps[front][None, :, 0])
        overlaps.append(max(0.0, float((STEP_DURATION - gaps).max())))
    cycle_ratios = np.concatenate(ratios)
    return [
        row_at_most(
            'check_16_missed',
            'longest cycle in a ramp, over that commanded',
            float(cycle_ratios.max()),
            1.5,
            note='a missed step makes two',
        ),
        row_at_least(
            'check_16_doubled',
            'shortest cycle in a ramp, over that commanded',
            float(cycle_ratios.min()),
            0.5,
        ),
        row_at_most(
            'check_16_overlap',
            'longest time in which neighbours step together',
            1000.0 * max(overlaps),
            5.0,
            'ms',
            published=4.6,
        ),
    ]


def _refusal_row() -> StudyRow:
    cls = registry.controller(CONTROLLER)
    try:
        make_parameters(cls.Params, {'period_scale': 0.9})
        refused = 0.0
    except ConfigurationError:
        refused = 1.0
    return row_near('check_17', 'a period scale of 0.9 is refused (1: yes)', refused, 1.0, 0.0)


def _reflex_rows() -> list[StudyRow]:
    """Return the rows of checks 18 and 19: load reflex and step reflex."""
    held = HeldWalk(load_reflex=True, longest_wait=10.0)
    held.set_reading('efforts', 'leg_bl1', -1.0)
    held.run(0.15)
    waits = held.states[-1][0]
    held.set_reading('efforts', 'leg_bl1', 0.0)
    held.run(CONTROL_PERIOD)
    after = held.states[-1][0]
    return [
        row_near('check_18_waits', 'state of a loaded leg whose turn it is', waits, WAITING, 0.0),
        row_near(
            'check_18_steps', 'state of that leg a frame after the load', after, STEPPING, 0.0
        ),
        row_near(
            'check_19',
            'frames from a coxa too far back to its step',
            _step_reflex_delay(),
            1.0,
            0.0,
        ),
    ]


def _step_reflex_delay() -> float:
    """Return the number of ticks after which a leg that is held too far back swings."""
    held = HeldWalk(step_reflex=True, bearing_neighbours=False, period_scale=20.0)
    held.run(0.01)
    held.set_reading('positions', 'leg_ml0', 1.0)
    held.run(5 * CONTROL_PERIOD)
    return float(np.argmax(held.stepping()[-5:, 1]) + 1)
