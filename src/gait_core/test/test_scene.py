# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import pytest

from gait_core.errors import ConfigurationError
from gait_core.trial.scene import (
    InitialState,
    Push,
    Scene,
    SensorModel,
    TerrainSpec,
    steps_per_tick,
)
from gait_core.trial.spec import Command, CommandScript, TimedCommand, TrialSpec


@pytest.mark.parametrize(
    ('step', 'period', 'steps'),
    [(0.001, 0.02, 20), (0.02, 0.02, 1), (1 / 240, 1 / 60, 4), (1 / 250, 0.02, 5), (0.1, 0.3, 3)],
)
def test_whole_ratios_pass_in_spite_of_rounding(step, period, steps):
    assert steps_per_tick(step, period) == steps
    assert Scene(robot='r', physics_step=step, control_period=period).steps_per_tick == steps


def test_the_default_step_of_bullet_does_not_divide_20_ms():
    with pytest.raises(ConfigurationError) as caught:
        Scene(robot='r', physics_step=1 / 240, control_period=0.02)
    message = str(caught.value)
    # 4.8 steps: four or five of them make a period, or a finer step fits.
    for part in ('0.02', '1/250', '1/200', '0.0166667', '0.0208333'):
        assert part in message
    assert '\n' not in message


def test_a_step_longer_than_the_period_is_refused_with_valid_ones():
    with pytest.raises(ConfigurationError, match=r'0\.03 s; .*1/50'):
        steps_per_tick(0.03, 0.02)


@pytest.mark.parametrize('value', [0.0, -0.01, math.nan, math.inf])
def test_steps_and_periods_must_be_positive_and_finite(value):
    with pytest.raises(ConfigurationError, match='physics_step'):
        steps_per_tick(value, 0.02)
    with pytest.raises(ConfigurationError, match='control_period'):
        steps_per_tick(0.001, value)


@pytest.mark.parametrize(
    ('make', 'named'),
    [
        (lambda: Scene(robot='r', friction=-0.1), 'friction'),
        (lambda: Scene(robot='r', friction=math.nan), 'friction'),
        (lambda: Scene(robot='r', restitution=-1.0), 'restitution'),
        (lambda: Scene(robot='r', restitution=1.5), 'nearest valid: 1'),
        (lambda: Scene(robot='r', draw=-1), 'scene.draw'),
        (lambda: Scene(robot='r', draw=2**63), 'scene.draw'),
        (lambda: Scene(robot='r', physics_step=1e-9), 'nearest valid: 2e-07 s'),
        (lambda: Scene(robot='r', gravity=(0.0, math.inf, 0.0)), 'gy'),
        (lambda: Scene(robot='r', length_scale=0.0), 'length_scale'),
        (lambda: Scene(robot='r', engine_options={'erp': math.nan}), 'erp'),
        (lambda: InitialState(joint_positions={'knee': math.nan}), 'knee'),
        (lambda: InitialState(joint_positions={'x': math.nan}), 'joint_positions.x'),
        (lambda: InitialState(yaw=math.inf), 'yaw'),
        (lambda: InitialState(clearance=-0.01), 'clearance'),
        (lambda: Push(start=0.0, duration=0.0, force=(1.0, 0.0, 0.0)), 'duration'),
        (lambda: Push(start=0.0, duration=1.0, force=(1.0, math.nan, 0.0)), 'fy'),
        (lambda: SensorModel(delay_ticks=-1), 'delay_ticks'),
        (lambda: SensorModel(joint_position_noise=math.nan), 'joint_position_noise'),
        (lambda: TerrainSpec(seed=-1), 'seed'),
        (lambda: Command(velocity=(0.0, math.nan, 0.0)), 'command.y'),
        (lambda: Command(set_points={'stop': math.inf}), 'command.stop'),
        (lambda: spec(duration=0.0), 'duration'),
        (lambda: spec(duration=0.005), 'control period'),
        (lambda: spec(duration=math.inf), 'duration'),
        (lambda: spec(duration=1e300), 'nearest valid: 200000 s'),
        (lambda: spec(settle_time=1e12), 'settle_time'),
        (lambda: spec(fitness_terms={'distance': math.nan}), "'distance' has weight nan"),
        (lambda: spec(settle_time=-1.0), 'settle_time'),
        (lambda: spec(seed=2**63), 'seed'),
        (lambda: spec(weights_sha256='ab' * 32), 'weights names no file'),
        (lambda: spec(seed=1.5), 'seed'),
        (lambda: spec(script=(at(1.0), at(0.5))), 'order of time'),
        (
            lambda: spec(scene=Scene(robot='r', fixed_base=True), fitness_terms={'distance': 1.0}),
            'fixed_base',
        ),
    ],
)
def test_each_bad_value_is_refused_by_name_in_one_line(make, named):
    with pytest.raises(ConfigurationError) as caught:
        make()
    assert named in str(caught.value)
    assert '\n' not in str(caught.value)


def spec(scene=None, **fields):
    return TrialSpec(scene=scene or Scene(robot='r'), controller='hold', **fields)


def at(time, x=0.0):
    return TimedCommand(time=time, command=Command(velocity=(x, 0.0, 0.0)))


def test_a_command_holds_from_its_time_to_the_next_one():
    script = CommandScript((at(0.0, 0.1), at(0.06, 0.2)))
    assert script.command_at(0.0).velocity[0] == 0.1
    assert script.command_at(0.04).velocity[0] == 0.1
    assert script.command_at(3 * 0.02).velocity[0] == 0.2
    assert script.command_at(9.0).velocity[0] == 0.2


def test_a_tick_that_rounding_puts_just_before_a_command_obeys_it():
    assert 49 * (1 / 49) < 1.0
    assert CommandScript((at(1.0, 0.2),)).command_at(49 * (1 / 49)).velocity[0] == 0.2


def test_there_is_no_command_before_the_first():
    assert CommandScript((at(1.0, 0.1),)).command_at(0.5) == Command()


def test_the_number_of_ticks_is_rounded():
    assert spec(duration=10.0).ticks == 500
    assert spec(duration=0.3).ticks == 15
