# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ground of exponential springs, energy restitution and sticking soles, after McKenna (1990)."""

from math import exp

import numpy as np
import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.robot.load import load_robot
from gait_core.testing.free_bodies import applied_targets, free_box
from gait_core.testing.skips import need_engine
from gait_core.trial.scene import InitialState, Push, Scene
from gait_core.trial.setup import make_scene

need_engine('mujoco')
from sim_bridge.engines.mujoco.engine import MujocoEngine

pytestmark = pytest.mark.physics
G = 9.8
# A box of the insect's size and mass, enlarged a hundredfold inside the engine.
SIZE, MASS = 0.01, 0.002
BOX = free_box(size=(SIZE, SIZE, SIZE), mass=MASS)
ON_GROUND = InitialState(clearance=0.0)
STEP = 1.0 / 76800.0


def scene(**changes):
    fields = {
        'robot': 'box',
        'engine': 'mujoco',
        'contact_law': 'springs',
        'friction': 0.7,
        'gravity': (0.0, 0.0, -G),
        'physics_step': STEP,
        'control_period': 8 * STEP,
        'length_scale': 100.0,
        **changes,
    }
    return Scene(**fields)


def seen_of(ticks: int, robot=BOX, settle: int = 0, **changes):
    """Return the observations of a passive robot."""
    engine = MujocoEngine(lambda name, draw: robot)
    first = engine.reset(scene(**changes), 0, settle)
    rest = [engine.step(applied_targets(robot)) for _ in range(ticks)]
    engine.close()
    return [first, *rest]


@pytest.mark.parametrize('share', [0.0, 0.5, 1.0])
def test_a_box_rebounds_to_a_share_of_the_height_that_it_fell_from(share):
    height = 0.02
    ticks = round(2.2 * (2.0 * height / G) ** 0.5 / (8 * STEP))
    seen = seen_of(
        ticks,
        initial=InitialState(clearance=height),
        engine_options={'ground_return': share},
    )
    heights = np.array([one.body_poses[0, 2] for one in seen]) - 0.5 * SIZE
    deepest = heights.min()
    rebound = heights[heights.argmin() :].max()
    # Of the energy that the springs took at the deepest point they give back the share.
    assert rebound - deepest == pytest.approx(share * (height - deepest), abs=0.015 * height)
    assert max(rebound, 0.0) == pytest.approx(share * height, abs=0.05 * height)


def test_a_block_stops_where_friction_ends_its_energy():
    time, force = 0.01, 0.06
    push = Push(start=0.0, duration=time, force=(force, 0.0, 0.0))
    flat = free_box(size=(SIZE, SIZE, 0.1 * SIZE), mass=MASS)
    seen = seen_of(500, flat, settle=100, pushes=(push,), initial=ON_GROUND)
    speed = (force / MASS - 0.7 * G) * time
    way = seen[-1].body_poses[0, 0] - seen[0].body_poses[0, 0]
    assert way == pytest.approx(0.5 * speed * time + speed**2 / (2.0 * 0.7 * G), rel=0.05)
    assert np.abs(seen[-1].body_twists[0, :3]).max() < 1e-3


def test_a_box_at_rest_sinks_in_as_far_as_the_springs_of_its_corners_give():
    seen = seen_of(400, settle=400, initial=ON_GROUND)
    loads = [one.contacts.forces[:, 2].sum() for one in seen]
    assert np.mean(loads) == pytest.approx(MASS * G, rel=0.02)
    # Four corners carry the weight, strength * mass * (exp(rise * depth) - 1) each, or half of it
    # while it creeps out.
    depth = 0.5 * SIZE - seen[-1].body_poses[0, 2]
    push = 4.0 * 17.5 * (exp(3000.0 * depth) - 1.0)
    assert G < 1.02 * push < 2.05 * G


def test_a_sole_that_sticks_holds_a_box_against_what_friction_would_not_and_lets_go_beyond():
    weight, strong = MASS * G, {'stick_strength': 35.0}

    def way(law: str, force: float) -> float:
        push = Push(start=0.0, duration=0.02, force=(force, 0.0, 0.0))
        seen = seen_of(
            180,
            free_box(size=(SIZE, SIZE, 0.1 * SIZE), mass=MASS),
            settle=50,
            contact_law=law,
            pushes=(push,),
            engine_options=strong,
            initial=ON_GROUND,
        )
        return float(seen[-1].body_poses[0, 0] - seen[0].body_poses[0, 0])

    # Friction bears 0.7 of the weight, the spring at its reach 3 times the weight besides.
    assert way('engine', 1.5 * weight) > 0.001
    assert abs(way('sticky', 1.5 * weight)) < 3e-4
    assert way('sticky', 20.0 * weight) > 0.005


@pytest.mark.parametrize(
    ('name', 'changes', 'text'),
    [
        ('mujoco', {'restitution': 0.5}, 'ground_return'),
        ('mujoco', {'contact_law': 'stickey'}, r"did you mean 'sticky'\?"),
        ('bullet', {}, "engine 'mujoco' has it"),
    ],
)
def test_what_a_scene_cannot_mean_is_one_line(name, changes, text):
    need_engine(name)
    engine = registry.load('engines', name)(lambda name, draw: BOX)
    with pytest.raises(ConfigurationError, match=text) as error:
        engine.reset(scene(engine=name, **changes), 0)
    assert '\n' not in str(error.value)


def test_the_roach_stands_on_springs_that_bear_its_weight():
    robot = load_robot('roach')
    engine = MujocoEngine(lambda name, draw: robot)
    # Light feet on this law chatter from step to step: an odd number of steps sees both phases.
    step = 1.0 / 38400.0
    odd = {'physics_step': step, 'control_period': 15 * step}
    engine.reset(make_scene('roach', {'contact_law': 'sticky_springs', **odd}), 0, 720)
    hold = applied_targets(robot, position=robot.stance)
    seen = [engine.step(hold) for _ in range(240)]
    engine.close()
    # The abdomen's lower face is 3.53 mm below its middle.
    assert seen[-1].body_poses[0, 2] - 0.00353 > 0.002
    loads = [one.contacts.forces[:, 2].sum() for one in seen]
    assert np.mean(loads) == pytest.approx(robot.mass * G, rel=0.05)
