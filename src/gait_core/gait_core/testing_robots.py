"""Bodies whose motion has a closed form: what every physics engine is held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.robot.model import Actuator, Joint, Leg, Link, RobotModel, Shape
from gait_core.targets import AppliedTargets

STILL: Mapping[str, float] = {}


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


def hinged(
    kind: str = 'effort',
    constants: Mapping[str, float] = STILL,
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


def applied(
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
        chosen = default if values is None else np.asarray(values, dtype=np.float64)
        return np.array(np.broadcast_to(np.atleast_2d(chosen), (samples, len(default))))

    zero = np.zeros(len(robot.target_names))
    return AppliedTargets(rows(position, robot.stance), rows(velocity, zero), rows(effort, zero))
