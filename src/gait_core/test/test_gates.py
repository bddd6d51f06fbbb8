# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every gate against closed forms, on records made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from gait_core.errors import ConfigurationError
from gait_core.measures.energy import elastic_energy
from gait_core.motion.stance_controller import HoldController
from gait_core.motion.targets import AppliedTape
from gait_core.robot.model import RobotModel
from gait_core.testing.doubles import (
    KinematicEngine,
    WaveController,
    legged_box,
    make_rollout,
    register_temporarily,
    rollout_with_arrays,
    spec_for_test,
)
from gait_core.testing.free_bodies import free_box, one_joint_robot, tied_boxes
from gait_core.trial.gates import (
    GATES,
    JITTER_FREQUENCY,
    command_jitter,
    default_gate_limits,
    exceeded_gate,
    gate_limits,
    max_airborne_time,
    max_base_depth,
    max_base_height,
    max_joint_rate,
    max_penetration,
    max_root_speed,
    unexplained_energy,
)
from gait_core.trial.loop import run_trial
from gait_core.trial.rollout import Rollout
from gait_core.trial.scene import Push, Scene
from gait_core.trial.spec import TrialSpec

T, DT, G = 100, 0.02, 9.81
TIME = np.arange(T + 1) * DT


def record(robot: RobotModel, **changes) -> Rollout:
    """Return the record of a robot that hangs still 1 m above the ground."""
    poses = np.zeros((T + 1, len(robot.roots), 7))
    poses[..., 2], poses[..., 6] = 1.0, 1.0
    scene = Scene(robot='any', pushes=changes.pop('pushes', ()))
    spec = TrialSpec(scene=scene, controller='hold', duration=T * DT)
    return make_rollout(robot, spec, T, **{'body_poses': poses, **changes})


def at_heights(robot: RobotModel, heights, **changes) -> Rollout:
    poses = record(robot).body_poses.copy()
    poses[:, :, 2] = np.asarray(heights)[:, None]
    return record(robot, body_poses=poses, **changes)


def standing_at(ticks, robot=None) -> Rollout:
    robot = robot or free_box()
    forces = np.zeros((len(ticks), 3))
    forces[:, 2] = robot.mass * G
    return record(
        robot,
        contact_tick=np.array(ticks, dtype=np.int64),
        contact_sole=np.zeros(len(ticks), dtype=np.int64),
        contact_points=np.zeros((len(ticks), 3)),
        contact_forces=forces,
        contact_depths=np.full(len(ticks), 1e-3),
    )


# Speed and place


def test_speed_is_that_of_the_twist_and_of_the_path():
    twists = np.zeros((T + 1, 1, 6))
    twists[40, 0, :3] = 3.0, 0.0, 4.0
    assert max_root_speed(record(free_box(), body_twists=twists)) == 5.0
    poses = record(free_box()).body_poses.copy()
    poses[60:, 0, 0] = 0.5
    # Half a metre in a control period, at a twist of zero: it was put there.
    assert max_root_speed(record(free_box(), body_poses=poses)) == pytest.approx(0.5 / DT)


def test_the_fastest_of_several_bodies_counts():
    robot = tied_boxes()
    twists = np.zeros((T + 1, len(robot.roots), 6))
    twists[10, -1, 1] = -7.0
    assert max_root_speed(record(robot, body_twists=twists)) == 7.0


def test_heights_are_over_the_ground():
    heights = np.linspace(1.0, 3.0, T + 1)
    assert max_base_height(at_heights(free_box(), heights)) == 3.0
    assert max_base_depth(at_heights(free_box(), heights)) == 0.0
    assert max_base_depth(at_heights(free_box(), heights - 1.25)) == 0.25


# Contacts


def test_the_deepest_contact_counts_also_at_the_start():
    rollout = standing_at([0, 1, 2])
    assert max_penetration(rollout) == 1e-3
    depths = np.array([0.04, 0.0, -0.1])
    assert max_penetration(rollout_with_arrays(rollout, contact_depths=depths)) == 0.04
    assert max_penetration(record(free_box())) == 0.0


@pytest.mark.parametrize(
    ('standing', 'ticks_in_the_air'),
    [
        (range(T + 1), 0),
        ((), T + 1),
        (range(10, T + 1), 10),
        (range(30), T - 29),
        ((*range(20), *range(50, T + 1)), 30),
    ],
)
def test_the_longest_flight_is_told(standing, ticks_in_the_air):
    assert max_airborne_time(standing_at(list(standing))) == pytest.approx(ticks_in_the_air * DT)


def test_a_touch_without_load_is_no_stance():
    rollout = standing_at(range(T + 1))
    assert (
        max_airborne_time(
            rollout_with_arrays(rollout, contact_forces=rollout.contacts.forces * 0.01)
        )
        > T * DT
    )


# Energy


def test_a_ballistic_flight_gains_nothing():
    heights = 1.0 + 6.0 * TIME - 0.5 * G * TIME**2 + 10.0
    assert unexplained_energy(at_heights(free_box(), heights)) == pytest.approx(0.0, abs=1e-9)


def test_what_rises_by_itself_gains_its_potential_energy():
    heights = 1.0 + np.clip(TIME - 0.5, 0.0, 1.0) * 0.7
    robot = free_box(mass=3.0)
    kinetic = 0.5 * 3.0 * 0.7**2
    # It starts at once: half a control period of the climb lies before its first speed.
    risen = 3.0 * G * (0.7 - 0.5 * DT * 0.7)
    assert unexplained_energy(at_heights(robot, heights)) == pytest.approx(
        kinetic + risen, abs=3.0 * G * 0.7 * DT
    )


def test_what_was_lost_before_does_not_pay_for_a_launch():
    fall = np.where(TIME < 1.0, 20.0 - 10.0 * TIME, 10.0)
    launched = at_heights(free_box(mass=1.0), fall + np.where(TIME > 1.5, 5.0, 0.0))
    assert unexplained_energy(launched) > 5.0 * G


def test_the_work_of_a_push_is_no_gain():
    robot = free_box(mass=2.0)
    heights = 1.0 + 0.5 * (40.0 / 2.0 - G) * TIME**2
    pushed = Push(start=0.0, duration=T * DT, force=(0.0, 0.0, 40.0))
    assert unexplained_energy(at_heights(robot, heights, pushes=(pushed,))) < 1e-6 * 2.0 * G
    assert unexplained_energy(at_heights(robot, heights)) > 40.0 * 0.9 * (heights[-1] - heights[0])


def test_the_work_of_a_joint_is_no_gain():
    robot = one_joint_robot()
    speeds = np.full((T + 1, 1), 0.8)
    moved = {'joint_positions': (0.8 * TIME)[:, None], 'joint_velocities': speeds}
    alone = record(robot, **moved)
    gained = unexplained_energy(alone)
    assert gained > 0.1
    driven = record(robot, **moved, joint_efforts=np.full((T + 1, 1), 1.01 * gained / 0.8))
    # The torque works at 0.8 rad/s for two seconds: more than the gain in every span of it.
    assert unexplained_energy(driven) < gained


def tied(lengths, tensions, rests=None, feeds=None, **changes):
    """Return the record of two boxes 1 m up that move apart along x as their tie says."""
    robot = tied_boxes(constants={'stiffness': 200.0})
    joints = np.zeros((T + 1, 3))
    joints[:, 0] = lengths - lengths[0]
    targets, forces = np.zeros((T, 4)), np.zeros((T, 4))
    targets[:, 3] = 0.3 if rests is None else rests
    forces[:, 3] = 0.0 if feeds is None else feeds
    return record(
        robot,
        joint_positions=joints,
        element_lengths=lengths[:, None],
        element_forces=tensions[:, None],
        target_positions=targets,
        target_efforts=forces,
        **changes,
    )


def test_a_spring_that_swings_gains_nothing():
    # The left box is held: 3 kg on a spring of 200 N/m.
    swing = 0.3 + 0.1 * np.cos(np.sqrt(200.0 / 3.0) * TIME)
    found = unexplained_energy(tied(swing, 200.0 * (swing - 0.3)))
    assert found < 0.1 * 0.5 * 200.0 * 0.1**2


def test_a_swing_that_grows_by_itself_gains_what_it_grew_by():
    size = np.linspace(0.02, 0.2, T + 1)
    swing = 0.3 + size * np.cos(np.sqrt(200.0 / 3.0) * TIME)
    gained = 0.5 * 200.0 * (0.2**2 - 0.02**2)
    assert unexplained_energy(tied(swing, 200.0 * (swing - 0.3))) == pytest.approx(gained, rel=0.2)


def test_what_drives_an_element_is_no_gain():
    lengths = np.linspace(0.3, 0.2, T + 1)
    # A servo reels in 0.1 m against 20 N; its rest length goes ahead of the load by 0.1 m.
    reeled = tied(lengths, np.full(T + 1, 20.0), rests=lengths[:-1] - 0.1)
    assert unexplained_energy(reeled) == pytest.approx(0.0, abs=0.05)
    fed = tied(lengths, np.full(T + 1, 20.0), rests=lengths[:-1], feeds=np.full(T, 20.0))
    assert unexplained_energy(fed) == pytest.approx(0.0, abs=0.05)


def test_what_force_elements_carry_does_not_rise_by_itself():
    poses = record(tied_boxes()).body_poses.copy()
    poses[:, 0, 2] += TIME
    lifted = tied(np.full(T + 1, 0.3), np.zeros(T + 1), body_poses=poses)
    # The first speed is known in the middle of the first control period, when it rises already.
    assert unexplained_energy(lifted) == pytest.approx(lifted.robot.mass * G * 2.0, rel=0.02)
    limit = default_gate_limits(lifted.robot, lifted.spec.scene)['energy']
    assert exceeded_gate(lifted, {'energy': limit})[0] == 'energy'
    assert unexplained_energy(rollout_with_arrays(lifted, element_forces=None)) is None


@pytest.mark.parametrize(
    ('kind', 'constants', 'tension'),
    [
        ('spring', {'stiffness': 80.0}, lambda x: 80.0 * x),
        ('cable', {'stiffness': 80.0}, lambda x: 80.0 * max(x, 0.0)),
        (
            'linear_servo',
            {'stiffness': 80.0, 'effort': 3.0},
            lambda x: float(np.clip(80.0 * x, -3.0, 3.0)),
        ),
        (
            'exponential',
            {'strength': 2.0, 'rise': 9.0},
            lambda x: float(np.sign(x) * 2.0 * np.expm1(9.0 * abs(x))),
        ),
    ],
)
def test_stored_energy_is_the_integral_of_the_law(kind, constants, tension):
    element = tied_boxes(kind, constants).force_elements[0]
    for off in (-0.1, -0.03, 0.02, 0.15):
        got = elastic_energy([element], np.array([[0.3 + off]]), np.array([[0.3]]))[0, 0]
        assert got == pytest.approx(quad(tension, 0.0, off, points=[-0.0375, 0.0375])[0])


# Joints and commands


def test_joint_rates_are_multiples_of_the_limits():
    robot = legged_box()
    speeds = np.zeros((T + 1, len(robot.joint_names)))
    speeds[50, 3] = -2.0 * robot.velocity_limit[3]
    assert max_joint_rate(record(robot, joint_velocities=speeds)) == 2.0


def targets(robot, wave):
    return record(robot, target_positions=np.tile(wave[:, None], len(robot.target_names)))


@pytest.mark.parametrize('hertz', [12.0, 15.0, 20.0])
def test_a_fast_wave_is_jitter_by_its_root_mean_square(hertz):
    wave = 0.3 * np.cos(2.0 * np.pi * hertz * (TIME[:-1] + 0.5 * DT))
    assert command_jitter(targets(legged_box(), wave)) == pytest.approx(0.3 / np.sqrt(2.0))


@pytest.mark.parametrize('sub_samples', [1, 4, 10])
@pytest.mark.parametrize('hertz', [4.0, 12.0, 23.0, 30.0, 47.0, 50.0, 95.0, 100.0, 230.0, 250.0])
def test_a_wave_in_the_sub_samples_is_jitter_at_every_rate_that_they_resolve(hertz, sub_samples):
    # Control rate 50 Hz; sub-samples at 50, 200 and 500 Hz.
    rate = sub_samples / DT
    time = (np.arange(T * sub_samples) + 0.5) / rate
    wave = 0.3 * np.cos(2.0 * np.pi * hertz * time)
    robot = legged_box()
    position = np.tile(wave.reshape(T, sub_samples, 1), len(robot.target_names))
    tape = AppliedTape(position, np.zeros_like(position), np.zeros_like(position))
    found = command_jitter(replace(record(robot), applied=(tape,)))
    # Sampled below twice its rate, a wave is one of a lower rate: its alias.
    alias = abs(hertz - rate * round(hertz / rate))
    if alias > JITTER_FREQUENCY + 1.0:
        assert found == pytest.approx(np.std(wave), rel=0.02)
    elif alias < JITTER_FREQUENCY - 1.0:
        assert found < 0.02


@pytest.mark.parametrize('hertz', [0.5, 1.5, 3.0])
def test_strides_and_slow_ramps_are_no_jitter(hertz):
    wave = 0.6 * np.sin(2.0 * np.pi * hertz * TIME[:-1])
    assert command_jitter(targets(legged_box(), wave)) < 0.02
    assert command_jitter(targets(legged_box(), wave + 2.0 * TIME[:-1])) < 0.03


def test_commanded_velocities_jitter_as_the_position_they_add_up_to():
    robot, hertz, size = legged_box(), 12.5, 0.2
    rate = size * 2.0 * np.pi * hertz * np.cos(2.0 * np.pi * hertz * TIME[:-1])
    rollout = record(robot, target_velocities=np.tile(rate[:, None], len(robot.target_names)))
    # A sum over four samples a wave is a little off the integral.
    assert command_jitter(rollout) == pytest.approx(size / np.sqrt(2.0), rel=0.2)


def test_lengths_jitter_in_length_scales():
    robot = replace(tied_boxes(), length_scale=0.5)
    wave = 0.05 * (-1.0) ** np.arange(T)
    found = command_jitter(targets(robot, wave))
    assert found == pytest.approx(0.05 / 0.5, rel=0.05)


@pytest.mark.parametrize('sub_samples', [1, 4])
def test_a_robot_without_motors_has_no_jitter(sub_samples):
    nothing = np.zeros((T, sub_samples, 0))
    rollout = replace(record(free_box()), applied=(AppliedTape(nothing, nothing, nothing),))
    positions, velocities, period = rollout.target_sub_samples()
    assert positions.shape == velocities.shape == (T * sub_samples, 0)
    assert period == DT / sub_samples
    assert command_jitter(rollout) == 0.0


# Faults of an engine that would have won


class Faulty(KinematicEngine):
    """Adds a fault to each state: a function of the seconds since the start and the state."""

    def __init__(self, fault):
        # Without a limit of its own to falling, which would end some of these first.
        super().__init__(replace(legged_box(), fall=None))
        self._fault = fault

    def _observation(self):
        state = super()._observation()
        return self._fault(self._tick * self._scene.control_period, state)


def _moved(state, x=0.0, z=0.0):
    poses = state.body_poses.copy()
    poses[:, 0] += x
    poses[:, 2] += z
    return replace(state, body_poses=poses)


def _lifted(state):
    none = np.zeros((0, 3))
    contacts = replace(
        state.contacts, sole=np.zeros(0, int), points=none, forces=none, depths=none[:, 0]
    )
    return replace(state, contacts=contacts)


def _deep(state):
    depths = state.contacts.depths + 0.1
    return replace(state, contacts=replace(state.contacts, depths=depths))


FAULTS = {
    # Put elsewhere in one control period.
    'speed': lambda t, state: _moved(state, x=5.0 * (t > 0.2)),
    # Slides along inside the ground, which pushes.
    'penetration': lambda t, state: _deep(_moved(state, x=t)),
    # Glides without touching anything.
    'airborne': lambda t, state: _lifted(_moved(state, x=t)),
    # Climbs on nothing.
    'energy': lambda t, state: _moved(state, x=t, z=0.8 * t),
    # Legs whirl faster than their motors turn, and carry it along.
    'joint_rate': lambda t, state: replace(
        _moved(state, x=t), joint_velocities=state.joint_velocities + 1e3
    ),
    # Rides on a cushion, high up.
    'base_height': lambda t, state: _moved(state, x=t, z=2.0),
    # Crawls under the ground.
    'base_depth': lambda t, state: _moved(state, x=t, z=-2.0),
}


@pytest.mark.parametrize('gate', FAULTS)
def test_a_fault_that_would_have_won_is_caught_by_its_gate(gate):
    limit = default_gate_limits(legged_box(), Scene(robot='legged_box'))[gate]

    def fitness(engine, gates):
        spec = spec_for_test('wave', duration=1.5, gates=gates, fitness_terms={'way': 1.0})
        with register_temporarily('controllers', wave=WaveController):
            with register_temporarily(
                'fitness_terms', way=lambda r: np.ptp(r.body_poses[:, 0, 0])
            ):
                return run_trial(spec, engine)

    honest = fitness(KinematicEngine(), {gate: limit})
    assert honest.status == 'ok'
    free = fitness(Faulty(FAULTS[gate]), {})
    assert free.has_fitness and free.fitness > honest.fitness + 0.5
    caught = fitness(Faulty(FAULTS[gate]), {gate: limit})
    assert caught.status == f'invalid:{gate}' and gate in caught.reason
    assert caught.fitness is None and not caught.has_fitness


def test_every_gate_has_an_exploit():
    # Jitter has its own, in physics, in test/evolution.
    assert set(FAULTS) | {'command_jitter'} == set(GATES)


# Limits


def test_limits_scale_as_froude_does():
    small, large = (replace(free_box(), length_scale=length) for length in (0.1, 0.4))
    scene = Scene(robot='any')
    a, b = default_gate_limits(small, scene), default_gate_limits(large, scene)
    assert set(a) == set(GATES)
    for name, ratio in {'speed': 2.0, 'airborne': 2.0, 'penetration': 4.0, 'energy': 4.0,
                        'joint_rate': 1.0, 'command_jitter': 1.0}.items():  # fmt: skip
        assert b[name] / a[name] == pytest.approx(ratio)
    assert 'airborne' not in default_gate_limits(small, replace(scene, gravity=(0.0, 0.0, 0.0)))


def test_own_limits_take_the_place_of_the_robot_s():
    scene, robot = Scene(robot='any'), free_box()
    found = gate_limits(robot, scene, {'speed': 0.2, 'airborne': None})
    own = default_gate_limits(robot, scene)
    assert found == {**own, 'speed': 0.2, 'airborne': None}


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        ({'sped': 1.0}, "unknown gate 'sped': did you mean 'speed'"),
        ({'speed': 0.0}, 'gates.speed is 0 m/s.*nearest valid: null'),
        ({'energy': -1.0}, 'gates.energy is -1 J'),
    ],
)
def test_mistakes_in_limits_are_one_line(given, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        gate_limits(free_box(), Scene(robot='any'), given)
    assert '\n' not in str(caught.value)


# In a trial


def tried(controller, **fields):
    with register_temporarily('controllers', wave=WaveController, hold=HoldController):
        return run_trial(spec_for_test(controller, **fields), KinematicEngine())


def test_a_trial_that_keeps_the_limits_has_the_hash_of_one_without_gates():
    plain = tried('wave')
    gates = {'joint_rate': 5.0, 'base_height': 10.0}
    assert tried('wave', gates=gates).trial_hash == plain.trial_hash


def test_a_trial_beyond_a_limit_is_invalid_and_says_why():
    with register_temporarily('fitness_terms', distance=lambda rollout: 99.0):
        result = tried(
            'wave', gates={'joint_rate': 10.0, 'speed': 1e-6}, fitness_terms={'distance': 1.0}
        )
    assert result.status == 'invalid:speed' and not result.has_fitness
    assert 'speed reached' in result.reason and 'm/s, more than 1e-06 m/s' in result.reason
    assert result.fitness is None and result.terms == {}
    assert result.ticks == 25 and result.metrics['distance_m'] > 0.0


def test_what_stands_still_passes_every_gate():
    robot = legged_box()
    limits = default_gate_limits(robot, Scene(robot='legged_box'))
    assert tried('hold', gates=limits).status == 'ok'


def test_an_unknown_gate_is_refused_before_the_trial():
    with pytest.raises(ConfigurationError, match="unknown gate 'sped'"):
        tried('wave', gates={'sped': 1.0})
