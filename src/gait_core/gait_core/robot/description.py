"""
The file ``robot.yaml``: what a URDF does not say about a robot.

Every key is optional; whatever is absent is inferred (``infer.py``)::

    name: guroo                        # default: the folder's name
    urdf: guroo.urdf.xacro             # file in the folder, or MODULE:path in a Python package;
                                       # default: <folder name>.urdf.xacro or .urdf
    root_rpy: [0, 0, 0]                # rad; attitude of the file's root frame in the base frame
                                       # (x forward, y left, z up), for files with other axes
    joints: [l_hip, r_hip]             # actuated joints: the order of every joint array;
                                       # moving joints not listed stay passive
    limits:                            # joint name or regular expression: fields of the joint
      '.*_hip': {lower: -1, upper: 1, velocity: 5, effort: 40, damping: 0, friction: 0}
    actuators:                         # kind and constants of gait_core.robot.model.Actuator
      default: {kind: position, gain: 20}
      joints: {'.*_hip': {kind: pd, stiffness: 80, damping: 2},
               tail: {kind: exponential, strength: 0.5, rise: 6, damping: 0.1}}
    legs:
      - {name: l, joints: [l_hip], sole: l_foot, sole_point: [0, 0, -0.02]}
    bodies:                            # several free bodies, each of one link, in place of a urdf
      - {name: t1, urdf: tetra.urdf.xacro}            # a file whose only link is the body
      - name: ball                                    # or all of it here, SI units
        xyz: [0.3, 0, 0]               # where it lies at first: frame in the base frame [m]
        rpy: [0, 0, 0]                 # rad
        mass: 0.1
        com: [0, 0, 0]
        inertia: [4e-5, 4e-5, 4e-5]    # about the centre of mass: ixx, iyy, izz
        visuals: [{kind: sphere, size: [0.03], rgba: [1, 0, 0, 1]}]     # and collisions
    contact_nodes:                     # points that feel the ground, in place of collision shapes
      - {name: ball_foot, link: ball, point: [0, 0, -0.03], radius: 0.0}
    signals: {signal_1: [muscle]}      # in order: joints and force elements that share a signal
    force_elements:                    # kind and constants of gait_core.robot.model.ForceElement
      - {name: muscle, kind: linear_servo, link_a: torso, point_a: [0, 0.1, 0],
         link_b: l_foot, point_b: [0, 0, 0], constants: {stiffness: 1100, damping: 30}}
    ball_joints:                       # three joints in one point, about axes at right angles;
      l_ankle: [l_ankle_x, l_ankle_y, l_ankle_z]     # their links in between have no mass
    mirror:
      prefixes: [[l_, r_]]             # counterparts differ by these; signs follow from geometry
      pairs: [[torso_yaw, torso_yaw], [l_arm, r_arm, -1]]
    nominal_stance: {'.*_hip': 0.2}    # rad or m; a force element's rest or set length, which
                                       # by default is its length in this stance
    fall:                            # null: never counts as fallen
      max_tilt: 1.0
      min_height_ratio: 0.5
      pose: {'.*_knee': 1.2}         # into which a fallen robot moves when run live; others hold
    imu_link: torso
    sensors:                         # simulated where asked for; frames x forward, y left, z up
      - {name: lidar, kind: lidar, link: torso, xyz: [0, 0, 0.1], rpy: [0, 0, 0], rate: 10,
         range: [0.1, 12], noise: 0.01, azimuth: [-3.1416, 3.1416], columns: 360,
         elevation: [-0.2, 0.2], rows: 8}    # rad; of one row: a plane scan
      - {name: camera, kind: depth_camera, link: torso, xyz: [0.1, 0, 0], rate: 10,
         range: [0.2, 5], field_of_view: 1.2, columns: 64, rows: 48}
    length_scale: 0.62                 # m; default: height of the root link in the stance
    defaults:
      controller: stage_walk
      preset: levelled
      gait: {frequency: 2.0}           # parameters of that controller, over those of the preset
      scene: {physics_step: 0.001}     # fields of gait_core.scene.Scene
      engines: {bullet: {solver_iterations: 100}}
      physics_steps: {bullet: 0.0005}  # s; where an engine needs another than scene says
      terrains: {steps: {height: 0.002, length: 0.01}}     # parameters where the user gives none
      command: [0.3, 0, 0]             # m/s, m/s, rad/s, when the user gives none
      duration: 20                     # s
      settle_time: 0.5                 # s

Where several patterns match a joint, the last one holds.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.errors import ConfigurationError, unknown
from gait_core.names import unmatched
from gait_core.robot.frames import inertia_in, rotation, rpy_of
from gait_core.robot.infer import (
    actuated_names,
    infer_legs,
    infer_mirror_pairs,
    mirror_sign,
    neutral_stance,
)
from gait_core.robot.kinds import ACTUATORS
from gait_core.robot.model import (
    Actuator,
    ContactNode,
    FallCriterion,
    ForceElement,
    Joint,
    Leg,
    Link,
    RobotModel,
    Shape,
    limit_fault,
)
from gait_core.robot.patterns import matching
from gait_core.robot.range_sensor import read_sensors
from gait_core.robot.urdf import Tree
from gait_core.robot.yaml_reader import Section, by_pattern
from gait_core.scene import NOTHING, Scene
from gait_core.schema import read_value

_KEYS = (
    'name',
    'urdf',
    'root_rpy',
    'joints',
    'limits',
    'actuators',
    'legs',
    'bodies',
    'contact_nodes',
    'signals',
    'force_elements',
    'ball_joints',
    'mirror',
    'nominal_stance',
    'fall',
    'imu_link',
    'sensors',
    'length_scale',
    'defaults',
)
_LIMITS = ('lower', 'upper', 'velocity', 'effort', 'damping', 'friction')
_SCENE_FIELDS = tuple(field.name for field in dataclasses.fields(Scene) if field.name != 'robot')


def describe(
    tree: Tree, given: Section, source: Path, assembly: Mapping[str, Any] = NOTHING
) -> RobotModel:
    """
    Return the robot of a tree of links and what ``robot.yaml`` says about it.

    Parameters
    ----------
    tree : Tree
        Of one root, or of several, as ``bodies.read_bodies`` gives it with the assembly.
    given : Section
        The content of robot.yaml; an empty one lets everything be inferred.
    source : Path
        The file or folder that the robot is read from.
    assembly : mapping
        As of RobotModel.

    Raises
    ------
    ConfigurationError
        For unknown keys or names (with the nearest valid one) and values that do not fit.

    """
    given.allow(*_KEYS)
    if 'root_rpy' in given:
        tree = _turned(tree, given.triple('root_rpy'))
    tree = _with_limits(tree, given.section('limits'))
    names = _joint_names(tree, given)
    elements = tuple(_force_element(item) for item in given.sections('force_elements'))
    targets = (*names, *(element.name for element in elements))
    stance = {name: value for name, value in neutral_stance(tree).items() if name in names}
    stance.update(
        by_pattern(
            given.section('nominal_stance').numbers(), targets, f'{given.where}: nominal_stance'
        )
    )
    robot = RobotModel(
        name=given.text('name', source.stem.removesuffix('.urdf')),
        links=tree.links,
        joints=tree.joints,
        joint_names=names,
        actuators=_actuators(given.section('actuators'), names),
        force_elements=elements,
        signals=_signals(given.section('signals')),
        contact_nodes=tuple(map(_contact_node, given.sections('contact_nodes'))),
        assembly=assembly,
        ball_joints=_ball_joints(given.section('ball_joints')),
        nominal_stance=stance,
        fall=_fall(given, names),
        imu_link=given.text('imu_link', ''),
        sensors=read_sensors(given, [link.name for link in tree.links]),
        defaults=_defaults(given.section('defaults')),
        source=str(source),
    )
    legs = tuple(map(_leg, given.sections('legs'))) if 'legs' in given else infer_legs(robot)
    return dataclasses.replace(robot, legs=legs, mirror_pairs=_mirror_pairs(robot, given))


def _joint_names(tree: Tree, given: Section) -> tuple[str, ...]:
    valid = actuated_names(tree)
    names = given.texts('joints') if 'joints' in given else valid
    if not set(names) <= set(valid):
        raise ConfigurationError(f'{given.where}: joints: {unmatched("joint", names, valid)}')
    return names


def _with_limits(tree: Tree, given: Section) -> Tree:
    values = {}
    for pattern in given.content:
        limits = given.section(pattern)
        limits.allow(*_LIMITS)
        values[pattern] = limits.numbers()
    # Unlike whole values, single fields of several patterns add up.
    joints = {joint.name: joint for joint in tree.joints}
    for pattern, fields in values.items():
        for name in matching(pattern, actuated_names(tree), given.where):
            changed: Any = fields
            joints[name] = dataclasses.replace(joints[name], **changed)
            fault = limit_fault(joints[name])
            if fault:
                raise ConfigurationError(f"{given.where}: '{pattern}': joint '{name}' {fault}")
    return dataclasses.replace(tree, joints=tuple(joints.values()))


def _actuator(given: Section) -> Actuator:
    kind = given.text('kind', 'position')
    if kind not in ACTUATORS:
        raise ConfigurationError(f'{given.where}: {unknown("actuator", kind, ACTUATORS)}')
    constants = Section(
        {key: value for key, value in given.content.items() if key != 'kind'}, given.where
    )
    return Actuator(kind=kind, constants=constants.numbers())


def _actuators(given: Section, names: tuple[str, ...]) -> dict[str, Actuator]:
    given.allow('default', 'joints')
    default = _actuator(given.section('default'))
    joints = given.section('joints')
    chosen = {pattern: _actuator(joints.section(pattern)) for pattern in joints.content}
    return {**dict.fromkeys(names, default), **by_pattern(chosen, names, joints.where)}


def _leg(given: Section) -> Leg:
    given.allow('name', 'joints', 'sole', 'sole_point')
    return Leg(
        name=given.text('name'),
        joints=given.texts('joints'),
        sole=given.text('sole'),
        sole_point=given.triple('sole_point', (0.0, 0.0, 0.0)),
    )


def _force_element(given: Section) -> ForceElement:
    given.allow('name', 'kind', 'link_a', 'point_a', 'link_b', 'point_b', 'constants')
    return ForceElement(
        name=given.text('name'),
        kind=given.text('kind'),
        link_a=given.text('link_a'),
        point_a=given.triple('point_a', (0.0, 0.0, 0.0)),
        link_b=given.text('link_b'),
        point_b=given.triple('point_b', (0.0, 0.0, 0.0)),
        constants=given.section('constants').numbers(),
    )


def _contact_node(given: Section) -> ContactNode:
    given.allow('name', 'link', 'point', 'radius')
    return ContactNode(
        name=given.text('name'),
        link=given.text('link'),
        point=given.triple('point', (0.0, 0.0, 0.0)),
        radius=given.number('radius', 0.0),
    )


def _signals(given: Section) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, given.texts(name)) for name in given.content)


def _ball_joints(given: Section) -> dict[str, tuple[str, str, str]]:
    found = {}
    for name in given.content:
        joints = given.texts(name)
        if len(joints) != 3:
            raise ConfigurationError(
                f"{given.where}: ball joint '{name}' lists {len(joints)} joints, expected 3"
            )
        found[name] = (joints[0], joints[1], joints[2])
    return found


def _fall(given: Section, joints: tuple[str, ...]) -> FallCriterion | None:
    if given.content.get('fall', '') is None:
        return None
    fall = given.section('fall')
    fall.allow('max_tilt', 'min_height_ratio', 'pose')
    pose = fall.section('pose')
    usual = FallCriterion()
    return FallCriterion(
        max_tilt=fall.number('max_tilt', usual.max_tilt),
        min_height_ratio=fall.number('min_height_ratio', usual.min_height_ratio),
        pose=by_pattern(pose.numbers(), joints, pose.where),
    )


def _mirror_pairs(robot: RobotModel, given: Section) -> dict[str, tuple[str, float]]:
    if 'mirror' not in given:
        return infer_mirror_pairs(robot)
    mirror = given.section('mirror')
    mirror.allow('prefixes', 'pairs')
    pairs: dict[str, tuple[str, float]] = {}
    for prefixes in mirror.lists('prefixes'):
        if len(prefixes) != 2:
            raise ConfigurationError(f'{mirror.where}: prefixes {prefixes}, expected two')
        left, right = map(str, prefixes)
        for name in robot.joint_names:
            other = right + name.removeprefix(left)
            if name.startswith(left) and other in robot.joint_index:
                _pair(robot, pairs, [name, other], mirror.where)
    for listed in mirror.lists('pairs'):
        _pair(robot, pairs, listed, mirror.where)
    return {name: pairs[name] for name in robot.joint_names if name in pairs}


def _pair(
    robot: RobotModel,
    pairs: dict[str, tuple[str, float]],
    listed: list[Any],
    where: str,
) -> None:
    if len(listed) not in (2, 3):
        raise ConfigurationError(f'{where}: pair {listed}, expected two joints and maybe a sign')
    name, other = str(listed[0]), str(listed[1])
    for joint in (name, other):
        if joint not in robot.joint_index:
            raise ConfigurationError(f'{where}: {unknown("joint", joint, robot.joint_names)}')
    sign = listed[2] if len(listed) == 3 else mirror_sign(robot, name, other)
    if sign not in (1, -1):
        raise ConfigurationError(
            f"{where}: the axes of '{name}' and '{other}' do not mirror each other; write the "
            'sign 1 or -1 behind the pair'
        )
    pairs[name], pairs[other] = (other, float(sign)), (name, float(sign))


def _defaults(given: Section) -> Mapping[str, Any]:
    given.allow(
        'scene', 'controller', 'preset', 'gait', 'engines', 'physics_steps', 'terrains', 'command',
        'duration', 'settle_time',
    )  # fmt: skip
    scene = given.section('scene')
    scene.allow(*_SCENE_FIELDS)
    try:
        read_value(Scene, {'robot': '', **scene.content}, 'scene')
    except ConfigurationError as error:
        raise ConfigurationError(f'{given.where}: {error}') from error
    engines, terrains = given.section('engines'), given.section('terrains')
    return {
        'scene': {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in scene.content.items()
        },
        'controller': given.text('controller', ''),
        'preset': given.text('preset', ''),
        'gait': dict(given.section('gait').content),
        'engines': {name: engines.section(name).numbers() for name in engines.content},
        'physics_steps': given.section('physics_steps').numbers(),
        'terrains': {name: terrains.section(name).numbers() for name in terrains.content},
        'command': given.triple('command', (0.0, 0.0, 0.0)),
        'duration': given.number('duration', 10.0),
        'settle_time': given.number('settle_time', 0.0),
    }


def _turned(tree: Tree, rpy: tuple[float, float, float]) -> Tree:
    """Return the tree with its root frames turned, so that ``rpy`` places what they carry."""
    turn = rotation(rpy)
    children = {joint.child for joint in tree.joints}
    roots = {link.name for link in tree.links if link.name not in children}

    def placed(item: Shape | Joint) -> Any:
        """Return what is fixed to a root as the turned root has it."""
        x, y, z = (turn @ np.array(item.xyz)).tolist()
        return dataclasses.replace(item, xyz=(x, y, z), rpy=rpy_of(turn @ rotation(item.rpy)))

    def turned(link: Link) -> Link:
        """Return a root in its turned frame."""
        return dataclasses.replace(
            link,
            com=turn @ link.com,
            inertia=inertia_in(link.inertia, rpy),
            collisions=tuple(map(placed, link.collisions)),
            visuals=tuple(map(placed, link.visuals)),
        )

    return dataclasses.replace(
        tree,
        links=tuple(turned(link) if link.name in roots else link for link in tree.links),
        joints=tuple(placed(joint) if joint.parent in roots else joint for joint in tree.joints),
    )
