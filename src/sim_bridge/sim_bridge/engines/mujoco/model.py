# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo model of a robot on its terrain, made through the model-editing interface."""

from __future__ import annotations

from collections.abc import Iterable
import math
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.height_field import HeightField
from gait_core.kinematics.frames import rotation_from_rpy
from gait_core.robot.model import SPHERICAL_KIND, ForceElement, Joint, Link, RobotModel, Shape
from gait_core.robot.urdf.meshes import mesh_hull
from gait_core.terrains import Terrain
from gait_core.trial.scene import Scene
from sim_bridge.engines.mujoco.client import mj
from sim_bridge.engines.mujoco.options import MujocoOptions
from sim_bridge.engines.shared.merged_joints import MergedRobot
from sim_bridge.engines.shared.rotations import quaternion_from_matrix

GROUND_NAME = 'ground'
"""Name of the ground's geometry."""
MAX_IMPEDANCE = 0.9999
"""Impedance of joint limits and of mimic joints: the largest that MuJoCo accepts."""
MIN_INERTIA = 1e-12
"""Mass [kg] and moment of inertia [kg m^2] of a massless link that carries others."""
MIN_SIZE = 1e-9
"""Length [m] of a side or radius of zero, such as that of a point."""
MIN_RANGE = 1e-9
"""Range [rad or m] of a joint whose limits are equal."""
GROUND_THICKNESS = 1.0
"""Thickness [m] of a height field below its lowest point."""
MAX_FRICTION = 100.0
"""Largest friction coefficient; at 1000 the feet of a walking a1 sink in by 0.18 m."""
MAX_MEMORY = 1 << 30
"""Limit of the solver's memory [bytes]; the system only provides the pages that are used."""
_MIN_MEMORY = 1 << 24


def build_model(
    merged_robot: MergedRobot,
    scene: Scene,
    options: MujocoOptions,
    terrain: Terrain,
    excluded_pairs: Iterable[tuple[str, str]] = (),
) -> Any:
    """
    Return the compiled model: the ground, then the robot with its root at the origin.

    Parameters
    ----------
    merged_robot : MergedRobot
        The robot with merged joints.
    scene : Scene
        Friction, restitution, gravity, physics step and fixed base; the initial state is not used.
    options : MujocoOptions
    terrain : Terrain
        Terrain of the scene.
    excluded_pairs : pairs of link names
        Links that do not collide with each other.

    Raises
    ------
    ConfigurationError
        If MuJoCo cannot build the robot (the message has its reason), or has no such friction or
        restitution (the message names the nearest valid value).

    """
    if scene.friction > MAX_FRICTION:
        raise ConfigurationError(
            f"engine 'mujoco' cannot simulate a friction of {scene.friction:g}; nearest valid: "
            f'{MAX_FRICTION:g}'
        )
    robot = merged_robot.robot
    spec = mj.MjSpec()
    spec.modelname = 'scene'
    spec.compiler.degree = False
    spec.compiler.boundmass = spec.compiler.boundinertia = MIN_INERTIA
    _set_options(spec, scene, options)
    add_ground(spec, terrain)
    bodies: dict[str, Any] = {}
    parent = {joint.child: joint for joint in robot.joints}
    for link in robot.links:
        bodies[link.name] = _add_link(spec, bodies, link, parent.get(link.name), scene, options)
    _add_collisions(spec, bodies, robot, scene, options)
    _couple_mimics(spec, robot, scene)
    for element in robot.force_elements:
        _add_element(spec, bodies, element, merged_robot)
    for a, b in (*((joint.parent, joint.child) for joint in robot.joints), *excluded_pairs):
        spec.add_exclude(bodyname1=body_name(a), bodyname2=body_name(b))
    spec.memory = min(_solver_memory(spec, robot, bool(options.self_collision)), MAX_MEMORY)
    try:
        return spec.compile()
    except ValueError as error:
        reason = ' '.join(str(error).split())
        raise ConfigurationError(
            f"robot '{robot.name}': MuJoCo cannot build it: {reason}"
        ) from None


def _solver_memory(spec: Any, robot: RobotModel, collide: bool) -> int:
    """
    Return an upper bound of the solver's memory [bytes]: MuJoCo ends the process if it runs out.

    Every pair of shapes is counted with the largest number of contacts that MuJoCo finds for one
    pair. A contact with its three rows takes about 1200 bytes, and 72 for each degree of freedom;
    both are doubled here. A shape in the search for pairs takes less than 16 KiB.
    """
    shapes, freedoms = len(spec.geoms), 6 + len(robot.joints)
    pairs = shapes * (shapes if collide else 2) // 2
    contacts = int(mj.mjMAXCONPAIR) * pairs * (2400 + 144 * freedoms)
    return _MIN_MEMORY + contacts + 64 * freedoms**2 + 16384 * shapes


def _set_options(spec: Any, scene: Scene, options: MujocoOptions) -> None:
    """Set integrator, solver and gravity of a model."""
    option = spec.option
    option.timestep = scene.physics_step
    option.gravity = scene.gravity
    option.integrator = (
        mj.mjtIntegrator.mjINT_IMPLICITFAST if options.implicit else mj.mjtIntegrator.mjINT_EULER
    )
    option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    option.solver = mj.mjtSolver.mjSOL_NEWTON
    # For the tree of a robot sparse algebra is faster far below the size at which MuJoCo would
    # choose it.
    option.jacobian = mj.mjtJacobian.mjJAC_SPARSE
    option.impratio = options.impedance_ratio
    option.iterations = options.iterations
    option.ls_iterations = options.line_iterations
    option.tolerance = options.tolerance
    # Without AUTORESET a diverged state is reported; with it MuJoCo would replace it by the
    # initial one. Without ISLAND the solver uses the rows that ``constraint_kernel`` writes;
    # islands are copies.
    option.disableflags = mj.mjtDisableBit.mjDSBL_AUTORESET | mj.mjtDisableBit.mjDSBL_ISLAND


def _contact_solref(scene: Scene, options: MujocoOptions) -> tuple[float, float]:
    """Return time constant [s] and damping ratio (``solref``) of contacts."""
    if scene.restitution == 0.0:
        return inelastic_solref(options.contact_recovery, scene.physics_step)
    ratio = damping_ratio(scene.restitution)
    # An impact must last several steps, or the rebound would depend on the phase of the step at
    # which it begins: natural frequency 0.2 / h.
    frequency = 0.2 / scene.physics_step
    return (1.0 / (frequency * ratio), ratio)


def constant_solimp(impedance: float) -> tuple[float, float, float, float, float]:
    """Return the parameters ``solimp`` of a constraint of one impedance at any error."""
    return impedance, impedance, 1e-3, 0.5, 2.0


def inelastic_solref(recovery: float, step: float) -> tuple[float, float]:
    """
    Return time constant [s] and damping ratio (``solref``) of a constraint without rebound.

    The damping stops a motion into the constraint within one physics step. With that damping the
    stiffness makes the error decay with the time constant ``recovery`` [s].
    """
    # MuJoCo: damping b = 2 / time, stiffness k = 1 / (time ratio)^2. The overdamped error decays
    # at the rate k / b = 1 / recovery, hence ratio = sqrt(recovery / (2 time)). MuJoCo takes no
    # time below two steps.
    time = 2.0 * step
    return time, max(math.sqrt(recovery / (2.0 * time)), 1.0)


def damping_ratio(restitution: float) -> float:
    """
    Return the damping ratio of a spring and damper between bodies that gives a restitution.

    The bodies separate when the force between them becomes zero, which is before the spring has
    its first length again. The lowest restitution is exp(-2) = 0.135, of the critically damped
    contact.

    Raises
    ------
    ConfigurationError
        If the restitution is not below 1, or below the lowest; the message names the nearest.

    References
    ----------
    Schwager and Poeschel (2007), Granular Matter 9:465-469.

    """
    lowest = math.exp(-2.0)
    highest = 0.99
    if not lowest <= restitution <= highest:
        # Rounded upwards, so that the value in the message is valid.
        valid = math.ceil(lowest * 1e3) / 1e3 if restitution > 0.5 * lowest else 0.0
        raise ConfigurationError(
            f"engine 'mujoco' cannot simulate a restitution of {restitution:g}; nearest valid: "
            f'{highest if restitution > highest else valid:.3g}'
        )
    # Bisection: the restitution falls as the damping ratio grows.
    low, high = 1e-6, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _restitution_from_damping(middle) > restitution:
            low = middle
        else:
            high = middle
    return high


def _restitution_from_damping(ratio: float) -> float:
    """Return the restitution of a damping ratio D < 1."""
    # Schwager and Poeschel (2007): e = exp(-D / w atan2(2 D w, 2 D^2 - 1)), w = sqrt(1 - D^2), the
    # time of separation being the first zero of the force; 1e-18 gives the limit D -> 1.
    damped = math.sqrt(max(1.0 - ratio * ratio, 1e-18))
    return math.exp(-ratio / damped * math.atan2(2.0 * ratio * damped, 2.0 * ratio**2 - 1.0))


def _add_collisions(
    spec: Any, bodies: dict[str, Any], robot: RobotModel, scene: Scene, options: MujocoOptions
) -> None:
    """
    Add the collision shapes of all links, and a contact pair of each with the ground.

    MuJoCo checks explicit pairs faster than those that it collects by contact types. Links that
    a fixed base holds get no pair.
    """
    contact = _contact_solref(scene, options)
    held = _fixed_links(robot) if scene.fixed_base else set()
    for link in robot.links:
        for index, shape in enumerate(link.collisions):
            geom = _add_shape(spec, bodies[link.name], shape)
            geom.name = f'{link.name}/{index}'
            geom.contype = geom.conaffinity = options.self_collision
            _set_surface(geom, scene, options, contact)
            geom.friction = (scene.friction, 0.0, 0.0)
            if link.name not in held:
                pair = spec.add_pair(geomname1=GROUND_NAME, geomname2=geom.name)
                _set_surface(pair, scene, options, contact)
                pair.friction = (scene.friction, scene.friction, 0.0, 0.0, 0.0)


def _fixed_links(robot: RobotModel) -> set[str]:
    """Return the links that are connected to the root by fixed joints alone."""
    held = set(robot.roots)
    fixed = {joint.child: joint.parent for joint in robot.joints if joint.kind == 'fixed'}
    for link in robot.links:
        if fixed.get(link.name) in held:
            held.add(link.name)
    return held


def _set_surface(
    surface: Any, scene: Scene, options: MujocoOptions, contact: tuple[float, float]
) -> None:
    # MuJoCo raises a friction of 0 to a small value; a contact of dimension 1 has no friction.
    surface.condim = 3 if scene.friction > 0.0 else 1
    surface.solref = contact
    surface.solimp = constant_solimp(options.contact_impedance)


def add_ground(spec: Any, terrain: Terrain) -> None:
    """Add a terrain's geometry; it collides only in explicit pairs."""
    field = terrain.heightfield
    geom = spec.worldbody.add_geom(name=GROUND_NAME, contype=0, conaffinity=0)
    if field is None:
        geom.type = mj.mjtGeom.mjGEOM_PLANE
        geom.size = (0.0, 0.0, 1.0)
        return
    add_height_field(spec, geom, field)


def add_height_field(spec: Any, geom: Any, field: HeightField) -> None:
    """
    Give a geometry the surface of a height field, with the same triangles.

    MuJoCo splits a cell along the other diagonal than ``HeightField``. Hence the grid is turned by
    90 degrees, and the geometry back by 90 degrees.
    """
    heights = field.heights.T[::-1]
    low, span = float(heights.min()), float(np.ptp(heights))
    rows, columns = heights.shape
    width, depth = field.size
    spec.add_hfield(
        name=GROUND_NAME,
        size=(0.5 * depth, 0.5 * width, span or 1.0, GROUND_THICKNESS),
        nrow=rows,
        ncol=columns,
        userdata=((heights - low) / (span or 1.0)).ravel(),
    )
    geom.type = mj.mjtGeom.mjGEOM_HFIELD
    geom.hfieldname = GROUND_NAME
    geom.pos = (*field.centre, low)
    geom.quat = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))


def body_name(link: str) -> str:
    """Return the name of a link's body, never MuJoCo's own ``world``."""
    return f'link/{link}'


def _add_link(
    spec: Any,
    bodies: dict[str, Any],
    link: Link,
    joint: Joint | None,
    scene: Scene,
    options: MujocoOptions,
) -> Any:
    """Add a link below its parent, with the joint between them; return its MuJoCo body."""
    parent = spec.worldbody if joint is None else bodies[joint.parent]
    body = parent.add_body(name=body_name(link.name))
    body.explicitinertial = True
    body.mass = link.mass
    body.ipos = link.com
    i = link.inertia
    if i.any():
        body.fullinertia = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
    if joint is None:
        if not scene.fixed_base:
            body.add_freejoint()
        return body
    body.pos = joint.xyz
    body.quat = _wxyz_from_rpy(joint.rpy)
    if joint.kind != 'fixed':
        _add_joint(body, joint, scene, options)
    return body


def _add_joint(body: Any, joint: Joint, scene: Scene, options: MujocoOptions) -> None:
    """Add a joint to its child's body, with damping, friction and limits."""
    is_slide = joint.kind == 'prismatic'
    if joint.kind == SPHERICAL_KIND:
        body.add_joint(name=joint.name, type=mj.mjtJoint.mjJNT_BALL, armature=options.armature)
        return
    new_joint = body.add_joint(
        name=joint.name,
        type=mj.mjtJoint.mjJNT_SLIDE if is_slide else mj.mjtJoint.mjJNT_HINGE,
        axis=joint.axis,
    )
    new_joint.damping = (joint.damping, 0.0, 0.0)
    new_joint.armature = options.armature
    new_joint.solref_friction = (2.0 * scene.physics_step, 1.0)
    new_joint.solimp_friction = constant_solimp(options.servo_impedance)
    new_joint.solref_limit = inelastic_solref(options.limit_recovery, scene.physics_step)
    new_joint.solimp_limit = constant_solimp(MAX_IMPEDANCE)
    has_limits = joint.kind != 'continuous' and (
        math.isfinite(joint.lower) or math.isfinite(joint.upper)
    )
    new_joint.limited = (
        mj.mjtLimited.mjLIMITED_TRUE if has_limits else mj.mjtLimited.mjLIMITED_FALSE
    )
    if has_limits:
        # MuJoCo has no range of length zero, which holds a joint in place.
        lower, upper = max(joint.lower, -1e9), min(joint.upper, 1e9)
        new_joint.range = (lower, max(upper, lower + MIN_RANGE))


def _add_shape(spec: Any, body: Any, shape: Shape) -> Any:
    """Add a collision shape to a body; return its MuJoCo geom."""
    geom = body.add_geom(pos=shape.xyz, quat=_wxyz_from_rpy(shape.rpy))
    types, size = mj.mjtGeom, np.maximum(shape.size, MIN_SIZE)
    if shape.kind == 'box':
        geom.type, geom.size = types.mjGEOM_BOX, 0.5 * size
    elif shape.kind == 'sphere':
        geom.type, geom.size = types.mjGEOM_SPHERE, (size[0], 0.0, 0.0)
    elif shape.kind in ('cylinder', 'capsule'):
        geom.type = types.mjGEOM_CYLINDER if shape.kind == 'cylinder' else types.mjGEOM_CAPSULE
        geom.size = (size[0], 0.5 * size[1], 0.0)
    else:
        geom.type, geom.meshname = types.mjGEOM_MESH, _add_mesh(spec, shape)
    return geom


def _add_mesh(spec: Any, shape: Shape) -> str:
    """Add the convex hull of a mesh file, computed here because MuJoCo reads fewer formats."""
    name = f'mesh{len(spec.meshes)}'
    vertices, _ = mesh_hull(shape.file)
    mesh = spec.add_mesh(name=name)
    mesh.uservert = (vertices * np.array(shape.size)).ravel()
    mesh.inertia = mj.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    return name


def _couple_mimics(spec: Any, robot: RobotModel, scene: Scene) -> None:
    """Couple every mimic joint to the joint that it follows, by an equality."""
    for joint in robot.joints:
        if joint.mimic is not None:
            equality = spec.add_equality(
                type=mj.mjtEq.mjEQ_JOINT,
                objtype=mj.mjtObj.mjOBJ_JOINT,
                name1=joint.name,
                name2=joint.mimic.joint,
            )
            equality.data[:5] = (joint.mimic.offset, joint.mimic.multiplier, 0.0, 0.0, 0.0)
            equality.solref = (2.0 * scene.physics_step, 1.0)
            equality.solimp = constant_solimp(MAX_IMPEDANCE)


def _add_element(
    spec: Any, bodies: dict[str, Any], element: ForceElement, merged_robot: MergedRobot
) -> None:
    """Add a tendon between two points, and an actuator whose control is its tension."""
    tendon = spec.add_tendon(name=element.name)
    for end, link, point in (
        ('a', element.link_a, element.point_a),
        ('b', element.link_b, element.point_b),
    ):
        frame = merged_robot.frames[link].compose(point, (0.0, 0.0, 0.0))
        site = f'{element.name}/{end}'
        bodies[frame.link].add_site(name=site, pos=frame.position)
        tendon.wrap_site(site)
    motor = spec.add_actuator(
        name=element.name, target=element.name, trntype=mj.mjtTrn.mjTRN_TENDON
    )
    motor.set_to_motor()
    # A positive tension shortens the tendon; a positive force of MuJoCo lengthens it.
    motor.gear[0] = -1.0


def _wxyz_from_rpy(rpy: Iterable[float]) -> FloatArray:
    x, y, z, w = quaternion_from_matrix(rotation_from_rpy(tuple(rpy)))
    return np.array([w, x, y, z])
