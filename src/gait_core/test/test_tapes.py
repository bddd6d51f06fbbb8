# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import fields, replace

import numpy as np
import pytest

from gait_core.contracts import TapeController, TapeEngine
from gait_core.errors import BadCommand, ProtocolError
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTape, JointTargets, TargetMemory, TargetTape
from gait_core.testing.doubles import (
    KinematicEngine,
    WaveController,
    legged_box,
    register_temporarily,
    spec_for_test,
)
from gait_core.testing.free_bodies import step_through
from gait_core.trial.loop import run_loop
from gait_core.trial.spec import Command, TimedCommand

NAMES = ('a', 'b', 'c')


# Targets


def tape_of(names=NAMES, periods=4, samples=2, seed=3, **fields):
    random = np.random.default_rng(seed)
    shape = (periods, samples, len(names))
    return TargetTape(names=names, **{name: random.normal(size=shape) for name in fields})


def period(tape, at):
    arrays = {name: getattr(tape, name) for name in ('position', 'velocity', 'effort')}
    return JointTargets(
        names=tape.names,
        **{name: None if array is None else array[at] for name, array in arrays.items()},
    )


@pytest.mark.parametrize(
    'given',
    [('position',), ('effort',), ('position', 'velocity'), ('velocity', 'effort')],
)
@pytest.mark.parametrize('names', [NAMES, ('c', 'a'), ('b', 'tail')])
def test_a_tape_resolves_as_its_periods_do(names, given):
    tapes = [tape_of(names, seed=seed, **dict.fromkeys(given)) for seed in (1, 2)]
    before = JointTargets(names=NAMES, velocity=np.ones(3), effort=np.full(3, 2.0))
    at_once, in_turn = (TargetMemory(NAMES, np.array([0.1, 0.2, 0.3])) for _ in range(2))
    for memory in (at_once, in_turn):
        memory.resolve(before)
    for tape in tapes:
        periods = [in_turn.resolve(period(tape, at)) for at in range(4)]
        resolved = at_once.resolve_tape(tape)
        assert len(resolved) == 4
        for one, other in zip(resolved, periods, strict=True):
            for name in ('position', 'velocity', 'effort'):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert at_once.unknown_names == in_turn.unknown_names
    nothing = JointTargets(names=())
    np.testing.assert_array_equal(
        at_once.resolve(nothing).position, in_turn.resolve(nothing).position
    )


def test_periods_make_a_tape_and_a_tape_has_its_periods():
    tape = tape_of(position=None, effort=None)
    again = TargetTape.from_periods([period(tape, at) for at in range(4)])
    np.testing.assert_array_equal(again.position, tape.position)
    np.testing.assert_array_equal(again.effort, tape.effort)
    assert again.velocity is None and again.shape == (4, 2)
    applied = TargetMemory(NAMES, np.zeros(3)).resolve_tape(tape)
    assert AppliedTape.from_periods(applied) is applied
    np.testing.assert_array_equal(AppliedTape.from_periods(list(applied)).position, tape.position)
    assert len(applied[1:3]) == 2 and not applied.position.flags.writeable


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'position': np.zeros((4, 3))}, r'position has shape \(4, 3\), expected \(T, K, 3\)'),
        ({'effort': np.full((4, 1, 3), np.nan)}, 'effort holds a value that is not finite'),
        ({'position': np.zeros((4, 1, 3)), 'effort': np.zeros((5, 1, 3))}, 'expected one'),
        ({}, 'expected one'),
    ],
)
def test_bad_tapes_are_refused(fields, message):
    with pytest.raises(BadCommand, match=message):
        TargetTape(names=NAMES, **fields)


# States


def state(tick, contacts):
    rng = np.random.default_rng(tick)
    return Observation(
        tick=tick,
        time=0.02 * tick,
        joint_names=('a', 'b'),
        joint_positions=rng.normal(size=2),
        body_names=('base',),
        body_poses=rng.normal(size=(1, 7)),
        imu=Imu(
            orientation=rng.normal(size=4),
            angular_velocity=rng.normal(size=3),
            linear_acceleration=rng.normal(size=3),
        ),
        contacts=Contacts(
            soles=('l', 'r'),
            sole=rng.integers(-1, 2, contacts),
            points=rng.normal(size=(contacts, 3)),
            forces=rng.normal(size=(contacts, 3)),
            depths=rng.normal(size=contacts),
        ),
    )


def assert_same(one, other):
    assert type(one) is type(other)
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, Imu | Contacts):
            assert_same(a, b)
        elif isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b and type(a) is type(b)


def test_states_survive_a_tape():
    states = [state(tick, contacts) for tick, contacts in enumerate((2, 0, 3, 1, 0))]
    tape = StateTape.from_states(states)
    assert tape.joint_positions.shape == (5, 2) and tape.joint_velocities is None
    assert tape.contact_counts.tolist() == [2, 0, 3, 1, 0]
    for ways in (tape, StateTape.concatenate([tape[:2], tape[2:]])):
        assert len(ways) == 5
        for one, other in zip(ways, states, strict=True):
            assert_same(one, other)
    assert_same(tape[-2], states[3])
    for one, other in zip(tape[2:4], states[2:4], strict=True):
        assert_same(one, other)
    assert not StateTape.from_states([]) and StateTape.from_states(tape) is tape
    with pytest.raises(IndexError):
        tape[5]


def test_a_field_that_comes_and_goes_is_refused():
    blind = replace(state(1, 0), imu=None)
    with pytest.raises(ProtocolError, match='imu is reported at 1 of 2 ticks'):
        StateTape.from_states([state(0, 0), blind])


# Trials by tape


UPRIGHT = replace(legged_box(), fall=None)


class Taped(WaveController, TapeController):
    """A wave that can say it all beforehand."""

    needs = frozenset()
    change = staticmethod(lambda targets, tick: targets)

    def reset(self, seed):
        super().reset(seed)
        self._tick = 0

    def step(self, dt, command, observation):
        if command.velocity[1]:
            raise BadCommand('no side step')
        targets = self.change(super().step(dt, command, observation), self._tick)
        self._tick += 1
        return targets

    def target_tape(self, dt, commands):
        return TargetTape.from_periods([self.step(dt, command, None) for command in commands])


class Stepped(Taped):
    def target_tape(self, dt, commands):
        return None


class Counting(KinematicEngine, TapeEngine):
    """Counts its rollouts; NaN at a tick, if asked for."""

    poisoned = -1

    def __init__(self, robot=None):
        super().__init__(robot)
        self.tapes = []

    def rollout(self, tape):
        self.tapes.append(len(tape))
        return step_through(self, tape)

    def _observation(self):
        seen = super()._observation()
        if self._tick == self.poisoned:
            seen.joint_velocities[1] = np.nan
        return seen


def both(change=None, poisoned=-1, robot=UPRIGHT, **changes):
    """Return the results of a trial by steps and by tape, and the lengths of its tapes."""
    results = []
    for kind in (Stepped, Taped):
        made = type('Made', (kind,), {'change': staticmethod(change)} if change else {})
        engine = Counting(robot)
        engine.poisoned = poisoned
        with register_temporarily('controllers', wave=made):
            loop = run_loop(spec_for_test(**{'duration': 2.5, **changes}), engine)
        results.append(replace(loop.result(), wall_time=0.0))
    assert results[0].trial_hash == results[1].trial_hash
    assert results[0] == results[1]
    return results[0], engine.tapes


def test_a_robot_that_cannot_fall_is_played_at_once():
    result, tapes = both()
    assert (result.status, tapes) == ('ok', [125])


def test_a_robot_that_can_fall_is_stepped():
    result, tapes = both(tip, robot=legged_box())
    assert result.status == 'fell' and 61 < result.ticks < 100
    assert result.fell_at == pytest.approx(0.02 * result.ticks)
    assert tapes == []


def tip(targets, tick):
    lean = np.full_like(targets.position, 1.4)
    return replace(targets, position=lean if tick > 60 else targets.position)


def fly(targets, tick):
    return replace(targets, position=targets.position + 1e3 * (tick == 70))


def bad(targets, tick):
    return replace(targets, position=targets.position + np.nan) if tick == 71 else targets


def test_divergence_ends_it_at_its_tick():
    result, _ = both(fly)
    assert (result.status, result.ticks, result.reason) == (
        'diverged', 70, 'a target beyond 100 rad'
    )  # fmt: skip


@pytest.mark.parametrize(('tick', 'ticks'), [(51, 50), (77, 76), (125, 124)])
def test_what_is_not_finite_ends_it_before(tick, ticks):
    result, _ = both(poisoned=tick)
    assert (result.status, result.ticks) == ('diverged', ticks)
    assert 'joint_velocities' in result.reason


def test_a_bad_command_ends_it_at_its_tick():
    result, _ = both(bad)
    assert (result.status, result.ticks) == ('invalid:bad_command', 71)
    script = (TimedCommand(time=1.62, command=Command(velocity=(0.0, 0.1, 0.0))),)
    result, _ = both(script=script)
    assert (result.ticks, result.reason) == (81, 'no side step')


def test_targets_whose_sub_samples_vary_are_all_hashed():
    def varying(last):
        def change(targets, tick):
            rows = np.repeat(targets.position, 1 + tick % 3, axis=0)
            rows[0, 0] += last * (tick == 24)
            return replace(targets, position=rows)

        return change

    hashes = set()
    for last in (0.0, 1e-9):
        made = type('Made', (Stepped,), {'change': staticmethod(varying(last))})
        with register_temporarily('controllers', wave=made):
            hashes.add(run_loop(spec_for_test(), KinematicEngine()).result().trial_hash)
    assert len(hashes) == 2
