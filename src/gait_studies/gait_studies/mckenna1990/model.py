# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study mckenna1990: checks of the robot, its springs and its physics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.load import load_robot
from gait_core.robot.model import Actuator, Joint, RobotModel
from gait_core.testing.free_bodies import applied_targets, free_box
from gait_core.trial.setup import make_scene
from gait_tools.study.definition import StudyRow, row_at_least, row_at_most, row_near
from gait_tools.study.session import StudySession

ROBOT, ENGINE = 'roach', 'mujoco'
BELLY_HEIGHT = 0.00353
"""Height of the abdomen's centre over its lower face [m]."""
GRAVITY = 9.8

_PUBLISHED_TOES = {
    None: ((1.842, 1.010, -1.073), (0.510, 1.650, -1.552), (-1.018, 1.847, -1.839)),
    ((-0.7, -0.3, -0.2), (-0.25, -0.5, 0.2), (-0.1, 0.4, -0.35)): (
        (1.669, 1.070, -1.128),
        (0.878, 1.777, -1.508),
        (-0.104, 2.041, -1.717),
    ),
    ((-0.05, -0.3, 0.1), (0.25, -0.9, 0.8), (0.3, -0.2, 0.4)): (
        (1.363, 1.455, -1.187),
        (0.066, 1.928, -1.569),
        (-1.018, 1.847, -1.839),
    ),
}
"""Toes of left legs in the thorax frame [cm], front to back, by angles of joints 0 to 2."""


def measure_robot(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 1 to 5: numbers of bodies and joints, mass, length and toes."""
    roach = load_robot(ROBOT)
    random_angles = np.random.default_rng(session.derive_seed(0)).uniform(-0.8, 0.8, (3, 3))
    random_toes = _toe_positions(roach, random_angles)
    # The thesis prints hundredths of a millimetre.
    errors = [
        np.abs(100.0 * _toe_positions(roach, q)[::2] - toes).max()
        for q, toes in _PUBLISHED_TOES.items()
    ]
    return [
        row_near('check_1_bodies', 'bodies', float(len(roach.links)), 33.0, 0.0),
        row_near('check_1_joints', 'joints of one axis', float(len(roach.joint_names)), 32.0, 0.0),
        row_near('check_2', 'mass', 1000.0 * roach.mass, 2.1, 0.04 * 2.1, 'g'),
        row_near(
            'check_3',
            'distance from the abdomen to the head',
            100.0 * _body_length(roach),
            2.95,
            0.05,
            'cm',
        ),
        row_at_most(
            'check_4',
            'largest position error of a toe in three poses',
            10.0 * max(errors),
            0.02,
            'mm',
        ),
        row_at_most(
            'check_5',
            'largest distance of toes at mirrored angles from mirrored toes',
            float(np.abs(random_toes[1::2] - random_toes[::2] * [1.0, -1.0, 1.0]).max()),
            1e-9,
            'm',
        ),
    ]


def _toe_positions(roach: RobotModel, angles: Any) -> FloatArray:
    """Return the toes in the thorax frame, (6, 3) [m], in the order of the legs."""
    joints = roach.stance.copy()
    if angles is not None:
        for leg in roach.legs:
            side = 1.0 if leg.name[1] == 'l' else -1.0
            for name, angle in zip(leg.joints, angles['fmb'.index(leg.name[0])], strict=False):
                joints[roach.joint_index[name]] = side * angle
    poses = link_poses(roach, joints)
    thorax = np.linalg.inv(poses[roach.link_index['thorax']])
    return np.array(
        [
            (thorax @ poses[roach.link_index[leg.sole]] @ [*leg.sole_point, 1.0])[:3]
            for leg in roach.legs
        ]
    )


def _body_length(roach: RobotModel) -> float:
    poses, ends = link_poses(roach, roach.stance), []
    for link in ('abdomen', 'head'):
        row = roach.link_index[link]
        shape = roach.links[row].collisions[0]
        corners = np.array(shape.xyz) + 0.5 * np.array(shape.size) * [[-1, 0, 0], [1, 0, 0]]
        ends += (corners @ poses[row][:3, :3].T + poses[row][:3, 3])[:, 0].tolist()
    return float(max(ends) - min(ends))


def measure_physics(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 6, 9, 10 and 21 to 24: free fall, gantry, springs, drop, block."""
    stands, load, contact = _standing_measures(load_robot(ROBOT))
    sinks, _, _ = _standing_measures(_with_linear_springs(load_robot(ROBOT)))
    gantry = _gantry_accelerations()
    return [
        row_near(
            'check_6',
            'acceleration of a body in free fall',
            _fall_acceleration(),
            GRAVITY,
            0.0098,
            'm/s^2',
        ),
        # Eqs. 4 to 6: a_x = f_x / (m1 + m2), a_y = f_y / m1.
        row_near('check_9_x', 'gantry: acceleration over f / (m1 + m2)', gantry[0], 1.0, 1e-6),
        row_near('check_9_y', 'gantry: acceleration over f / m1', gantry[1], 1.0, 1e-6),
        row_at_most('check_10', 'largest relative error of a torque', _max_spring_error(), 1e-3),
        row_at_least(
            'check_21_height', 'height of the belly over the ground', 1000.0 * stands, 2.0, 'mm'
        ),
        row_near('check_21_load', 'normal force divided by the weight', load, 1.0, 0.05),
        row_at_most(
            'check_21_feet',
            'largest distance of a contact from its ankle; a foot is up to 3.5 mm long',
            1000.0 * contact,
            4.0,
            'mm',
        ),
        row_at_most(
            'check_22',
            'height of the belly on linear springs of equal stiffness at rest',
            1000.0 * sinks,
            1000.0 * stands - 3.0,
            'mm',
        ),
        *(
            row_near(
                f'check_23_{share:g}',
                f'rebound over the height of a fall, springs of the ground returning {share:g}',
                _rebound_ratio(share),
                share,
                0.05,
            )
            for share in (0.0, 0.5, 1.0)
        ),
        row_near(
            'check_24',
            'distance of a sliding block over v^2 / (2 mu g)',
            _sliding_ratio(),
            1.0,
            0.05,
        ),
    ]


def make_engine(model: RobotModel) -> Any:
    """Return an engine that simulates this model in place of the scene's robot."""
    return registry.engine(ENGINE)(lambda name, draw: model)


def _abdomen_robot() -> RobotModel:
    """Return a robot that consists of the abdomen, one box."""
    roach = load_robot(ROBOT)
    leg = replace(roach.legs[0], joints=(), sole='abdomen', sole_point=(0.0, 0.0, 0.0))
    return replace(
        roach,
        links=roach.links[:1],
        joints=(),
        joint_names=(),
        actuators={},
        legs=(leg,),
        mirror_pairs={},
        nominal_stance={},
        fall=None,
    )


def _fall_acceleration() -> float:
    body, engine = _abdomen_robot(), make_engine(_abdomen_robot())
    scene = make_scene(ROBOT, {'initial': {'clearance': 0.05}})
    observation = engine.reset(scene, 0)
    speeds = [observation.body_twists[0, 2]]
    for _ in range(120):
        speeds.append(engine.step(applied_targets(body)).body_twists[0, 2])
    engine.close()
    return float(speeds[0] - speeds[-1]) / (120 * scene.control_period)


def _rebound_ratio(share: float) -> float:
    """Return the height of a box's rebound from the ground's springs, over its drop height."""
    body, height = free_box(size=(0.01, 0.01, 0.01), mass=0.002), 0.02
    engine, step = make_engine(body), 1.0 / 76800.0
    scene = make_scene(
        ROBOT,
        {
            'contact_law': 'springs',
            'engine_options': {'ground_return': share},
            'physics_step': step,
            'control_period': 8 * step,
            'initial': {'clearance': height},
        },
    )
    heights = [engine.reset(scene, 0).body_poses[0, 2]]
    for _ in range(round(2.2 * (2.0 * height / GRAVITY) ** 0.5 / (8 * step))):
        heights.append(engine.step(applied_targets(body)).body_poses[0, 2])
    engine.close()
    rebound = max(heights[int(np.argmin(heights)) :]) - 0.005
    return float(max(0.0, rebound) / height)


def _gantry_accelerations() -> tuple[float, float]:
    """Return the accelerations of a two-axis gantry over their closed forms, x and y."""
    base, box = load_robot(ROBOT).links[:2]
    links = (base, replace(box, name='carriage'), replace(box, name='slide'))
    force = box.mass
    model = replace(
        _abdomen_robot(),
        links=links,
        joints=(
            _prismatic_joint('x', 'abdomen', 'carriage', (1.0, 0.0, 0.0)),
            _prismatic_joint('y', 'carriage', 'slide', (0.0, 1.0, 0.0)),
        ),
        joint_names=('x', 'y'),
        actuators={name: Actuator(kind='effort', constants={}) for name in 'xy'},
        nominal_stance={'x': 0.0, 'y': 0.0},
    )
    engine = make_engine(model)
    scene = make_scene(ROBOT, {'fixed_base': True, 'initial': {'clearance': 0.05}})
    engine.reset(scene, 0)
    for _ in range(10):
        observation = engine.step(applied_targets(model, effort=np.array([force, force])))
    engine.close()
    rate = np.asarray(observation.joint_velocities) / (10 * scene.control_period)
    return float(rate[0] * 2.0 * box.mass / force), float(rate[1] * box.mass / force)


def _prismatic_joint(
    name: str, parent: str, child: str, axis: tuple[float, float, float]
) -> Joint:
    """Return a prismatic joint with a range of +-1 m."""
    return Joint(
        name=name,
        kind='prismatic',
        parent=parent,
        child=child,
        axis=axis,
        lower=-1.0,
        upper=1.0,
    )


def _max_spring_error() -> float:
    """Return the largest relative error of the torques of hanging legs against Eq. 8."""
    roach = load_robot(ROBOT)
    # Ten times gravity: the deflections are large enough to tell exponential from linear springs.
    scene = make_scene(
        ROBOT,
        {
            'fixed_base': True,
            'gravity': [0.0, 0.0, -10.0 * GRAVITY],
            'initial': {'clearance': 0.05},
        },
    )
    engine = make_engine(roach)
    observation = engine.reset(scene, 0, round(0.3 / scene.control_period))
    engine.close()
    errors = []
    for name in (name for leg in roach.legs for name in leg.joints[:3]):
        row, has = roach.joint_index[name], roach.actuators[name].constants
        x = observation.joint_positions[row] - roach.nominal_stance[name]
        # Eq. 8: Q = -sgn(x) alpha (e^(beta |x|) - 1), x = q - q_rest.
        torque = -np.sign(x) * has['strength'] * np.expm1(has['rise'] * abs(x))
        errors.append(abs(observation.joint_efforts[row] / torque - 1.0))
    return float(max(errors))


def _with_linear_springs(roach: RobotModel) -> RobotModel:
    """Return the robot with almost linear springs of the same stiffness at rest."""
    actuators = {}
    for name, actuator in roach.actuators.items():
        if actuator.kind == 'exponential':
            stiff = actuator.constants['strength'] * actuator.constants['rise']
            constants = {**actuator.constants, 'strength': 1e3 * stiff, 'rise': 1e-3}
            actuator = Actuator(kind='exponential', constants=constants)
        actuators[name] = actuator
    return replace(roach, actuators=actuators)


def _standing_measures(model: RobotModel) -> tuple[float, float, float]:
    """Return belly height [m], load over weight, and largest contact distance from a foot [m]."""
    engine = make_engine(model)
    observation = engine.reset(make_scene(ROBOT, {'initial': {'clearance': 0.001}}), 0, 960)
    loads = []
    for _ in range(240):
        observation = engine.step(applied_targets(model, position=model.stance))
        loads.append(observation.contacts.forces[:, 2].sum())
    engine.close()
    poses = link_poses(model, observation.joint_positions[None], observation.body_poses[None])[0]
    ankles = np.array([poses[model.link_index[leg.sole]][:3, 3] for leg in model.legs])
    distances = np.linalg.norm(observation.contacts.points[:, None] - ankles, axis=2).min(axis=1)
    load = float(np.mean(loads)) / (model.mass * GRAVITY)
    return float(observation.body_poses[0, 2]) - BELLY_HEIGHT, load, float(distances.max())


def _sliding_ratio() -> float:
    """Return the sliding distance of a block after a push, over the closed form."""
    body, engine = _abdomen_robot(), make_engine(_abdomen_robot())
    friction, force = 0.7, 3.0 * body.mass * GRAVITY
    push = {'start': 0.05, 'duration': 0.01, 'force': [force, 0.0, 0.0]}
    scene = make_scene(ROBOT, {'friction': friction, 'pushes': [push]})
    engine.reset(scene, 0)
    positions, speeds = [], []
    for _ in range(round(0.2 / scene.control_period)):
        observation = engine.step(applied_targets(body))
        positions.append(observation.body_poses[0, 0])
        speeds.append(observation.body_twists[0, 0])
    engine.close()
    fastest = int(np.argmax(speeds))
    distance = positions[-1] - positions[fastest]
    return float(distance / (speeds[fastest] ** 2 / (2.0 * friction * GRAVITY)))
