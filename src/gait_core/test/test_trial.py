# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import replace
import hashlib
import math
import time

import numpy as np
import pytest

from gait_core.errors import ConfigurationError, ProtocolError, SimulationDiverged
from gait_core.motion.targets import JointTargets
from gait_core.testing.doubles import (
    KinematicEngine,
    WaveController,
    legged_box,
    register_temporarily,
    spec_for_test,
)
from gait_core.trial import parts as trial_parts
from gait_core.trial.loop import TrialLoop, run_loop, run_trial, start_trial, step_controller
from gait_core.trial.scene import InitialState, SensorModel, TerrainSpec
from gait_core.trial.spec import Command, TimedCommand


@pytest.fixture(autouse=True)
def wave():
    with register_temporarily('controllers', wave=WaveController):
        yield


def changed(change):
    """Return a WaveController whose targets pass through a function of (targets, tick)."""

    class Changed(WaveController):
        def step(self, dt, command, observation):
            return change(super().step(dt, command, observation), observation.tick)

    return Changed


def run(change, **fields):
    with register_temporarily('controllers', changed=changed(change)):
        return run_trial(spec_for_test('changed', **fields), KinematicEngine())


def permuted(targets, tick):
    order = np.random.default_rng(tick).permutation(len(targets.names))
    return JointTargets(
        names=tuple(targets.names[i] for i in order), position=targets.position[:, order]
    )


def without(name):
    def drop(targets, tick):
        keep = [i for i, other in enumerate(targets.names) if other != name]
        return JointTargets(
            names=tuple(targets.names[i] for i in keep), position=targets.position[:, keep]
        )

    return drop


def at_tick(when, make):
    return lambda targets, tick: make(targets) if tick == when else targets


# The same trial


def test_a_trial_repeats_to_the_last_bit():
    first, again = (run_trial(spec_for_test(), KinematicEngine()) for _ in range(2))
    assert first.trial_hash == again.trial_hash
    assert first.metrics == again.metrics
    assert (first.status, first.ticks, first.spec_hash) == ('ok', 25, again.spec_hash)


def test_trials_before_it_make_no_difference():
    engine = KinematicEngine()
    alone = run_trial(spec_for_test(), engine)
    for seed in range(5):
        run_trial(spec_for_test(seed=seed, parameters={'amplitude': 0.1 * seed}), engine)
    run(at_tick(3, lambda t: replace(t, position=t.position + 1e3)))
    assert run_trial(spec_for_test(), engine).trial_hash == alone.trial_hash


def test_permuted_joints_give_the_same_trial():
    assert run(permuted).trial_hash == run(lambda t, _: t).trial_hash


def test_unknown_joints_are_ignored_and_named():
    def more(targets, tick):
        position = np.concatenate([targets.position, [[9.0]]], axis=1)
        return JointTargets(names=(*targets.names, 'tail'), position=position)

    with register_temporarily('controllers', changed=changed(more)):
        loop = run_loop(spec_for_test('changed'), KinematicEngine())
    assert loop.unknown_joints == {'tail'}
    assert loop.result().trial_hash == run(lambda t, _: t).trial_hash


def test_a_joint_that_is_not_commanded_holds():
    engine, name = KinematicEngine(), 'leg1_joint1'
    with register_temporarily('controllers', changed=changed(without(name))):
        rollout = run_loop(spec_for_test('changed'), engine).rollout()
    held = rollout.joint_positions[:, engine.robot.joint_index[name]]
    np.testing.assert_array_equal(held, held[0])
    others = np.delete(rollout.joint_positions, engine.robot.joint_index[name], axis=1)
    assert np.all(np.ptp(others, axis=0) > 0.01)


def test_stepping_the_loop_equals_running_it():
    loop = TrialLoop(spec_for_test(), KinematicEngine())
    controller = start_trial(loop)
    while loop.is_running:
        step_controller(loop, controller)
    assert loop.result().trial_hash == run_trial(spec_for_test(), KinematicEngine()).trial_hash


# What the hash covers


def hashed(spec=None, engine=None):
    return run_trial(spec or spec_for_test(), engine or KinematicEngine()).trial_hash


class Disturbed(KinematicEngine):
    """Changes one bit of one array of the state at one tick; the motion goes on unchanged."""

    def __init__(self, field, tick):
        super().__init__()
        self._field, self._when = field, tick

    def _observation(self):
        state = super()._observation()
        if self._tick == self._when:
            array = getattr(state, self._field).copy()
            array.flat[-1] = np.nextafter(array.flat[-1], np.inf)
            state = replace(state, **{self._field: array})
        return state


@pytest.mark.parametrize(
    'field', ['joint_positions', 'joint_velocities', 'body_poses', 'body_twists']
)
@pytest.mark.parametrize('tick', [0, 12, 25])
def test_one_bit_of_any_state_at_any_tick_changes_the_hash(field, tick):
    assert hashed(engine=Disturbed(field, tick)) != hashed()


def test_one_bit_of_any_target_changes_the_hash():
    def nudged(targets):
        position = targets.position.copy()
        position[0, 2] = np.nextafter(position[0, 2], np.inf)
        return JointTargets(names=targets.names, position=position)

    def pushing(targets):
        return replace(targets, effort=np.full_like(targets.position, 1e-300))

    plain = run(lambda t, _: t).trial_hash
    # The last targets act on no later state that is recorded by then.
    assert len({plain, run(at_tick(24, nudged)).trial_hash, run(at_tick(9, pushing)).trial_hash,
                run(at_tick(0, nudged)).trial_hash}) == 4  # fmt: skip


def test_the_status_changes_the_hash():
    loops = [TrialLoop(spec_for_test(), KinematicEngine()) for _ in range(2)]
    for loop, status in zip(loops, ('ok', 'invalid:no_command'), strict=True):
        loop.begin()
        loop.end(status)
    assert loops[0].result().trial_hash != loops[1].result().trial_hash


def test_the_hash_is_the_documented_one():
    loop = run_loop(spec_for_test(), KinematicEngine())
    rollout, digest = loop.rollout(), hashlib.sha256()
    for tick in range(rollout.ticks + 1):
        rows = [np.array([float(tick)]), rollout.joint_positions[tick],
                rollout.joint_velocities[tick], rollout.body_poses[tick],
                rollout.body_twists[tick]]  # fmt: skip
        if tick < rollout.ticks:
            rows += [rollout.target_positions[tick], rollout.target_velocities[tick],
                     rollout.target_efforts[tick]]  # fmt: skip
        for row in rows:
            digest.update(row.astype('<f8').tobytes())
    digest.update(b'ok')
    assert loop.result().trial_hash == digest.hexdigest()


# How trials end


def bad(**fields):
    return lambda targets: JointTargets(**{'names': targets.names, **fields})


@pytest.mark.parametrize(
    ('make', 'reason'),
    [
        (bad(position=np.full(8, np.nan)), 'not finite'),
        (bad(position=np.full(8, np.inf)), 'not finite'),
        (bad(position=np.zeros(7)), 'shape'),
        (bad(names=('leg0_joint0',) * 2, position=np.zeros(2)), 'twice'),
    ],
)
def test_a_bad_command_ends_the_trial_and_says_why(make, reason):
    result = run(at_tick(5, make))
    assert result.status == 'invalid:bad_command'
    assert reason in result.reason and '\n' not in result.reason
    assert result.ticks == 5
    assert result.fitness is None and not result.has_fitness
    assert all(math.isfinite(value) for value in result.metrics.values())


def test_divergence_ends_the_trial_without_a_fitness():
    with register_temporarily('fitness_terms', distance=lambda rollout: 1.0):
        result = run(
            at_tick(5, lambda t: replace(t, position=t.position + 1e3)),
            fitness_terms={'distance': 1.0},
        )
    assert (result.status, result.ticks, result.fitness) == ('diverged', 5, None)
    assert result.terms == {} and not result.has_fitness


def test_divergence_before_the_first_tick_is_a_result_too():
    class Exploding(KinematicEngine):
        def reset(self, scene, seed, *, settle_ticks=0):
            raise SimulationDiverged('far away')

    result = run_trial(spec_for_test(), Exploding())
    assert (result.status, result.reason, result.ticks) == ('diverged', 'far away', 0)
    assert result.fitness is None and not result.has_fitness


class Poisoned(KinematicEngine):
    def __init__(self, field):
        super().__init__()
        self._field = field

    def _observation(self):
        state = super()._observation()
        if self._tick == 7:
            array = getattr(state, self._field).copy()
            array.flat[0] = np.nan
            state = replace(state, **{self._field: array})
        return state


@pytest.mark.parametrize(
    'field', ['joint_positions', 'joint_velocities', 'body_poses', 'body_twists']
)
def test_nan_never_leaves_a_trial(field):
    loop = run_loop(spec_for_test(), Poisoned(field))
    result = loop.result()
    assert result.status == 'diverged' and field in result.reason
    assert all(math.isfinite(value) for value in result.metrics.values())
    assert np.isfinite(getattr(loop.rollout(), field)).all()


def test_a_tilted_robot_has_fallen_and_may_still_be_scored():
    def lean(targets):
        return replace(targets, position=np.full_like(targets.position, 1.4))

    with register_temporarily('fitness_terms', height=lambda rollout: 2.0):
        result = run(lambda t, tick: lean(t) if tick > 5 else t, fitness_terms={'height': 3.0})
    assert result.status == 'fell' and 'tilts' in result.reason
    assert 6 < result.ticks < 25
    assert result.fell_at == pytest.approx(result.ticks * 0.02)
    assert result.fitness == 6.0 and result.has_fitness


def test_the_first_end_stays():
    loop = TrialLoop(spec_for_test(), KinematicEngine())
    start_trial(loop)
    loop.end('invalid:no_command', 'nothing came')
    loop.end('ok')
    assert (loop.status, loop.reason) == ('invalid:no_command', 'nothing came')
    with pytest.raises(ProtocolError, match='not running'):
        loop.advance(JointTargets(names=()))


def test_there_is_no_result_of_a_running_trial():
    loop = TrialLoop(spec_for_test(), KinematicEngine())
    start_trial(loop)
    with pytest.raises(ProtocolError, match='not ended'):
        loop.result()


# Fitness


def test_fitness_is_the_weighted_sum_of_its_terms():
    terms = {'distance': lambda r: 2.0, 'energy': lambda r: 5.0}
    with register_temporarily('fitness_terms', **terms):
        result = run_trial(
            spec_for_test(fitness_terms={'distance': 1.5, 'energy': -0.1}), KinematicEngine()
        )
    assert result.terms == {'distance': 2.0, 'energy': 5.0}
    assert result.fitness == pytest.approx(2.5)


def test_without_terms_there_is_no_fitness():
    assert run_trial(spec_for_test(), KinematicEngine()).fitness is None


def test_a_term_that_is_not_finite_is_named():
    with register_temporarily('fitness_terms', broken=lambda rollout: math.nan):
        with pytest.raises(ConfigurationError, match="'broken' returned nan"):
            run_trial(spec_for_test(fitness_terms={'broken': 1.0}), KinematicEngine())


def test_a_term_that_returns_no_number_is_named_with_its_module():
    def broken(rollout):
        """Return a text [-]."""
        return 'far'

    with register_temporarily('fitness_terms', broken=broken):
        with pytest.raises(TypeError) as caught:
            run_trial(spec_for_test(fitness_terms={'broken': 1.0}), KinematicEngine())
    line = f"fitness term 'broken' ({__name__}) returned 'far', expected a number"
    assert str(caught.value) == line


# What the controller sees


class Spy(WaveController):
    seen: list = []

    def step(self, dt, command, observation):
        Spy.seen.append((dt, command, observation))
        return super().step(dt, command, observation)


def spied(**fields):
    Spy.seen = []
    with register_temporarily('controllers', spy=Spy):
        loop = run_loop(spec_for_test('spy', **fields), KinematicEngine())
    return Spy.seen, loop.rollout()


def test_commands_reach_the_controller_and_the_record():
    forward = Command(velocity=(0.2, 0.0, 0.1), set_points={'stop': 1.0})
    seen, rollout = spied(script=(TimedCommand(time=0.2, command=forward),))
    assert [command for _, command, _ in seen] == [Command()] * 10 + [forward] * 15
    np.testing.assert_array_equal(rollout.commands[9:11], [[0, 0, 0], [0.2, 0.0, 0.1]])
    assert {dt for dt, _, _ in seen} == {0.02}


def test_sensors_change_what_is_seen_but_not_what_is_recorded():
    seen, rollout = spied(scene={'sensors': SensorModel(joint_position_noise=0.05, delay_ticks=3)})
    _, true = spied()
    # The wave does not listen, so both trials are the same in truth.
    np.testing.assert_array_equal(rollout.joint_positions, true.joint_positions)
    noise = np.array([o.joint_positions for _, _, o in seen[3:]]) - true.joint_positions[:22]
    assert noise.std() == pytest.approx(0.05, rel=0.25)


def test_sensor_noise_follows_the_trial_s_seed():
    scene = {'sensors': SensorModel(joint_position_noise=0.05)}
    first, again, other = (
        spied(scene=scene, seed=seed)[0][4][2].joint_positions for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


# Mistakes


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'controller': 'hodl'}, "unknown controller 'hodl': did you mean 'hold'"),
        ({'parameters': {'amplitud': 0.1}}, "'amplitud': did you mean 'amplitude'"),
        ({'parameters': {'amplitude': 3.0}}, 'amplitude'),
        ({'scene': {'terrain': TerrainSpec(name='rouhg')}}, "'rouhg'.*'rough'"),
        ({'fitness_terms': {'no_such_term': 1.0}}, "unknown fitness term 'no_such_term'"),
        ({'scene': {'fixed_base': True}, 'fitness_terms': {'upright': 1.0}}, 'gets no fitness'),
        (
            {'scene': {'initial': InitialState(joint_positions={'leg0_joint7': 0.1})}},
            "joint in initial.joint_positions 'leg0_joint7'.*leg0_joint",
        ),
    ],
)
def test_mistakes_in_a_spec_are_refused_in_one_line(fields, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        run_trial(spec_for_test(**fields), KinematicEngine())
    assert '\n' not in str(caught.value)


def test_unknown_fitness_terms_are_refused_before_the_trial_runs():
    class Unstepped(KinematicEngine):
        def step(self, targets):
            raise AssertionError('a step of a trial that cannot be scored')

    with pytest.raises(ConfigurationError, match='no_such_term'):
        run_trial(spec_for_test(fitness_terms={'no_such_term': 1.0}), Unstepped())


def test_an_engine_that_does_not_report_what_is_needed_is_named():
    class Blind(KinematicEngine):
        def _observation(self):
            return replace(super()._observation(), joint_positions=None, joint_names=())

    with pytest.raises(ConfigurationError, match="'wave' needs joint_positions.*'kinematic'"):
        run_trial(spec_for_test(), Blind())


def test_engines_are_made_once_per_process(monkeypatch):
    monkeypatch.setattr(trial_parts, '_engine_cache', {})
    with register_temporarily('engines', kinematic=KinematicEngine):
        first = trial_parts.cached_engine('kinematic')
        assert trial_parts.cached_engine('kinematic') is first
        assert run_trial(spec_for_test()).status == 'ok'


# What the loop itself costs


class Still(KinematicEngine):
    """Answers every step with one prepared state."""

    def step(self, targets):
        return self._prepared

    def reset(self, scene, seed, settle_ticks=0):
        self._prepared = super().reset(scene, seed, settle_ticks)
        return self._prepared


@pytest.mark.parametrize('terrain', ['flat', 'rough'])
def test_a_tick_of_the_loop_is_cheap(terrain):
    engine = Still(legged_box(legs=23, joints=1))
    spec = spec_for_test('hold', scene={'terrain': TerrainSpec(name=terrain)}, duration=6.0)
    costs = []
    for _ in range(5):
        loop = TrialLoop(spec, engine)
        controller = start_trial(loop)
        targets = controller.step(loop.dt, loop.command, loop.observation)
        began = time.process_time()
        while loop.is_running:
            loop.advance(targets)
        costs.append((time.process_time() - began) / loop.tick)
        assert loop.tick == 300
    # 2 % of a control period at 200 Hz; sensors, record, hash and fall criterion included.
    assert min(costs) < 100e-6


# The engine of the tests itself


def test_the_kinematic_engine_keeps_the_contract():
    engine, robot = KinematicEngine(legged_box(1)), legged_box(1)
    assert [leg.name for leg in robot.legs] == ['leg0']
    loop = run_loop(spec_for_test(), engine)
    applied = loop.rollout()
    speed = np.abs(np.diff(applied.joint_positions, axis=0)) / 0.02
    assert np.all(speed <= robot.velocity_limit + 1e-9)
    engine.close()
    with pytest.raises(ProtocolError):
        engine.reset(loop.spec.scene, 0)


def test_an_extreme_target_diverges():
    engine = KinematicEngine()
    loop = TrialLoop(spec_for_test(), engine)
    loop.begin()
    with pytest.raises(SimulationDiverged):
        engine.step(loop._memory.resolve(JointTargets(names=('leg0_joint0',), position=[101.0])))
