# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study pike2003: cause of the falls of the printed timetable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.metrics import contact_zmp, inertial_zmp
from gait_core.measures.stability import support_margins
from gait_core.robot.load import load_robot
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.rollout import Rollout
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import OK, TrialSpec
from gait_tools.pictures.trial import saved_figure
from gait_tools.study.definition import StudyRow, row_at_most, row_info, row_near
from gait_tools.study.session import StudySession

START_TIME, HALF_CYCLE, TIME_SCALE = 2.0, 1.575, 0.9
"""Start of the first cycle, half a cycle, and time scale of the printed timetable [s]."""

LENGTH_SURPLUS = 20.4
"""Printed excess of the length of the leg at touch-down: 0.073 of a shank of 280 mm [mm]."""

_CROSSING_TIME = 1.0 * TIME_SCALE
"""Time of a step until which the body leans over the rear leg [s]."""


@dataclass(frozen=True, kw_only=True)
class FirstSteps:
    """
    Leg lengths, attitude and ZMP in the first steps of a walk, each (T,).

    Attributes
    ----------
    time : array [s]
        Time since the start of the first cycle.
    surplus : array [mm]
        Commanded length of the left leg minus that of the right one, with a level pelvis.
    roll, pitch : arrays [deg]
        Attitude of the base.
    outside : array
        1 while the inertial ZMP is outside the support polygon, else 0.

    """

    time: FloatArray
    surplus: FloatArray
    roll: FloatArray
    pitch: FloatArray
    outside: FloatArray


def _walk_trial(preset: str, seconds: float, engine: str = 'bullet', **values: float) -> TrialSpec:
    return TrialSpec(
        scene=make_scene('guroo', {'engine': engine, 'physics_step': 0.002}),
        controller='staged_walk',
        parameters=resolve_gait(load_robot('guroo'), 'staged_walk', preset, values).parameters,
        duration=seconds,
    )


def first_steps(rollout: Rollout) -> FirstSteps:
    """Return the first steps of a rollout, from the start of the first cycle on."""
    robot = rollout.robot
    angles = rollout.target_positions[:, : len(robot.joint_names)]
    poses = link_poses(robot, angles)
    rows = [next(i for i, link in enumerate(robot.links) if link.name == s) for s in robot.soles]
    left, right = (poses[:, row, 2, 3] for row in rows)
    attitude = Rotation.from_quat(rollout.body_poses[1:, 0, 3:]).as_euler('ZYX', degrees=True)
    pressure = contact_zmp(rollout)
    margin, defined = support_margins(
        inertial_zmp(rollout, pressure.points[:, 2]), *rollout.loaded_contacts
    )
    since = rollout.time[1:] > START_TIME
    return FirstSteps(
        time=rollout.time[1:][since] - START_TIME,
        surplus=1000.0 * (right - left)[since],
        roll=attitude[since, 2],
        pitch=attitude[since, 1],
        outside=(defined & (margin < 0.0))[1:][since].astype(np.float64),
    )


def measure_fall(session: StudySession) -> Sequence[StudyRow]:
    """Measure leg length, lean and ZMP in the first steps, and the effect of levelling."""
    seconds = START_TIME + 2.0 * HALF_CYCLE
    records = [
        session.record(_walk_trial(preset, seconds)) for preset in ('published', 'levelled')
    ]
    printed, levelled = (first_steps(record) for record in records)
    draw_fall(session, [('as printed', printed), ('levelled', levelled)])
    return [
        row_near(
            'fall_surplus',
            'length of the landing leg less that of the other',
            float(_until(printed, printed.surplus, HALF_CYCLE).max()),
            LENGTH_SURPLUS,
            1.0,
            'mm',
            note='commanded, first step; the closed forms say 0.073 of a shank',
        ),
        row_at_most(
            'fall_surplus_levelled',
            'the same when levelled, until the body has crossed to that leg',
            float(_until(levelled, levelled.surplus, _CROSSING_TIME).max()),
            0.0,
            'mm',
        ),
        row_info(
            'fall_lean',
            'tilt of the base in the first step, printed over levelled',
            _max_roll(printed) / _max_roll(levelled),
            note=f'{_max_roll(printed):.1f} and {_max_roll(levelled):.1f} degrees',
        ),
        row_info(
            'fall_outside',
            'share of the first two steps with the ZMP outside the feet, printed over levelled',
            float(printed.outside.mean() / levelled.outside.mean()),
            note=f'{printed.outside.mean():.0%} and {levelled.outside.mean():.0%}',
        ),
        *_levelling_rows(session),
    ]


def _until(steps: FirstSteps, values: FloatArray, until: float) -> FloatArray:
    return np.asarray(values[steps.time <= until])


def _max_roll(steps: FirstSteps) -> float:
    return float(np.abs(_until(steps, steps.roll, HALF_CYCLE)).max())


def _levelling_rows(session: StudySession) -> list[StudyRow]:
    """Return rows on falls of walks that differ only in the levelling."""
    seconds = 15.0 if session.quick else 30.0
    walks = list(product(('bullet', 'mujoco'), ('published', 'levelled')))
    rows = []
    for levelling, name in ((0.0, 'unlevelled'), (1.0, 'levelled')):
        specs = [
            _walk_trial(preset, seconds, engine, levelling=levelling) for engine, preset in walks
        ]
        results = session.run(specs)
        ends = ', '.join(
            f'{preset} in {engine}: '
            + (result.status if result.fell_at is None else f'fell after {result.fell_at:.1f} s')
            for (engine, preset), result in zip(walks, results, strict=True)
        )
        fallen = float(sum(result.status != OK for result in results))
        what = f'falls in {len(walks)} walks of {seconds:g} s with levelling {levelling:g}'
        expected = 0.0 if levelling else float(len(walks))
        rows.append(row_near(f'fall_{name}', what, fallen, expected, 0.0, 'walks', note=ends))
    return rows


def draw_fall(session: StudySession, walks: Sequence[tuple[str, FirstSteps]]) -> None:
    """Draw leg lengths, lean and ZMP of walks against time since the first cycle began."""
    with saved_figure(session.picture('fall'), (9.0, 6.0)) as figure:
        lengths, leans = figure.subplots(2, 1, sharex=True)
        for (name, steps), colour in zip(walks, ('tab:red', 'tab:blue'), strict=True):
            lengths.plot(steps.time, steps.surplus, color=colour, label=name)
            leans.plot(steps.time, steps.roll, color=colour, label=f'roll, {name}')
            leans.plot(steps.time, steps.pitch, '--', color=colour, label=f'pitch, {name}')
        printed = walks[0][1]
        for axes, place in ((lengths, 'upper right'), (leans, 'lower left')):
            low, high = axes.get_ylim()
            axes.fill_between(
                printed.time,
                low,
                high,
                where=printed.outside > 0.0,
                color='0.9',
                label='ZMP outside the feet, as printed',
            )
            for half in (0.0, HALF_CYCLE):
                axes.axvline(half + _CROSSING_TIME, color='0.4', linestyle=':')
            axes.set_ylim(low, high)
            axes.legend(fontsize='small', loc=place)
        lengths.set(ylabel='left leg longer than right [mm]')
        leans.set(ylabel='base [deg]', xlabel='time since the first cycle began [s]')
