# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study pike2003: commanded joint angles of the timetable and of superposed behaviours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation
from gait_core.robot.load import load_robot
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.spec import Command
from gait_studies.pike2003.pictures import draw_timetable
from gait_tools.study.definition import StudyRow, row_at_most, row_info, row_near
from gait_tools.study.session import StudySession

CONTROL_PERIOD = 0.02
STEP_DEG, LIFT_DEG, SWAY_DEG = 20.0, 20.0, 6.5
KNEE_DEG, PLACE_DEG, MOVE_DEG = 22.272373, 39.250172, 16.447701
TIME_SCALE = 0.9
START_TIME = 2.0
"""Start of the first cycle [s], after one second of leaning and one of raising a leg."""

COUNTS_PER_TURN = 62400
"""Encoder counts per turn of a joint; 22.5 degrees in 3 s are at most 52 counts per tick."""


@dataclass(frozen=True, kw_only=True)
class CommandedAngles:
    """
    Commanded joint angles and state of a walk, initial values included.

    Attributes
    ----------
    names : tuple of str
    angles : (T + 1, n) array [deg]
    cycles, stages : (T + 1,) arrays
        Index of the gait cycle, and stage of the walk.

    """

    names: tuple[str, ...]
    angles: FloatArray
    cycles: FloatArray
    stages: FloatArray

    def joint_angles(self, joint: str) -> FloatArray:
        """Return the angles of one joint, (T + 1,) [deg]."""
        return np.asarray(self.angles[:, self.names.index(joint)])

    def joint_angle_at(self, joint: str, time: float) -> float:
        """Return the angle of a joint at a time [deg]."""
        return float(self.joint_angles(joint)[round(time / CONTROL_PERIOD)])


def command_walk(
    duration: float,
    values: Mapping[str, Any] = EMPTY_MAPPING,
    stop_at: float = np.inf,
    prepare: Callable[[Any], None] = lambda controller: None,
) -> CommandedAngles:
    """
    Return the commanded angles of the published preset, without physics.

    Parameters
    ----------
    duration : float [s]
    values : mapping
        Parameters that replace those of the preset.
    stop_at : float [s]
        Time from which a stop is commanded.
    prepare : callable
        Called with the controller before its first step.

    """
    robot = load_robot('guroo')
    cls = registry.controller('staged_walk')
    params = cls.Params(**resolve_gait(robot, 'staged_walk', 'published', values).parameters)
    controller = cls(robot, params)
    controller.reset(0)
    prepare(controller)
    ticks = round(duration / CONTROL_PERIOD)
    angles = np.zeros((ticks + 1, len(robot.joint_names)))
    states: list[Mapping[str, float]] = [controller.state()]
    for tick in range(ticks):
        stop = float(tick * CONTROL_PERIOD >= stop_at - 1e-9)
        targets = controller.step(
            CONTROL_PERIOD,
            Command(set_points={'stop': stop}),
            Observation(tick=tick, time=tick * CONTROL_PERIOD),
        )
        columns = [robot.joint_index[name] for name in targets.names]
        angles[tick + 1] = angles[tick]
        angles[tick + 1, columns] = np.degrees(np.asarray(targets.position).reshape(-1))
        states.append(controller.state())
    return CommandedAngles(
        names=robot.joint_names,
        angles=angles,
        cycles=np.array([state['cycle'] for state in states]),
        stages=np.array([state['stage'] for state in states]),
    )


def lobe_progress(s: FloatArray) -> FloatArray:
    """Return the completed share of a velocity lobe's motion at a share ``s`` of its time."""
    inside = np.clip(s, 0.0, 1.0)
    return np.asarray(inside - np.sin(2.0 * np.pi * inside) / (2.0 * np.pi))


def closed_form_angles(tau: FloatArray) -> dict[str, FloatArray]:
    """
    Return the joint angles [deg] in the first half of the first cycle; ``tau`` in time scales.

    They are the sums of the stages in Figures 6.5 to 6.11 of Pike (2003).
    """
    a, b, late = lobe_progress(tau), lobe_progress(tau / 1.25), lobe_progress(tau - 1.0)
    sway = SWAY_DEG * (1.0 - 2.0 * lobe_progress(tau / 2.0))
    return {
        'left_knee': LIFT_DEG * (1.0 - a),
        'left_hip_fwd': LIFT_DEG / 2 + (STEP_DEG - LIFT_DEG / 2) * a - STEP_DEG * b,
        'left_ankle_fwd': LIFT_DEG / 2
        + (STEP_DEG - PLACE_DEG - LIFT_DEG / 2) * a
        + (PLACE_DEG - STEP_DEG) * b,
        'right_knee': KNEE_DEG * b + (LIFT_DEG - KNEE_DEG) * late,
        'right_hip_fwd': LIFT_DEG / 2 * late,
        'right_ankle_fwd': 4 * MOVE_DEG / 3 * b + (LIFT_DEG / 2 - 4 * MOVE_DEG / 3) * late,
        'left_ankle_side': sway,
        'left_hip_side': -sway,
        'right_hip_side': sway,
    }


def measure_schedule(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 8 to 17, 20 and 21: commanded angles of the timetable."""
    walk = command_walk(40.0)
    draw_timetable(session.picture('timetable'), walk.names, walk.angles, CONTROL_PERIOD)
    rows = [
        row_near(
            f'check_8_{joint}',
            f'angle of {joint} after a second',
            walk.joint_angle_at(joint, 1.0),
            lean,
            0.1,
            'deg',
        )
        for joint, lean in (
            ('left_ankle_side', SWAY_DEG),
            ('right_ankle_side', SWAY_DEG),
            ('left_hip_side', -SWAY_DEG),
            ('right_hip_side', SWAY_DEG),
        )
    ]
    rows += [
        row_near(
            f'check_10_{joint}',
            f'angle of {joint} after two seconds',
            walk.joint_angle_at(joint, 2.0),
            lift,
            0.1,
            'deg',
        )
        for joint, lift in (
            ('left_knee', LIFT_DEG),
            ('left_hip_fwd', LIFT_DEG / 2),
            ('left_ankle_fwd', LIFT_DEG / 2),
        )
    ]
    return [
        *rows,
        *_timing_rows(walk),
        _closed_form_row(walk),
        *_closing_rows(),
        *_foot_rows(walk),
    ]


def _timing_rows(walk: CommandedAngles) -> list[StudyRow]:
    """Return the rows of checks 11 and 12: start and duration of cycles."""
    begins = np.flatnonzero(np.diff(walk.cycles) > 0.0)
    periods = np.diff(begins)
    return [
        row_near(
            'check_11',
            'tick in which the first cycle begins',
            float(begins[0]) + 1.0,
            101.0,
            1.0,
            'tick',
            note='ticks count from 1 here',
        ),
        row_near('check_12_least', 'shortest cycle', float(periods.min()), 158.0, 1.0, 'tick'),
        row_near('check_12_most', 'longest cycle', float(periods.max()), 158.0, 1.0, 'tick'),
        row_near('check_12_half', 'half-cycle', _half_cycle_time(walk), 1.575, 0.02, 's'),
    ]


def _half_cycle_time(walk: CommandedAngles) -> float:
    """Return the time from the left knee's largest bend to the right knee's next one [s]."""
    begin, period = round(8.3 / CONTROL_PERIOD), round(3.15 / CONTROL_PERIOD)
    left = int(np.argmax(walk.joint_angles('left_knee')[begin : begin + period])) + begin
    right = int(np.argmax(walk.joint_angles('right_knee')[left : left + period]))
    return min(right, period - right) * CONTROL_PERIOD


def _closed_form_row(walk: CommandedAngles) -> StudyRow:
    """Return the row of check 13: error to the closed forms in the first half-cycle."""
    ticks = np.arange(
        round(START_TIME / CONTROL_PERIOD),
        round((START_TIME + 1.75 * TIME_SCALE) / CONTROL_PERIOD),
    )
    tau = (ticks.astype(np.float64) * CONTROL_PERIOD - START_TIME) / TIME_SCALE
    worst = max(
        float(np.abs(walk.joint_angles(joint)[ticks] - expected).max())
        for joint, expected in closed_form_angles(tau).items()
    )
    what = 'largest difference from the closed forms of nine joints in the first half-cycle'
    return row_near('check_13', what, worst, 0.0, 0.5, 'deg')


def _closing_rows() -> list[StudyRow]:
    """Return the rows of checks 14 to 17: duration and final angles of walks that stop."""
    # A single cycle: two seconds of start, 3.5 time scales, one second of exit.
    once = command_walk(8.0, stop_at=2.5)
    ended = float(np.flatnonzero(once.stages[101:] == 0.0)[0] + 101) * CONTROL_PERIOD
    rows = [row_near('check_16', 'end of start, one cycle and stop', ended, 6.2, 0.1, 's')]
    errors = []
    for values in ({}, {'knee_bend_deg': 34.0, 'ankle_place_deg': 21.0, 'ankle_move_deg': 24.0}):
        last = command_walk(8.0, values, stop_at=2.5).angles[-1]
        errors.append(float(np.abs(last).max()))
    rows.append(
        row_near(
            'check_14',
            'largest angle left by a lone cycle',
            max(errors),
            0.0,
            0.05,
            'deg',
            note='of two sets of binding variables, after the exit',
        )
    )
    many = command_walk(START_TIME + 40 * 3.16 + 5.0, stop_at=START_TIME + 39.5 * 3.15)
    rows.append(
        row_near(
            'check_15',
            'largest angle left by 40 cycles and a stop',
            float(np.abs(many.angles[-1]).max()),
            0.0,
            0.1,
            'deg',
        )
    )
    # A stop that is commanded within a cycle takes effect at the end of the cycle.
    unasked = command_walk(8.0)
    ignored = float(np.abs(once.angles - unasked.angles)[: round(5.14 / CONTROL_PERIOD)].max())
    rows.append(
        row_near(
            'check_17',
            'change of any angle by a stop before the cycle is over',
            ignored,
            0.0,
            1e-9,
            'deg',
        )
    )
    return rows


def _foot_rows(walk: CommandedAngles) -> list[StudyRow]:
    """Return the rows of checks 20 and 21: inert hip move, and pitch of the feet."""
    few, many = (
        command_walk(15.0, {'hip_move_deg': 10.0}),
        command_walk(15.0, {'hip_move_deg': 25.0}),
    )
    inert = float(np.abs(few.angles - many.angles).max())
    steep = command_walk(15.0, {'ankle_place_deg': 20.0})
    return [
        row_near(
            'check_20',
            'effect of the hip move on any angle',
            inert,
            0.0,
            1e-6,
            'deg',
            note='added and taken back at once: the fourth gene is inert',
        ),
        row_at_most(
            'check_21', 'largest pitch of the feet, tuned', _max_foot_pitch(walk), 0.4, 'deg'
        ),
        row_near(
            'check_21_steep',
            'largest pitch of the feet with an ankle place of 20',
            _max_foot_pitch(steep),
            4.8,
            0.3,
            'deg',
        ),
    ]


def _max_foot_pitch(walk: CommandedAngles) -> float:
    """Return the largest angle between a foot and the ground that the commands ask for [rad]."""
    begin = round(START_TIME / CONTROL_PERIOD)
    return max(
        float(
            np.abs(
                walk.joint_angles(f'{leg}_hip_fwd')
                - walk.joint_angles(f'{leg}_knee')
                + walk.joint_angles(f'{leg}_ankle_fwd')
            )[begin:].max()
        )
        for leg in ('left', 'right')
    )


def measure_superposition(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 1 to 4: superposed pulses on a walk that stands still."""
    try:
        solo = _command_pulses(('left_leg_twist', 22.5))
        double = _command_pulses(('left_leg_twist', 22.5), ('left_leg_twist', 22.5))
        other = _command_pulses(('right_ankle_fwd', 11.25))
        both = _command_pulses(('left_leg_twist', 22.5), ('right_ankle_fwd', 11.25))
    except AttributeError as error:
        raise ConfigurationError(f'staged_walk does not run behaviours: {error}') from error
    peak = float(np.diff(solo.joint_angles('left_leg_twist')).max())
    pair = float(np.diff(double.joint_angles('left_leg_twist')).max())
    alone = solo.angles + other.angles
    moved = ('left_leg_twist', 'right_ankle_fwd')
    silent = [i for i, name in enumerate(both.names) if name not in moved]
    return [
        row_near(
            'check_1_peak',
            'largest angle per tick in a motion of 22.5 deg in 3 s',
            peak,
            0.3,
            0.003,
            'deg',
        ),
        row_near(
            'check_1_total',
            'whole angle of that motion',
            solo.joint_angle_at('left_leg_twist', 3.2),
            22.5,
            0.1,
            'deg',
        ),
        row_info(
            'check_2',
            'angle of that tick in counts of the encoder',
            peak / 360.0 * COUNTS_PER_TURN,
            'count',
            published=52.0,
            note='the counts per revolution are not printed: they follow from this number',
        ),
        row_near(
            'check_3_peak',
            'peak of two behaviours on a joint, divided by that of one',
            pair / peak,
            2.0,
            1e-9,
        ),
        row_near(
            'check_3_total',
            'whole angle of two behaviours on a joint',
            double.joint_angle_at('left_leg_twist', 3.2),
            45.0,
            0.2,
            'deg',
        ),
        row_near(
            'check_4',
            'largest difference of two behaviours together from each alone',
            float(np.abs(both.angles - alone).max()),
            0.0,
            1e-9,
            'deg',
        ),
        row_near(
            'check_4_others',
            'largest angle of the other joints',
            float(np.abs(both.angles[:, silent]).max()),
            0.0,
            1e-9,
            'deg',
        ),
    ]


def _command_pulses(*moves: tuple[str, float]) -> CommandedAngles:
    def prepare(controller: Any) -> None:
        """Start a pulse of each joint."""
        for number, (joint, angle) in enumerate(moves):
            controller.mixer.start(
                'pulse', {'joint': joint, 'angle_deg': angle, 'period': 3.0}, name=f'pulse{number}'
            )

    return command_walk(3.2, stop_at=0.0, prepare=prepare)
