"""A controller's compiled step: an engine that calls it gives the record of stepping both."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.errors import BadCommand
from gait_core.scene import Push
from gait_core.testing_skips import need_engine
from gait_core.trial import TrialLoop, engine_for, play_controller, start_trial, step_controller
from gait_core.trial_setup import controller_parameters, make_scene
from gait_core.trial_spec import Command, TimedCommand, TrialSpec

pytestmark = pytest.mark.physics
TURNS = (
    TimedCommand(time=0.0, command=Command(velocity=(0.1, 0.0, 0.0))),
    TimedCommand(time=0.3, command=Command(velocity=(0.0, -0.2, 0.0))),
)
LAYER = {'perceptrons': 4, 'memory': 5, 'spare': 'upright'}
ROUGH = {'name': 'rough', 'seed': 3}


def trial(drive, engine='mujoco', layer=LAYER, duration=0.6, **scene):
    """Return loop and controller of a trial that is driven in one of two ways, and the calls."""
    spec = TrialSpec(
        scene=replace(make_scene('spider', {'engine': engine, 'terrain': ROUGH}), **scene),
        controller='perceptron',
        parameters=controller_parameters('perceptron', 'source', layer),
        script=TURNS,
        duration=duration,
    )
    loop, calls = TrialLoop(spec, engine_for(engine)), 0
    controller = start_trial(loop)
    while loop.running:
        drive(loop, controller)
        calls += 1
    return loop, controller, calls


def same(one, other):
    for name in ('joint_efforts', 'joint_work', 'element_forces', 'contact_points',
                 'specific_forces', 'target_positions'):  # fmt: skip
        a, b = (getattr(loop.rollout(), name) for loop in (one, other))
        np.testing.assert_array_equal(a, b, err_msg=name)
    return one.result().trial_hash == other.result().trial_hash


@pytest.mark.parametrize('change', [{}, {'direction': 'body', 'spare': 'none'}])
def test_what_the_engine_runs_equals_what_is_stepped_to_the_last_bit(change):
    need_engine('mujoco')
    # Loud weights: set points meet their bounds.
    layer = {**LAYER, 'output_gain': 4000.0, **change}
    played, native, calls = trial(play_controller, layer=layer)
    stepped, controller, ticks = trial(step_controller, layer=layer)
    assert (calls, ticks) == (1, 50)
    assert same(played, stepped)
    assert native.state() == controller.state()
    assert played.result().status == 'ok'
    swing = np.ptp(played.rollout().target_positions[:, 16:], axis=0)
    assert swing.max() > 0.02


def test_what_is_not_compiled_is_stepped():
    need_engine('mujoco')
    push = Push(start=0.1, duration=0.1, force=(5.0, 0.0, 0.0))
    for scene in ({'pushes': (push,)}, {'fixed_base': True}):
        loop, controller = start(duration=0.24, **scene)
        assert not play_controller(loop, controller)
        while loop.running:
            step_controller(loop, controller)
        assert loop.result().status == 'ok'


def start(**scene):
    """Return loop and controller of a trial that nobody has driven."""
    found = []

    def stop(loop, controller):
        found.extend((loop, controller))
        loop.running = False

    trial(stop, **scene)
    found[0].running = True
    return found


def test_a_target_that_is_not_finite_is_refused():
    need_engine('mujoco')
    loop, controller = start()
    controller._servos.at_rest[0] = np.nan
    with pytest.raises(BadCommand, match="position of joint 'v0' is not finite"):
        play_controller(loop, controller)
