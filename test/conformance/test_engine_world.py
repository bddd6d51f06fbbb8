# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ground, links and collisions as every engine builds them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from gait_core.contracts import TerrainParameters
from gait_core.errors import ConfigurationError
from gait_core.robot.check import check_robot
from gait_core.robot.model import ForceElement, Joint, Leg, RobotModel
from gait_core.terrains import Grid, load_terrain
from gait_core.testing.doubles import legged_box, register_temporarily
from gait_core.testing.free_bodies import (
    applied_targets,
    free_ball,
    free_box,
    one_joint_robot,
    solid_box,
    step_through,
)
from gait_core.trial.scene import InitialState, Scene, TerrainSpec

pytestmark = pytest.mark.physics
G = 9.81


def rough(**parameters) -> TerrainSpec:
    return TerrainSpec(name='rough', parameters={'nodes': 64, 'extent': 6.3, **parameters}, seed=2)


def centre_of_pressure(seen) -> np.ndarray:
    weight = seen.contacts.forces[:, 2]
    return (seen.contacts.points[:, :2] * weight[:, None]).sum(axis=0) / weight.sum()


def test_a_flat_height_field_is_a_plane(engine_of):
    engine = engine_of(legged_box(4, 2))
    ends = []
    for terrain in (TerrainSpec(), rough(range=0.0)):
        scene = Scene(robot='x', physics_step=0.002, terrain=terrain)
        engine.reset(scene, 0, settle_ticks=50)
        ends.append(engine.step(applied_targets(engine.robot)))
    plane, field = ends
    assert field.body_poses[0, 2] == pytest.approx(plane.body_poses[0, 2], abs=1e-3)
    np.testing.assert_allclose(centre_of_pressure(field), centre_of_pressure(plane), atol=1e-3)
    weight = engine.robot.mass * G
    assert field.contacts.forces[:, 2].sum() == pytest.approx(weight, rel=0.01)


@dataclass(frozen=True, kw_only=True)
class Tower(TerrainParameters):
    """Rough ground with one high node far away, which moves Bullet's mid-height."""

    def build(self, seed: int) -> Grid:
        field = load_terrain(rough(range=0.08)).heightfield
        heights = field.heights.copy()
        heights[0, 0] = 1.0
        return Grid(replace(field, heights=heights))


def test_contacts_lie_on_the_surface_that_the_terrain_describes(engine_of):
    engine = engine_of(free_ball(radius=0.05))
    touched = []
    with register_temporarily('terrains', tower=Tower):
        spec = TerrainSpec(name='tower')
        terrain = load_terrain(spec)
        for x, y in np.random.default_rng(1).uniform(-2.5, 2.5, (12, 2)):
            start = InitialState(x=x, y=y, clearance=0.002)
            engine.reset(Scene(robot='x', terrain=spec, initial=start), 0)
            seen = step_through(engine, [applied_targets(engine.robot)] * 5)
            touched += [one.contacts.points for one in seen if len(one.contacts.points)]
    points = np.concatenate(touched)
    assert len(points) > 12
    height = terrain.height(points[:, 0], points[:, 1])
    assert np.ptp(height) > 0.02
    np.testing.assert_allclose(points[:, 2], height, atol=1e-3)


def test_a_robot_starts_above_rough_ground_without_penetration(engine_of):
    engine = engine_of(legged_box(4, 2))
    for x in (-1.3, 0.2, 1.7):
        scene = Scene(
            robot='x', terrain=rough(range=0.05), initial=InitialState(x=x, clearance=0.005)
        )
        engine.reset(scene, 0)
        seen = step_through(engine, [applied_targets(engine.robot)] * 10)
        depths = np.concatenate([one.contacts.depths for one in seen])
        assert len(depths) and depths.max() < 2e-3
        speeds = np.abs([one.body_twists[0, :3] for one in seen])
        # An overlap would be thrown out at metres a second.
        assert speeds.max() < 0.6


def test_massless_frames_weigh_nothing(engine_of):
    box = free_box(mass=2.0)
    frames = [
        replace(solid_box(name, (0.01, 0.01, 0.01), 0.0), inertia=np.zeros((3, 3)), collisions=())
        for name in ('camera', 'antenna')
    ]
    mounts = (
        Joint(name='a', kind='fixed', parent='box', child='camera', xyz=(0.1, 0.0, 0.1)),
        Joint(name='b', kind='fixed', parent='camera', child='antenna', xyz=(0.0, 0.0, 0.5)),
    )
    engine = engine_of(replace(box, links=(*box.links, *frames), joints=mounts))
    rest = engine.reset(Scene(robot='x'), 0, settle_ticks=50)
    # Bullet would give each of them 1 kg.
    assert rest.contacts.forces[:, 2].sum() == pytest.approx(2.0 * G, rel=1e-3)
    np.testing.assert_allclose(centre_of_pressure(rest), 0.0, atol=1e-3)


def test_friction_holds_on_every_link_and_not_only_on_the_base(engine_of):
    """A robot on its feet stands on a slope as steep as the friction of its soles allows."""
    engine = engine_of(legged_box(4, 2))
    for slope, stands in ((0.45, True), (0.55, False)):
        gravity = (G * np.sin(np.arctan(slope)), 0.0, -G * np.cos(np.arctan(slope)))
        engine.reset(Scene(robot='x', friction=0.5, gravity=gravity, physics_step=0.002), 0, 5)
        seen = step_through(engine, [applied_targets(engine.robot)] * 40)
        moved = seen[-1].body_poses[0, 0] - seen[20].body_poses[0, 0]
        assert (moved < 0.005) == stands


def overlapping_hinge() -> RobotModel:
    """Two boxes that overlap with a third on a chain of hinges, far above the ground."""
    links = [solid_box(name, (0.2, 0.1, 0.1), 1.0) for name in ('first', 'second', 'third')]
    joints = [
        Joint(
            name=f'{a}_{b}', kind='revolute', parent=a, child=b, xyz=(0.08, 0.0, 0.0),
            axis=(0.0, 0.0, 1.0), lower=-3.0, upper=3.0,
        )
        for a, b in (('first', 'second'), ('second', 'third'))
    ]  # fmt: skip
    base = one_joint_robot()
    names = tuple(joint.name for joint in joints)
    return replace(
        base, links=tuple(links), joints=tuple(joints), joint_names=names,
        actuators=dict.fromkeys(names, base.actuators['hinge']),
    )  # fmt: skip


def test_links_that_overlap_at_the_start_do_not_shake(engine_of):
    engine = engine_of(overlapping_hinge())
    scene = Scene(
        robot='x', fixed_base=True, gravity=(0.0, 0.0, 0.0), engine_options={'self_collision': 1}
    )
    engine.reset(scene, 0)
    end = step_through(engine, [applied_targets(engine.robot)] * 50)[-1]
    assert np.abs(end.joint_velocities).max() < 1e-3


@pytest.mark.parametrize('collide', [0, 1])
def test_self_collision_stops_a_folding_chain_only_where_it_is_asked_for(engine_of, collide):
    robot = overlapping_hinge()
    apart = tuple(replace(joint, xyz=(0.3, 0.0, 0.0)) for joint in robot.joints)
    engine = engine_of(replace(robot, joints=apart))
    scene = Scene(
        robot='x', fixed_base=True, gravity=(0.0, 0.0, 0.0),
        engine_options={'self_collision': collide},
    )  # fmt: skip
    engine.reset(scene, 0)
    end = step_through(engine, [applied_targets(engine.robot, effort=[0.5, 0.0])] * 60)[-1]
    # Turned by half a circle the third box would lie in the first.
    assert (end.joint_positions[0] < 2.9) == bool(collide)


def test_a_sole_that_is_a_frame_on_its_foot_counts_the_foot_as_its_contact(engine_of):
    robot = legged_box(2, 2)
    frame = replace(
        solid_box('frame', (0.01, 0.01, 0.01), 0.0), inertia=np.zeros((3, 3)), collisions=()
    )
    foot = robot.soles[1]
    joint = Joint(name='to_frame', kind='fixed', parent=foot, child='frame', xyz=(0.0, 0.0, -0.17))
    legs = (robot.legs[0], replace(robot.legs[1], sole='frame'))
    engine = engine_of(
        replace(robot, links=(*robot.links, frame), joints=(*robot.joints, joint), legs=legs)
    )
    rest = engine.reset(Scene(robot='x', physics_step=0.002), 0, settle_ticks=10)
    assert rest.contacts.soles == (robot.soles[0], 'frame')
    assert set(rest.contacts.sole.tolist()) == {0, 1}


def test_a_fixed_toe_and_its_shank_are_told_apart(engine_of):
    """A body that lies on its shank is not on its sole."""
    shank = solid_box('shank', (0.4, 0.1, 0.1), 1.0)
    toe = solid_box('toe', (0.05, 0.05, 0.05), 0.1)
    joint = Joint(name='ankle', kind='fixed', parent='shank', child='toe', xyz=(0.3, 0.0, 0.0))
    robot = replace(
        free_box(), links=(shank, toe), joints=(joint,),
        legs=(Leg(name='leg', joints=(), sole='toe'),),
    )  # fmt: skip
    rest = engine_of(robot).reset(Scene(robot='x'), 0, settle_ticks=50)
    assert set(rest.contacts.sole.tolist()) == {-1}


@pytest.mark.parametrize(
    ('robot', 'named'),
    [
        (
            replace(
                one_joint_robot(),
                force_elements=(
                    ForceElement(
                        name='s', kind='spring', link_a='post', point_a=(0, 0, 0), link_b='arm',
                        point_b=(0, 0, 0),
                    ),
                ),
            ),
            'spring',
        ),
        (replace(legged_box(1, 3), ball_joints={'hip': legged_box(1, 3).joint_names}), 'hip'),
    ],
)  # fmt: skip
def test_incomplete_parts_of_a_robot_are_refused_before_any_engine(robot, named):
    with pytest.raises(ConfigurationError, match=named):
        check_robot(robot)


@pytest.mark.parametrize(
    ('robot', 'named'),
    [
        (replace(free_box(), links=(solid_box('a', (1, 1, 1), 1.0), solid_box('b', (1, 1, 1), 1))),
         '2 root links'),
        (free_box(mass=0.0), "'box' has no mass"),
        (one_joint_robot(mass=0.0), "'arm' moves on joint 'hinge' but has no mass"),
    ],
)  # fmt: skip
def test_a_robot_that_the_engine_cannot_carry_is_refused_in_one_line(engine_of, robot, named):
    with pytest.raises(ConfigurationError) as caught:
        engine_of(robot).reset(Scene(robot='x'), 0)
    assert named in str(caught.value)
    assert '\n' not in str(caught.value)
