# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The phase-oscillator walk as a controller: what it commands, without any physics."""

from dataclasses import replace
import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.kinematics.leg_paths import follow_chains
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.testing.doubles import legged_box
from gait_core.trial.spec import Command
from gait_cpg.phase_cpg.controller import PhaseCpgController
from gait_cpg.phase_cpg.kernel import advance_feet, limit_joint_rates
from gait_cpg.phase_cpg.parameters import PhaseCpgParams

DT = 0.02
BLIND = Observation(tick=0, time=0.0)
NOWHERE = (0.0, 0.0, 0.0)


def crouching(legs):
    """Return a box whose legs are bent enough to reach around."""
    robot = legged_box(legs, 3, roll=True)
    bend = {name: (0.0, -0.5, 1.0)[i % 3] for i, name in enumerate(robot.joint_names)}
    return replace(robot, nominal_stance=bend)


ROBOT = crouching(4)
velocities = st.tuples(st.floats(-0.6, 0.6), st.floats(-0.3, 0.3), st.floats(-1.0, 1.0))


def controller(robot=ROBOT, preset='trot', **changes):
    chosen = {**PhaseCpgController.presets[preset], **changes}
    return PhaseCpgController(robot, make_parameters(PhaseCpgParams, chosen))


def walk(walker, velocity, seconds, dt=DT):
    """Return the (T, K, n) positions and velocities commanded over some time."""
    command = Command(velocity=velocity)
    targets = [walker.step(dt, command, BLIND) for _ in range(round(seconds / dt))]
    return np.array([t.position for t in targets]), np.array([t.velocity for t in targets])


def feet_of(positions, robot=ROBOT):
    """Return the (m, legs, 3) soles in the base frame of (m, n) commanded positions."""
    legs = [LegKinematics(robot, leg.name) for leg in robot.legs]
    columns = np.split(positions, len(legs), axis=1)
    return np.stack(
        [[leg.forward(q)[0] for q in part] for leg, part in zip(legs, columns, strict=True)],
        axis=1,
    )


def mirrored(positions, robot=ROBOT):
    """Return commanded positions (..., n) of the mirrored robot."""
    names = [name for leg in robot.legs for name in leg.joints]
    column = {name: i for i, name in enumerate(names)}
    result = np.empty_like(positions)
    for name in names:
        other, sign = robot.mirror_pairs[name]
        result[..., column[other]] = sign * positions[..., column[name]]
    return result


def test_without_a_command_it_holds_the_nominal_stance():
    walker = controller()
    positions, velocities = walk(walker, NOWHERE, 1.0)
    stance = [ROBOT.nominal_stance[name] for leg in ROBOT.legs for name in leg.joints]
    np.testing.assert_allclose(positions, np.broadcast_to(stance, positions.shape), atol=1e-9)
    np.testing.assert_allclose(velocities, 0.0, atol=1e-7)
    assert all(walker.state()[f'stance.{leg.name}'] == 1.0 for leg in ROBOT.legs)


def test_it_starts_from_the_stance_without_a_jump():
    positions, _ = walk(controller(), (0.3, 0.0, 0.0), 0.1)
    stance = np.array([ROBOT.nominal_stance[name] for leg in ROBOT.legs for name in leg.joints])
    assert np.abs(positions[0, 0] - stance).max() < 1e-3


def test_the_velocity_targets_are_the_rates_of_the_position_targets():
    positions, velocities = walk(controller(), (0.3, 0.1, 0.2), 1.0)
    rows = positions.reshape(-1, positions.shape[-1])
    sample = DT / positions.shape[1]
    np.testing.assert_allclose(
        np.diff(rows, axis=0) / sample, velocities.reshape(rows.shape)[1:], atol=1e-9
    )


NOMINAL_FEET = feet_of(np.array([[ROBOT.nominal_stance[n] for n in ROBOT.joint_names]]))[0]


@pytest.mark.parametrize(
    ('preset', 'velocity'),
    [('trot', (0.3, 0.0, 0.0)), ('trot', (0.0, -0.1, 0.0)), ('walk', (0.1, 0.05, 0.0))],
)
def test_stance_feet_oppose_the_command(preset, velocity):
    walker = controller(preset=preset, sway=0.0)
    walk(walker, velocity, 4.0)
    feet, down = [], []
    for _ in range(100):
        feet.append(feet_of(walk(walker, velocity, DT)[0][0, -1:])[0])
        state = walker.state()
        down.append([state[f'stance.{leg.name}'] == 1.0 for leg in ROBOT.legs])
    feet, down = np.array(feet), np.array(down)
    both = down[1:] & down[:-1]
    speeds = (np.diff(feet, axis=0) / DT)[both]
    # The legs' IK is exact within 1e-6 m, twice in 20 ms.
    wanted = np.tile([-velocity[0], -velocity[1], 0.0], (len(speeds), 1))
    np.testing.assert_allclose(speeds, wanted, atol=2e-4)
    share = PhaseCpgController.presets[preset].get('duty_factor', PhaseCpgParams().duty_factor)
    assert down.mean() == pytest.approx(share, abs=0.03)


def test_swinging_feet_clear_the_ground_by_the_stride_height():
    walker = controller(stride_height=0.04)
    walk(walker, (0.3, 0.0, 0.0), 4.0)
    positions, _ = walk(walker, (0.3, 0.0, 0.0), 2.0)
    height = feet_of(positions.reshape(-1, 12))[:, :, 2]
    lift = height - NOMINAL_FEET[:, 2]
    assert lift.min() > -1e-6
    # Sampled every 4 ms of a swing of 180 ms the peak is met within 1 - 16 u^2 (1 - u)^2 < 1 %.
    np.testing.assert_allclose(lift.max(axis=0), 0.04, rtol=0.01)


@settings(deadline=None, max_examples=8)
@given(velocity=velocities, preset=st.sampled_from(['trot', 'walk']))
def test_a_mirrored_command_gives_mirrored_targets_half_a_cycle_later(velocity, preset):
    # At 2.5 Hz half a cycle is ten control periods.
    x, y, yaw = velocity
    one, other = (controller(preset=preset, frequency=2.5) for _ in range(2))
    walk(one, (x, y, yaw), 4.0), walk(other, (x, -y, -yaw), 4.0)
    walk(one, (x, y, yaw), 0.2)
    left, right = walk(one, (x, y, yaw), 0.4)[0], walk(other, (x, -y, -yaw), 0.4)[0]
    assert np.abs(mirrored(left) - right).max() < 1e-6


@settings(deadline=None, max_examples=8)
@given(order=st.permutations(range(4)), velocity=velocities)
def test_relabelled_legs_get_the_same_targets_by_name(order, velocity):
    relabelled = replace(ROBOT, legs=tuple(ROBOT.legs[i] for i in order))
    one, other = controller(), controller(relabelled)
    for _ in range(40):
        a = one.step(DT, Command(velocity=velocity), BLIND)
        b = other.step(DT, Command(velocity=velocity), BLIND)
    by_name = dict(zip(b.names, b.position[-1], strict=True))
    np.testing.assert_allclose([by_name[name] for name in a.names], a.position[-1], atol=1e-9)


def test_equal_histories_give_equal_targets_whatever_the_seed():
    walker = controller()
    walker.reset(1)
    first, _ = walk(walker, (0.3, 0.1, 0.4), 1.0)
    walk(walker, (-0.2, 0.0, 0.0), 0.5)
    walker.reset(2)
    np.testing.assert_array_equal(walk(walker, (0.3, 0.1, 0.4), 1.0)[0], first)


def test_nothing_is_left_to_compile_after_construction():
    walker = controller(max_forward=0.0)
    kernels = (follow_chains, advance_feet, limit_joint_rates)
    before = [list(kernel.signatures) for kernel in kernels]
    assert all(before)
    walk(walker, NOWHERE, 0.1), walk(walker, (0.0, 0.1, 0.3), 0.5)
    walker.reset(0)
    walk(walker, (0.0, 0.1, 0.3), 0.1)
    assert [kernel.signatures for kernel in kernels] == before


def test_told_to_stop_it_stands_still():
    walker = controller()
    walk(walker, (0.3, 0.1, 0.3), 3.0)
    walk(walker, NOWHERE, 4.0)
    positions, velocities = walk(walker, NOWHERE, 1.0)
    stance = [ROBOT.nominal_stance[name] for leg in ROBOT.legs for name in leg.joints]
    np.testing.assert_allclose(positions, np.broadcast_to(stance, positions.shape), atol=1e-6)
    np.testing.assert_array_equal(velocities, 0.0)


def test_stopping_takes_no_step_faster_than_walking():
    walker = controller()
    _, walking = walk(walker, (0.3, 0.0, 0.0), 3.0)
    _, stopping = walk(walker, NOWHERE, 4.0)
    assert np.abs(stopping).max() < 1.2 * np.abs(walking).max()


def test_speed_and_acceleration_stay_within_their_bounds():
    walker = controller(max_forward=0.2, max_yaw_rate=0.3, acceleration=0.25, sway=0.0)
    # 0.2 m/s are reached after 0.8 s, the feet move by less before.
    walk(walker, (5.0, 0.0, 9.0), 4.0)
    positions, _ = walk(walker, (5.0, 0.0, 9.0), 1.0)
    bounded, _ = walk(fast := controller(sway=0.0, acceleration=10.0), (0.2, 0.0, 0.3), 4.0)
    bounded, _ = walk(fast, (0.2, 0.0, 0.3), 1.0)
    np.testing.assert_allclose(positions, bounded, atol=1e-6)


@pytest.mark.parametrize('command', [(0.4, 0.0, 0.0), (0.0, -0.2, 0.0), (0.0, 0.0, 0.8)])
def test_a_reversed_command_is_followed_at_the_stated_acceleration(command):
    # From full speed to its reverse in 1.6 s: only half-way the feet are where they stand.
    command = np.array(command)
    walker = controller(
        acceleration=1.25 * np.hypot(*command[:2]) or 1.0,
        yaw_acceleration=1.25 * command[2] or 1.0,
        stride_height=0.0,
    )
    walk(walker, tuple(command), 4.0)
    away = []
    for _ in range(80):
        positions, _ = walk(walker, tuple(-command), DT)
        away.append(np.abs(feet_of(positions[0, -1:])[0] - NOMINAL_FEET).max())
    assert away[39] < 1e-6
    assert min(away[:30] + away[50:]) > 1e-3


@settings(deadline=None, max_examples=20)
@given(
    velocity=st.tuples(*[st.floats(-5.0, 5.0)] * 3),
    height=st.floats(-0.2, 0.2),
    width=st.floats(-0.1, 0.2),
    clearance=st.floats(0.0, 0.3),
)
def test_commands_out_of_reach_stay_within_the_joints_limits(velocity, height, width, clearance):
    walker = controller(
        body_height=height,
        stance_width=width,
        stride_height=clearance,
        max_forward=3.0,
        max_sideways=2.0,
        max_yaw_rate=5.0,
    )
    positions, velocities = walk(walker, velocity, 1.5)
    assert np.all(positions >= ROBOT.lower - 1e-12)
    assert np.all(positions <= ROBOT.upper + 1e-12)
    assert np.all(np.abs(velocities) <= ROBOT.velocity_limit + 1e-9)


def test_new_parameters_settle_without_a_jump():
    walker = controller()
    _, before = walk(walker, (0.2, 0.0, 0.0), 3.0)
    changed = {
        'gait': 'walk',
        'frequency': 1.0,
        'duty_factor': 0.8,
        'stride_height': 0.02,
        'body_height': -0.02,
        'stance_width': 0.02,
    }
    walker.set_params(make_parameters(PhaseCpgParams, changed))
    assert walker.params.body_height == -0.02
    _, after = walk(walker, (0.2, 0.0, 0.0), 3.0)
    assert np.abs(after).max() < 1.5 * np.abs(before).max()
    feet = feet_of(walk(walker, (0.2, 0.0, 0.0), 1.0)[0][:, -1])
    np.testing.assert_allclose(feet[:, :, 2].min(axis=0), NOMINAL_FEET[:, 2] + 0.02, atol=1e-5)
    np.testing.assert_allclose(
        feet[:, :, 1].mean(axis=0),
        NOMINAL_FEET[:, 1] + 0.02 * np.sign(NOMINAL_FEET[:, 1]),
        atol=1e-3,
    )
    lags = [walker.state()[f'phase.{leg.name}'] - walker.state()['phase'] for leg in ROBOT.legs]
    # Legs 0 to 3 are front left, front right, rear left, rear right: the lateral sequence.
    np.testing.assert_allclose(
        np.mod(lags, 2.0 * math.pi) / (2.0 * math.pi), [0.0, 0.5, 0.25, 0.75], atol=1e-3
    )


def test_standing_feet_settle_into_a_new_posture_at_the_stated_rate():
    walker = controller(convergence_rate=5.0)
    walk(walker, NOWHERE, 0.2)
    walker.set_params(make_parameters(PhaseCpgParams, {
        'convergence_rate': 5.0, 'body_height': -0.02, 'body_shift': 0.01,
        'stance_width': 0.02}))  # fmt: skip
    positions, _ = walk(walker, NOWHERE, 0.4)
    # Forward by 1 cm is feet back by as much; to the sides as far as each stands from the middle.
    offset = np.array([[-0.01, 0.02 * side, 0.02] for side in np.sign(NOMINAL_FEET[:, 1])])
    share = 1.0 - np.exp(-5.0 * DT * np.arange(1, 21))
    wanted = NOMINAL_FEET + share[:, None, None] * offset
    np.testing.assert_allclose(feet_of(positions[:, -1]), wanted, atol=1e-6)


def test_sway_leans_away_from_the_lifted_legs_of_a_walk():
    walker = controller(preset='walk', frequency=1.0, sway=0.05)
    walk(walker, (0.1, 0.0, 0.0), 5.0)
    for _ in range(50):
        positions, _ = walk(walker, (0.1, 0.0, 0.0), DT)
        state = walker.state()
        lifted = [leg for leg in range(4) if state[f'stance.{ROBOT.legs[leg].name}'] == 0.0]
        feet = feet_of(positions[0, -1:])[0]
        for leg in lifted:
            # A body that leans to the right sees all its feet further left.
            assert feet[leg, 1] * feet[:, 1].mean() > 0.0


def test_it_walks_on_six_legs_with_the_tripod():
    robot = crouching(6)
    walker = controller(robot)
    positions, _ = walk(walker, (0.2, 0.0, 0.0), 3.0)
    assert positions.shape == (150, 5, 18)
    up = [leg for leg in robot.legs if walker.state()[f'stance.{leg.name}'] == 0.0]
    assert len(up) in (0, 3)


def test_too_few_legs_are_refused():
    with pytest.raises(ConfigurationError, match='needs 4 legs.*has 2'):
        controller(legged_box(2, 3))


def test_a_leg_without_joints_is_refused():
    robot = legged_box(4, 3)
    rigid = replace(robot.legs[0], joints=())
    with pytest.raises(ConfigurationError, match=f"leg '{rigid.name}' .* has no joints"):
        controller(replace(robot, legs=(rigid, *robot.legs[1:])))


def test_an_unknown_gait_names_the_nearest():
    with pytest.raises(ConfigurationError, match="did you mean 'trot'"):
        controller(gait='trut')
