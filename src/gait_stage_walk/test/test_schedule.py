# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The staged walk's schedule against the published timetable and the closed forms it implies."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.parameters.space import parameter_space
from gait_stage_walk.staged.parameters import PRESETS, StagedWalkParams
from gait_stage_walk.staged.pulse import pulse_progress as F
from gait_stage_walk.staged.pulse import to_nanoseconds
from gait_stage_walk.staged.timetable import WALK_JOINTS, CycleAngles
from gait_stage_walk.staged.walk import StagedWalk, WalkMode, next_mode

TICK = to_nanoseconds(0.02)
PUBLISHED = StagedWalkParams(**PRESETS['published'])
SWEPT = ('knee_bend_deg', 'ankle_place_deg', 'ankle_move_deg', 'hip_move_deg', 'step_size_deg')
RANGES = {gene.name: (gene.lower, gene.upper) for gene in parameter_space(StagedWalkParams).genes}
ANGLE_RANGES = {name: RANGES[name] for name in RANGES if name.endswith('_deg')}


def run(
    walk: StagedWalk, stop: Callable[[int], bool] = lambda tick: False, tick_ns: int = TICK
) -> Iterator[dict[str, float]]:
    """Yield the joint angles [deg] at the end of each tick, by name."""
    tick = 0
    while True:
        walk.update_mode(tick * tick_ns, stop(tick))
        walk.advance_angles(tick * tick_ns, (tick + 1) * tick_ns)
        tick += 1
        yield dict(zip(WALK_JOINTS, np.degrees(walk.angles).tolist(), strict=True))


def angles_after(params: StagedWalkParams, ticks: int, **kwargs) -> dict[str, float]:
    rows = run(StagedWalk(params), **kwargs)
    for _ in range(ticks - 1):
        next(rows)
    return next(rows)


def drawn(names: dict[str, tuple[float, float]]) -> st.SearchStrategy:
    return st.fixed_dictionaries({name: st.floats(*bounds) for name, bounds in names.items()})


def test_check_8_after_one_second_the_body_leans_with_parallel_legs():
    angles = angles_after(PUBLISHED, 50)
    assert angles['left_ankle_side'] == pytest.approx(6.5, abs=0.1)
    assert angles['right_ankle_side'] == pytest.approx(6.5, abs=0.1)
    assert angles['left_hip_side'] == pytest.approx(-6.5, abs=0.1)
    assert angles['right_hip_side'] == pytest.approx(6.5, abs=0.1)


def test_check_10_after_two_seconds_the_left_leg_is_lifted():
    angles = angles_after(PUBLISHED, 100)
    assert angles['left_knee'] == pytest.approx(20.0, abs=0.1)
    assert angles['left_hip_fwd'] == pytest.approx(10.0, abs=0.1)
    assert angles['left_ankle_fwd'] == pytest.approx(10.0, abs=0.1)


def mode_starts(walk: StagedWalk, ticks: int, **kwargs) -> list[tuple[WalkMode, int]]:
    starts, rows = [], run(walk, **kwargs)
    for tick in range(ticks):
        next(rows)
        if not starts or starts[-1][0] is not walk.mode:
            starts.append((walk.mode, tick))
    return starts


def test_check_11_the_first_cycle_begins_after_the_start_up_and_cycles_take_turns():
    starts = mode_starts(StagedWalk(PUBLISHED), 800)
    assert starts[2][0] is WalkMode.CYCLE_ONE and 100 <= starts[2][1] <= 102
    cycles = starts[2:]
    assert [phase for phase, _ in cycles[:3]] == [
        WalkMode.CYCLE_ONE,
        WalkMode.CYCLE_TWO,
        WalkMode.CYCLE_ONE,
    ]
    assert set(np.diff([tick for _, tick in cycles])) <= {157, 158, 159}


def test_check_12_triggers_and_features_of_half_a_cycle_keep_the_published_times():
    walk, lowered = StagedWalk(PUBLISHED), []
    starts = mode_starts(walk, 1000)[2:]
    assert set(np.diff([tick for _, tick in starts])) <= {157, 158, 159}
    rows = list(islice(run(StagedWalk(PUBLISHED)), 100 + 4 * 158))[100 + 158 :]
    for leg in ('left', 'right'):
        knee = [row[f'{leg}_knee'] for row in rows]
        # The knee of the leg left behind is bent most once a cycle.
        lowered += [
            (t, leg)
            for t in range(1, len(knee) - 1)
            if knee[t - 1] < knee[t] >= knee[t + 1] and knee[t] > 21.0
        ]
    times = [tick * 0.02 for tick, _ in sorted(lowered)]
    assert [leg for _, leg in sorted(lowered)][:4] == ['right', 'left', 'right', 'left']
    assert np.diff(times) == pytest.approx(1.575, abs=0.021)


def test_stages_run_under_their_published_numbers():
    walk = StagedWalk(PUBLISHED)
    seen = {}
    for tick, _ in enumerate(islice(run(walk), 100 + 2 * 158)):
        seen.setdefault(walk.mode, set()).update(walk.active_stages(tick * TICK))
    assert seen[WalkMode.LEAN] == {0}
    assert seen[WalkMode.RAISE] == {5}
    # The last stages of a cycle run on into the next one.
    assert seen[WalkMode.CYCLE_ONE] == {6, 7, 9, 10, 11, 12, 14, 15, 18, 19}
    assert seen[WalkMode.CYCLE_TWO] == {15, 18, *range(30, 40)}


def first_half(tau: float, params: StagedWalkParams) -> dict[str, float]:
    """Return the angles [deg] of the first half-cycle after the start-up, in closed form."""
    S, L, W = params.step_size_deg, params.leg_lift_deg, params.sway_deg
    scale = S / 20.0
    K, P, M = (
        scale * v for v in (params.knee_bend_deg, params.ankle_place_deg, params.ankle_move_deg)
    )
    sway = W * (1.0 - 2.0 * F(tau / 2.0))
    return {
        'left_knee': L * (1.0 - F(tau)),
        'left_hip_fwd': L / 2 + (S - L / 2) * F(tau) - S * F(tau / 1.25),
        'left_ankle_fwd': L / 2 + (S - P - L / 2) * F(tau) + (P - S) * F(tau / 1.25),
        'right_knee': K * F(tau / 1.25) + (L - K) * F(tau - 1.0),
        'right_hip_fwd': L / 2 * F(tau - 1.0),
        'right_ankle_fwd': 4 * M / 3 * F(tau / 1.25) + (L / 2 - 4 * M / 3) * F(tau - 1.0),
        'left_ankle_side': sway,
        'right_ankle_side': sway,
        'left_hip_side': -sway,
        'right_hip_side': sway,
        'torso_fwd': 0.0,
    }


@settings(max_examples=15, deadline=None)
@given(drawn({name: RANGES[name] for name in (*SWEPT, 'leg_lift_deg', 'sway_deg')}))
def test_check_13_joint_angles_follow_the_closed_forms(values):
    params = replace(PUBLISHED, **values)
    rows = run(StagedWalk(params))
    for _ in range(100):
        next(rows)
    for tick in range(1, 79):
        expected = first_half(tick * 0.02 / 0.9, params)
        assert next(rows) == pytest.approx(expected, abs=0.5)


def test_check_13_published_sample_values():
    rows = run(StagedWalk(PUBLISHED), tick_ns=to_nanoseconds(0.005))
    for _ in range(400 + 90):
        angles = next(rows)
    # tau = 0.5
    assert angles['left_hip_fwd'] == pytest.approx(8.87, abs=0.01)
    assert angles['left_knee'] == pytest.approx(10.00, abs=0.01)
    assert angles['left_ankle_fwd'] == pytest.approx(1.27, abs=0.01)
    assert angles['right_knee'] == pytest.approx(6.83, abs=0.01)
    assert angles['right_ankle_fwd'] == pytest.approx(6.72, abs=0.01)
    assert angles['left_ankle_side'] == pytest.approx(5.32, abs=0.01)
    for _ in range(405):
        angles = next(rows)
    # tau = 2.75: the second half mirrors the first
    assert angles['left_knee'] == pytest.approx(21.19, abs=0.01)
    assert angles['left_ankle_fwd'] == pytest.approx(20.86, abs=0.01)
    assert angles['right_hip_fwd'] == pytest.approx(0.97, abs=0.01)
    assert angles['right_ankle_fwd'] == pytest.approx(-0.94, abs=0.01)


def lone_cycle_end(params: StagedWalkParams) -> tuple[np.ndarray, np.ndarray]:
    """Return the angles [rad] before the first cycle and after it, without a second."""
    walk = StagedWalk(params)
    walk.update_mode(0, stop=False)
    for tick in range(100):
        walk.advance_angles(tick * TICK, (tick + 1) * TICK)
        walk.update_mode((tick + 1) * TICK, stop=False)
    before = walk.angles
    # The next trigger is not heeded: the cycle runs out alone.
    walk.advance_angles(100 * TICK, 400 * TICK)
    return before, walk.angles


@settings(max_examples=40, deadline=None)
@given(drawn({**ANGLE_RANGES, 'time_scale': (0.6, 1.2), 'sway_lead': (0.0, 0.3)}))
def test_check_14_a_lone_cycle_closes_whatever_the_factors(values):
    values = {**values, 'torso_lean_deg': 0.0}
    before, after = lone_cycle_end(StagedWalkParams(**values))
    np.testing.assert_allclose(np.degrees(after), np.degrees(before), atol=0.05)


def test_check_15_after_40_cycles_and_a_stop_every_joint_is_back_at_zero():
    walk = StagedWalk(PUBLISHED)
    rows = run(walk, stop=lambda tick: walk.cycles >= 40)
    for _ in range(101 + 40 * 158 + 60):
        angles = next(rows)
    assert walk.mode is WalkMode.IDLE and walk.cycles == 40
    assert angles == pytest.approx(dict.fromkeys(WALK_JOINTS, 0.0), abs=0.1)


def test_check_16_start_one_cycle_and_stop_take_6_2_seconds():
    starts = mode_starts(StagedWalk(PUBLISHED), 400, stop=lambda tick: tick > 120)
    assert [phase for phase, _ in starts] == [
        WalkMode.LEAN,
        WalkMode.RAISE,
        WalkMode.CYCLE_ONE,
        WalkMode.EXIT,
        WalkMode.IDLE,
    ]
    assert starts[-1][1] * 0.02 == pytest.approx(6.2, abs=0.1)


def test_check_17_a_stop_is_ignored_until_the_trigger_then_foot_and_body_move_together():
    stopped = list(islice(run(StagedWalk(PUBLISHED), lambda tick: tick > 150), 330))
    walked = list(islice(run(StagedWalk(PUBLISHED)), 330))
    trigger = 100 + 158
    assert stopped[:trigger] == walked[:trigger]
    assert stopped[trigger + 1] != walked[trigger + 1]
    moved = [
        {name for name in WALK_JOINTS if abs(stopped[t][name] - stopped[t - 1][name]) > 1e-9}
        for t in (trigger + 20, trigger + 45)
    ]
    exit_joints = {'left_knee', 'left_hip_fwd', 'left_ankle_fwd', 'left_ankle_side'}
    assert all(exit_joints <= joints for joints in moved)
    assert stopped[trigger + 50] == pytest.approx(dict.fromkeys(WALK_JOINTS, 0.0), abs=1e-6)


def test_a_stop_that_is_withdrawn_before_the_trigger_changes_nothing():
    withdrawn = run(StagedWalk(PUBLISHED), lambda tick: 150 < tick < 250)
    walked = run(StagedWalk(PUBLISHED))
    assert [next(withdrawn) for _ in range(500)] == [next(walked) for _ in range(500)]


@pytest.mark.parametrize('name', ['step_size_deg', 'leg_lift_deg', 'sway_deg', 'time_scale'])
def test_check_18_a_change_in_mid_cycle_waits_for_the_trigger(name):
    low, high = RANGES[name]
    walk = StagedWalk(PUBLISHED)
    rows, plain = run(walk), run(StagedWalk(PUBLISHED))
    for tick in range(100 + 158):
        if tick == 170:
            walk.params = replace(PUBLISHED, **{name: 0.3 * low + 0.7 * high})
        assert next(rows) == next(plain)
    after = [(next(rows), next(plain)) for _ in range(100)]
    assert any(changed != unchanged for changed, unchanged in after)


@settings(max_examples=25, deadline=None)
@given(
    drawn({**ANGLE_RANGES, 'time_scale': (0.6, 1.2), 'sway_lead': (0.0, 0.3)}),
    drawn({**ANGLE_RANGES, 'time_scale': (0.6, 1.2), 'sway_lead': (0.0, 0.3)}),
)
def test_a_walk_whose_factors_change_still_closes(first, second):
    walk = StagedWalk(StagedWalkParams(**first))
    rows = run(walk, stop=lambda tick: walk.cycles >= 3)
    for tick in range(1000):
        if walk.cycles == 1:
            walk.params = StagedWalkParams(**second)
        angles = next(rows)
        assert tick < 100 or min(angles['left_knee'], angles['right_knee']) > -1e-6
    assert walk.mode is WalkMode.IDLE
    assert angles == pytest.approx(dict.fromkeys(WALK_JOINTS, 0.0), abs=1e-6)


def test_check_19_halving_the_step_halves_the_binding_variables():
    whole = CycleAngles.from_params(replace(PUBLISHED, step_size_deg=20.0))
    half = CycleAngles.from_params(replace(PUBLISHED, step_size_deg=10.0))
    for name in ('knee_bend', 'ankle_place', 'ankle_move', 'hip_move'):
        assert getattr(half, name) == pytest.approx(getattr(whole, name) / 2.0, rel=1e-15)


def test_check_20_hip_move_has_no_effect():
    low, high = (run(StagedWalk(replace(PUBLISHED, hip_move_deg=h))) for h in (10.0, 25.0))
    for _ in range(600):
        assert next(low) == pytest.approx(next(high), abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(drawn({**ANGLE_RANGES, 'sway_lead': (0.0, 0.3)}))
def test_half_cycles_mirror_each_other(values):
    # At this time scale a half-cycle is a whole number of ticks.
    params = StagedWalkParams(**values, time_scale=0.8)
    rows = list(islice(run(StagedWalk(params)), 100 + 3 * 140))
    steady = rows[100 + 140 :]
    for tick in range(140):
        here, there = steady[tick], steady[tick + 70]
        mirrored = {
            name: (-1.0 if name.endswith('ankle_side') else 1.0)
            * there[name.replace('left', '?').replace('right', 'left').replace('?', 'right')]
            for name in WALK_JOINTS
        }
        assert here == pytest.approx(mirrored, abs=1e-6)


def test_check_21_foot_pitch_relative_to_the_pelvis_stays_small_with_the_tuned_values():
    assert largest_foot_pitch(PUBLISHED) < 0.4
    assert largest_foot_pitch(replace(PUBLISHED, ankle_place_deg=20.0)) == pytest.approx(
        4.8, abs=0.3
    )


def largest_foot_pitch(params: StagedWalkParams) -> float:
    rows = list(islice(run(StagedWalk(params)), 600))
    return max(
        abs(row[f'{leg}_hip_fwd'] - row[f'{leg}_knee'] + row[f'{leg}_ankle_fwd'])
        for row in rows
        for leg in ('left', 'right')
    )


def test_the_torso_leans_once_and_comes_back():
    walk = StagedWalk(replace(PUBLISHED, torso_lean_deg=5.0))
    rows = run(walk, stop=lambda tick: walk.cycles >= 4)
    torso = [next(rows)['torso_fwd'] for _ in range(1000)]
    assert min(torso) == pytest.approx(-5.0)
    assert torso[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    'mode, stop, following',
    [
        (WalkMode.IDLE, False, WalkMode.LEAN),
        (WalkMode.IDLE, True, WalkMode.IDLE),
        (WalkMode.LEAN, False, WalkMode.RAISE),
        (WalkMode.LEAN, True, WalkMode.RAISE),
        (WalkMode.RAISE, False, WalkMode.CYCLE_ONE),
        (WalkMode.RAISE, True, WalkMode.CYCLE_ONE),
        (WalkMode.CYCLE_ONE, False, WalkMode.CYCLE_TWO),
        (WalkMode.CYCLE_ONE, True, WalkMode.EXIT),
        (WalkMode.CYCLE_TWO, False, WalkMode.CYCLE_ONE),
        (WalkMode.CYCLE_TWO, True, WalkMode.EXIT),
        (WalkMode.EXIT, False, WalkMode.IDLE),
        (WalkMode.EXIT, True, WalkMode.IDLE),
    ],
)
def test_every_mode_and_request(mode, stop, following):
    assert next_mode(mode, stop) is following
