# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Leg levelling against its closed form, and beside the walk."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.parameters.space import parameter_space
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.behaviours.levelling import LegLevelling, levelling_bend, vertical_leg_length
from gait_stage_walk.staged.parameters import PRESETS, StagedWalkParams
from gait_stage_walk.staged.pulse import to_nanoseconds
from gait_stage_walk.staged.timetable import WALK_JOINTS, opposite_leg
from gait_stage_walk.staged.walk import StagedWalk, WalkMode

TICK = to_nanoseconds(0.02)
HIP = st.floats(-0.3, 0.9)
KNEE = st.floats(0.0, 1.2)


@given(HIP, KNEE, HIP, KNEE)
def test_a_longer_leg_is_bent_to_the_length_of_the_other(hip, knee, rear_hip, rear_knee):
    length = vertical_leg_length(rear_hip, rear_knee)
    bend = levelling_bend(hip, knee, length)
    if vertical_leg_length(hip, knee) <= length:
        assert bend == pytest.approx(0.0, abs=1e-7)
    else:
        assume(length > 0.0)
        bent = vertical_leg_length(hip + bend / 2.0, knee + bend)
        assert bent == pytest.approx(length, abs=1e-12)


def levelled(params: StagedWalkParams, ticks: int, cycles: int = 4):
    """Yield the walk, the time [ns], all joint angles [rad] and the bends after each tick."""
    walk = StagedWalk(params)
    levelling = LegLevelling(walk)
    total = np.zeros(len(WALK_JOINTS))
    for tick in range(ticks):
        begin, end = tick * TICK, (tick + 1) * TICK
        walk.update_mode(begin, stop=walk.cycles >= cycles)
        total = total + walk.advance_angles(begin, end) + levelling.step(Period(begin, end))
        yield walk, end, dict(zip(WALK_JOINTS, total.tolist(), strict=True)), levelling.bends


def length(angles: dict[str, float], leg: str) -> float:
    return vertical_leg_length(angles[f'{leg}_hip_fwd'], angles[f'{leg}_knee'])


@pytest.mark.parametrize('clearance', [0.0, 0.003, 0.02])
def test_a_landing_leg_stays_shorter_than_the_other_by_the_clearance(clearance):
    touching = 0
    for walk, now, angles, _ in levelled(StagedWalkParams(landing_clearance=clearance), 700):
        for half in walk.half_cycles:
            if 0.0 < half.elapsed(now) <= half.params.level_hold:
                gap = length(angles, opposite_leg(half.front)) - length(angles, half.front)
                assert gap >= clearance - 1e-9
                touching += gap < clearance + 1e-9
    assert touching > 100


def test_without_levelling_the_new_front_leg_outgrows_the_other():
    """By the published timetable about 20 mm, 0.073 of a thigh (Pike 2003, recovered)."""
    published = StagedWalkParams(**PRESETS['published'])
    longest = 0.0
    for walk, now, angles, bends in levelled(published, 400):
        assert bends == {'left': 0.0, 'right': 0.0}
        for half in walk.half_cycles:
            if 0.0 < half.elapsed(now) <= 1.25:
                longest = max(
                    longest, length(angles, half.front) - length(angles, opposite_leg(half.front))
                )
    assert longest == pytest.approx(0.073, abs=0.002)


def test_a_levelled_leg_is_straight_again_when_released():
    params = StagedWalkParams()
    bent = 0.0
    for walk, now, _, bends in levelled(params, 700):
        bent = max(bent, *bends.values())
        for half in walk.half_cycles:
            if params.level_hold + params.level_release <= half.elapsed(now) < 3.4:
                assert bends[half.front] == 0.0
    assert np.degrees(bent) == pytest.approx(28.0, abs=4.0)


@settings(max_examples=25, deadline=None)
@given(
    st.fixed_dictionaries(
        {
            gene.name: st.floats(gene.lower, gene.upper)
            for gene in parameter_space(StagedWalkParams).genes
        }
    )
)
def test_levelled_walks_move_steadily_and_close(values):
    before = dict.fromkeys(WALK_JOINTS, 0.0)
    for walk, _, angles, _ in levelled(StagedWalkParams(**values), 1000, cycles=3):
        # A jump: half a bend at once. The fastest straightening takes 12 ticks.
        assert max(abs(angles[name] - before[name]) for name in WALK_JOINTS) < 0.3
        before, mode = angles, walk.mode
    assert mode is WalkMode.IDLE
    assert max(map(abs, angles.values())) < 1e-9


def test_levelling_leaves_the_pitch_of_the_foot_alone():
    plain = levelled(StagedWalkParams(levelling=0.0), 500)
    for (_, _, one, _), (_, _, other, _) in zip(
        plain, levelled(StagedWalkParams(), 500), strict=True
    ):
        for leg in ('left', 'right'):
            pitches = [
                a[f'{leg}_hip_fwd'] - a[f'{leg}_knee'] + a[f'{leg}_ankle_fwd']
                for a in (one, other)
            ]
            assert pitches[0] == pytest.approx(pitches[1], abs=1e-12)


def test_mirrored_half_cycles():
    """The residual of field tests: a walk that leans or turns by itself shows here."""
    params = StagedWalkParams(time_scale=0.8)
    rows = [angles for _, _, angles, _ in levelled(params, 100 + 3 * 140, cycles=9)]
    for here, there in zip(rows[240:310], rows[310:380], strict=True):
        for name in WALK_JOINTS:
            other = name.replace('left', '?').replace('right', 'left').replace('?', 'right')
            sign = -1.0 if name.endswith('ankle_side') else 1.0
            assert here[name] == pytest.approx(sign * there[other], abs=1e-6)
