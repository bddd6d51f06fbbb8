# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bodies whose motion has a closed form, to test every physics engine against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Engine
from gait_core.errors import SimulationDiverged
from gait_core.motion.observation import Observation
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTargets
from gait_core.robot.model import Actuator, ForceElement, Joint, Leg, Link, RobotModel, Shape

NO_CONSTANTS: Mapping[str, float] = {}


def free_box(
    size: tuple[float, float, float] = (0.2, 0.2, 0.2),
    mass: float = 2.0,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    inertia: FloatArray | None = None,
) -> RobotModel:
    """Return one box without joints; its sole is itself. Default inertia: solid."""
    box = solid_box('box', size, mass, com, inertia)
    return RobotModel(
        name='free_box',
        links=(box,),
        joints=(),
        joint_names=(),
        actuators={},
        legs=(Leg(name='box', joints=(), sole='box'),),
        fall=None,
    )


def free_ball(radius: float = 0.05, mass: float = 1.0) -> RobotModel:
    """Return one solid ball without joints; its sole is itself."""
    ball = Link(
        name='ball',
        mass=mass,
        com=np.zeros(3),
        inertia=0.4 * mass * radius**2 * np.eye(3),
        collisions=(Shape(kind='sphere', size=(radius,)),),
    )
    return RobotModel(
        name='free_ball',
        links=(ball,),
        joints=(),
        joint_names=(),
        actuators={},
        legs=(Leg(name='ball', joints=(), sole='ball'),),
        fall=None,
    )


def one_joint_robot(
    kind: str = 'effort',
    constants: Mapping[str, float] = NO_CONSTANTS,
    *,
    mass: float = 1.0,
    com: Sequence[float] = (0.0, 0.0, -0.5),
    inertia: float | FloatArray = 1e-4,
    joint: str = 'revolute',
    **limits: Any,
) -> RobotModel:
    """
    Return a post with one link on a joint about, or along, y; it touches nothing.

    Parameters
    ----------
    kind, constants
        The joint's actuator.
    mass, com, inertia : float [kg], (3,) [m], float or (3, 3) array [kg m^2]
        Of the moving link; a float is spherical.
    joint : str
        ``revolute``, ``continuous`` or ``prismatic``.
    **limits
        Fields of Joint: ``lower``, ``velocity``, ``effort``, ``damping``, ``friction``, ...

    """
    moving = Link(
        name='arm',
        mass=mass,
        com=np.array(com),
        inertia=inertia * np.eye(3) if isinstance(inertia, float) else inertia,
    )
    hinge = Joint(
        name='hinge', kind=joint, parent='post', child='arm', axis=(0.0, 1.0, 0.0), **limits
    )
    return RobotModel(
        name='hinged',
        links=(solid_box('post', (0.1, 0.1, 0.1), 1.0), moving),
        joints=(hinge,),
        joint_names=('hinge',),
        actuators={'hinge': Actuator(kind=kind, constants=constants)},
        fall=None,
    )


def solid_box(
    name: str,
    size: tuple[float, float, float],
    mass: float,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    inertia: FloatArray | None = None,
) -> Link:
    """Return a link with one box about its origin; default inertia: solid and homogeneous."""
    squares = np.square(size)
    return Link(
        name=name,
        mass=mass,
        com=np.array(com),
        inertia=np.diag(mass / 12.0 * (squares.sum() - squares)) if inertia is None else inertia,
        collisions=(Shape(kind='box', size=size),),
    )


def applied_targets(
    robot: RobotModel,
    position: Sequence[float] | FloatArray | None = None,
    velocity: Sequence[float] | FloatArray | None = None,
    effort: Sequence[float] | FloatArray | None = None,
) -> AppliedTargets:
    """Return targets for every joint, (n,) or (K, n) each; default the stance, at rest."""
    given = [
        np.atleast_2d(np.asarray(row, dtype=np.float64))
        for row in (position, velocity, effort)
        if row is not None
    ]
    samples = max((len(rows) for rows in given), default=1)

    def rows(values: Sequence[float] | FloatArray | None, default: FloatArray) -> FloatArray:
        """Return values of every sample, (samples, n)."""
        chosen = default if values is None else np.asarray(values, dtype=np.float64)
        return np.array(np.broadcast_to(np.atleast_2d(chosen), (samples, len(default))))

    zero = np.zeros(len(robot.target_names))
    return AppliedTargets(rows(position, robot.stance), rows(velocity, zero), rows(effort, zero))


def step_through(engine: Engine, periods: Sequence[AppliedTargets]) -> StateTape:
    """
    Step an engine through control periods; return the states at their ends.

    SimulationDiverged carries those that were reached before, as that of ``rollout`` does.
    """
    states: list[Observation] = []
    for targets in periods:
        try:
            states.append(engine.step(targets))
        except SimulationDiverged as error:
            raise SimulationDiverged(str(error), StateTape.from_states(states)) from error
    return StateTape.from_states(states)


def hanging_weight(
    kind: str = 'spring',
    constants: Mapping[str, float] = NO_CONSTANTS,
    *,
    rest: float = 0.3,
    mass: float = 2.0,
) -> RobotModel:
    """
    Return a weight on a slide along x, 0.3 m before a post, and an element between the two.

    The element, ``tie``, acts along the slide, so that the weight is a point mass on it; gravity
    acts where the scene turns it along x.
    """
    slid = one_joint_robot(
        'effort', mass=mass, com=(0.0, 0.0, 0.0), inertia=1e-2, joint='prismatic'
    )
    slide = Joint(
        name='hinge',
        kind='prismatic',
        parent='post',
        child='arm',
        xyz=(0.3, 0.0, 0.0),
        axis=(1.0, 0.0, 0.0),
    )
    tie = _tie(kind, constants, 'post', 'arm')
    return replace(
        slid, name='hung', joints=(slide,), force_elements=(tie,), nominal_stance={'tie': rest}
    )


def tied_boxes(kind: str = 'spring', constants: Mapping[str, float] = NO_CONSTANTS) -> RobotModel:
    """
    Return two boxes that a free chain of three slides lets move apart, and an element between.

    The chain is light and without effort: apart from contacts, only the element acts between.
    """
    names = ('slide_x', 'slide_y', 'slide_z')
    links = (
        solid_box('left', (0.1, 0.1, 0.1), 1.0),
        *(
            Link(name=name, mass=1e-4, com=np.zeros(3), inertia=1e-7 * np.eye(3))
            for name in ('frame_x', 'frame_y')
        ),
        solid_box('right', (0.1, 0.1, 0.1), 3.0),
    )
    chain = tuple(
        Joint(
            name=name,
            kind='prismatic',
            parent=links[i].name,
            child=links[i + 1].name,
            xyz=(0.5, 0.0, 0.0) if i == 0 else (0.0, 0.0, 0.0),
            axis=tuple(np.eye(3)[i].tolist()),
        )
        for i, name in enumerate(names)
    )
    return RobotModel(
        name='tied_boxes',
        links=links,
        joints=chain,
        joint_names=names,
        actuators={name: Actuator(kind='effort') for name in names},
        force_elements=(
            replace(
                _tie(kind, constants, 'left', 'right'),
                point_a=(0.02, 0.03, -0.01),
                point_b=(-0.04, 0.01, 0.03),
            ),
        ),
        nominal_stance={'tie': 0.3},
        fall=None,
    )


def ball_joint_robot(
    kind: str = 'effort',
    constants: Mapping[str, float] = NO_CONSTANTS,
    *,
    com: Sequence[float] = (0.0, 0.0, -0.5),
    inertia: float | FloatArray = 1e-4,
    axes: FloatArray | None = None,
    has_tip: bool = False,
    damping: float = 0.0,
) -> RobotModel:
    """
    Return a post with one link of 1 kg on a ball joint, ``ball``, of the joints ball_0 to 2.

    Parameters
    ----------
    kind, constants
        Actuator of all three.
    com, inertia
        Of the moving link, as for ``one_joint_robot``.
    axes : (3, 3) array
        Rows are the axes of the three joints; by default x, y, z.
    has_tip : bool
        Whether a second link is fixed to a hinge on the first, each frame turned.
    damping : float [N m s/rad]
        Of each joint.

    """
    names = ('ball_0', 'ball_1', 'ball_2')
    arm = Link(
        name='arm',
        mass=1.0,
        com=np.array(com),
        inertia=inertia * np.eye(3) if isinstance(inertia, float) else inertia,
    )
    links = [
        solid_box('post', (0.1, 0.1, 0.1), 1.0),
        massless_link('in_0'),
        massless_link('in_1'),
        arm,
    ]
    rows = np.eye(3) if axes is None else np.asarray(axes)
    joints = [
        Joint(
            name=name,
            kind='continuous',
            parent=links[i].name,
            child=links[i + 1].name,
            axis=tuple(rows[i].tolist()),
            damping=damping,
            xyz=(0.1, 0.05, -0.2) if i == 0 else (0.0, 0.0, 0.0),
            rpy=(0.3, -0.2, 0.4) if i == 0 and has_tip else (0.0, 0.0, 0.0),
        )
        for i, name in enumerate(names)
    ]
    if has_tip:
        links.append(
            replace(solid_box('tip', (0.1, 0.1, 0.1), 0.5, (0.1, 0.0, 0.0)), collisions=())
        )
        joints.append(
            Joint(
                name='knee',
                kind='continuous',
                parent='arm',
                child='tip',
                xyz=(0.1, 0.2, -0.6),
                rpy=(0.5, 0.1, -0.3),
                axis=(0.0, 1.0, 0.0),
            )
        )
    moving = tuple(joint.name for joint in joints)
    return RobotModel(
        name='balled',
        links=tuple(links),
        joints=tuple(joints),
        joint_names=moving,
        actuators={name: Actuator(kind=kind, constants=constants) for name in moving},
        ball_joints={'ball': names},
        imu_link='tip' if has_tip else 'arm',
        fall=None,
    )


def massless_link(name: str) -> Link:
    """Return a link that only joins two joints."""
    return Link(name=name, mass=0.0, com=np.zeros(3), inertia=np.zeros((3, 3)))


def _tie(kind: str, constants: Mapping[str, float], link_a: str, link_b: str) -> ForceElement:
    return ForceElement(
        name='tie',
        kind=kind,
        constants=constants,
        link_a=link_a,
        point_a=(0.0, 0.0, 0.0),
        link_b=link_b,
        point_b=(0.0, 0.0, 0.0),
    )
