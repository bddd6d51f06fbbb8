# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study pike2003: distance, ZMP spectrum and turn of walks with all joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.measures.metrics import heading_angles
from gait_core.trial.rollout import Rollout
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import TrialResult, TrialSpec
from gait_studies.pike2003.gaits import PUBLISHED_VALUES, acceptance_trial
from gait_studies.pike2003.pictures import draw_zmp_tracking
from gait_studies.pike2003.zmp_tracking import filtered_zmp
from gait_tools.study.definition import StudyRow, row_at_least, row_at_most, row_info, row_near
from gait_tools.study.session import StudySession

CYCLE_TIME = 3.15
"""Cycle time of the published timetable [s]."""

FARTHEST_VALUES = {'step_size_deg': 15.0, 'leg_lift_deg': 20.0}
"""Step and lift [deg] with which the printed timetable walks farthest; neither is published."""

_SETTLING_TIME = 2.0 + CYCLE_TIME


def levelled_walk(duration: float, **values: float) -> TrialSpec:
    """Return the trial of the levelled walk with the published cycle time."""
    return acceptance_trial({'time_scale': CYCLE_TIME / 3.5, **values}, 'levelled', duration, {})


def measure_distance(session: StudySession) -> Sequence[StudyRow]:
    """Measure the distance of the printed and of the levelled timetable."""
    seconds = 30.0 if session.quick else 60.0
    fine = acceptance_trial(FARTHEST_VALUES, 'published', seconds, {})
    other = replace(fine, scene=make_scene('guroo', {'engine': 'mujoco', 'physics_step': 0.002}))
    printed, transferred, walked = session.run([fine, other, levelled_walk(seconds)])
    return [
        _printed_row('bullet', seconds, printed, session.quick),
        _printed_row('mujoco', seconds, transferred, session.quick),
        row_info(
            'distance_levelled',
            f'distance of the levelled walk in {seconds:g} s',
            walked.metrics['displacement_x_m'],
            'm',
            note=_fall_text(walked),
        ),
        row_near(
            'levelled_falls',
            'falls of the levelled walk',
            float(walked.fell_at is not None),
            0.0,
            0.0,
        ),
    ]


def _printed_row(engine: str, seconds: float, result: TrialResult, quick: bool) -> StudyRow:
    """Return the row of the distance of the printed timetable; the bound holds for a minute."""
    row = row_at_least(
        f'distance_printed_{engine}',
        f'distance of the printed timetable, open loop, in {seconds:g} s of {engine}',
        result.metrics['displacement_x_m'],
        2.0,
        'm',
        published=2.0,
        note=f'step 15, lift 20; {_fall_text(result)}; published: 2 to 3 m, then a fall',
    )
    return row.without_bound() if quick else row


def _fall_text(result: TrialResult) -> str:
    return 'no fall' if result.fell_at is None else f'fell after {result.fell_at:.1f} s'


def measure_spectrum(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 29, the ZMP in steady walking, and draw it over the support polygon."""
    walk = session.record(levelled_walk(20.0 if session.quick else 40.0))
    printed = session.record(acceptance_trial(PUBLISHED_VALUES, 'published', 12.0, {}))
    draw_zmp_tracking(
        session.picture('zmp'),
        [('printed timetable, tuned values', printed), ('levelled', walk)],
    )
    zmp = filtered_zmp(walk)[walk.time > _SETTLING_TIME]
    period = round(CYCLE_TIME / walk.dt)
    cycles = [
        float(zmp[start : start + period, 0].mean())
        for start in range(0, len(zmp) - period + 1, period)
    ]
    return [
        row_near(
            'check_29_peak',
            'frequency of the peak of the lateral ZMP',
            peak_frequency(zmp[:, 1], walk.dt),
            1.0 / CYCLE_TIME,
            0.05 / CYCLE_TIME,
            'Hz',
            note='levelled',
        ),
        row_at_least(
            'check_29_forward',
            'least advance of the ZMP from cycle to cycle',
            float(np.diff(cycles).min()),
            0.0,
            'm',
            note='mean of a cycle, levelled',
        ),
    ]


def peak_frequency(values: FloatArray, dt: float) -> float:
    """
    Return the frequency of the largest peak in the spectrum of a series [Hz].

    The series is detrended, windowed (Hann) and padded to eight times its length, for a resolution
    below one bin.
    """
    time = np.arange(len(values))
    free = values - np.polyval(np.polyfit(time, values, 1), time)
    length = 8 * len(values)
    power = np.abs(np.fft.rfft(free * np.hanning(len(values)), length))
    return float(np.fft.rfftfreq(length, dt)[int(np.argmax(power))])


def measure_turn(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 30: a turn of 20 degrees, compared with the levelled walk."""
    seconds = 45.0
    straight = session.record(levelled_walk(seconds))
    turned = session.record(levelled_walk(seconds, turn_deg=20.0))
    twists = [turned.robot.target_names.index(f'{leg}_leg_twist') for leg in ('left', 'right')]
    left = np.degrees(np.abs(turned.target_positions[-1, twists]).max())
    return [
        row_near(
            'check_30_heading',
            'change of heading by the set point turn of 20 degrees',
            _heading_change(turned),
            20.0,
            5.0,
            'deg',
            note=f'in {seconds:g} s; the straight walk turned {_heading_change(straight):.1f}',
        ),
        row_near(
            'check_30_distance',
            'path of the turning walk over that of the straight walk',
            _path_length(turned) / _path_length(straight),
            1.0,
            0.15,
        ),
        row_at_most(
            'check_30_twist', 'twist of a leg that is left at the end', float(left), 0.2, 'deg'
        ),
    ]


def _heading_change(walk: Rollout) -> float:
    """Return the change of heading from the first to the last cycle [deg]."""
    period = round(CYCLE_TIME / walk.dt)
    yaw = heading_angles(walk.body_poses[:, 0])
    return float(np.degrees(yaw[-period:].mean() - yaw[0]))


def _path_length(walk: Rollout) -> float:
    """Return the path length sampled once per cycle [m], so without the sway."""
    places = walk.body_poses[:: round(CYCLE_TIME / walk.dt), 0, :2]
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
