# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Quadruped of Bishop (2008): a platform with ball hips and linear servos, with a random body.

Lengths in m, angles in rad, masses in kg. Parameters, frames and actuators follow tables 4.1 and
4.2 and appendix C of the thesis. The mass of each actuator is lumped: two thirds of its base and
one third of its tip belong to the platform, the rest to the leg. The thesis rewards walks along
x, so its legs 1 to 4 are fl, rl, rr and fr here. In draw 0 every parameter is the middle of its
range; every other draw is random.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
import math
from pathlib import Path

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.slider_crank import crank_angle
from gait_core.robot.model import (
    Actuator,
    ForceElement,
    Joint,
    Leg,
    Link,
    RobotModel,
    Shape,
    Triple,
)

RANGES: Mapping[str, tuple[float, float]] = {
    'UCR': (0.22, 0.27),
    'VAO': (0.018, 0.022),
    'RISE': (0.18, 0.22),
    'LCR': (0.085, 0.12),
    'ULL': (0.27, 0.32),
    'LLL': (0.22, 0.27),
    'IBR': (0.22, 0.27),
    'RBR': (0.14, 0.15),
    'KLL': (0.18, 0.22),
    'KBR': (0.09, 0.11),
    'UPM': (1.8, 2.2),
    'LPM': (0.9, 1.1),
    'LINDENS': (0.18, 0.22),
    'THICK': (0.025, 0.028),
    'POSX': (-5.0, 5.0),
    'POSY': (-5.0, 5.0),
    'POSZ': (0.39, 0.40),
    'ULZA': (0.25, 0.30),
    'LRZA': (0.37, 0.42),
    'LLZA': (1.3, 1.7),
    'FBR': (0.035, 0.055),
    'FBM': (0.17, 0.22),
    'VABM': (0.40, 0.52),
    'VATM': (0.09, 0.12),
    'RABM': (0.38, 0.42),
    'RATM': (0.077, 0.10),
    'ULM': (0.46, 0.52),
}
"""Bounds of the 27 parameters in the order of the thesis (App. B), which is that of the draw."""
LEGS = (('fl', 45.0), ('rl', 135.0), ('rr', 225.0), ('fr', 315.0))
"""Names and azimuths [deg]."""
STIFFNESS, KNEE_STIFFNESS, DAMPING = 1100.0, 1500.0, 30.0
"""N/m and N s/m (section 4.8)."""
KNEE_RANGE = 1.3
V_PLACES = (
    ('UCR', 'VAO'),
    ('VAO', 'UCR'),
    ('-VAO', 'UCR'),
    ('-UCR', 'VAO'),
    ('-UCR', '-VAO'),
    ('-VAO', '-UCR'),
    ('VAO', '-UCR'),
    ('UCR', '-VAO'),
)
"""x and y of the upper ends of the V servos, two of each leg, counter-clockwise from above."""
PLATE, TUBE, FOOT, RISER = (
    (0.62, 0.20, 0.18, 1.0),
    (0.80, 0.38, 0.33, 1.0),
    (0.20, 0.20, 0.22, 1.0),
    (0.55, 0.55, 0.58, 1.0),
)


@dataclass(frozen=True, kw_only=True)
class Part:
    """Part of a link: a solid box, a ball (``size`` is its radius) or a point (no size)."""

    mass: float
    centre: Triple
    size: tuple[float, ...] = ()
    colour: tuple[float, float, float, float] = TUBE

    def inertia(self) -> FloatArray:
        """Return the inertia about its own centre, (3, 3) [kg m^2]."""
        if len(self.size) == 3:
            squares = np.square(self.size)
            return np.diag(self.mass / 12.0 * (squares.sum() - squares))
        radius = self.size[0] if self.size else 0.0
        return np.asarray(0.4 * self.mass * radius**2 * np.eye(3))

    def shape(self) -> Shape:
        """Return the shape of collision and display."""
        kind = 'box' if len(self.size) == 3 else 'sphere'
        return Shape(kind=kind, size=self.size, xyz=self.centre, rgba=self.colour)


def draw_body(draw: int, rng: np.random.Generator) -> dict[str, float]:
    """Return the 27 parameters by name; that of the knee link follows from the others."""
    low, high = np.array(list(RANGES.values())).T
    shares = rng.random(len(RANGES)) if draw else np.full(len(RANGES), 0.5)
    body = dict(zip(RANGES, (low + (high - low) * shares).tolist(), strict=True))
    # Bishop (2008), appendix C: KLL puts the carriage in the middle of the upper leg at rest.
    along = body['KBR'] * math.cos(body['LLZA']) + 0.5 * body['ULL']
    body['KLL'] = math.hypot(along, body['KBR'] * math.sin(body['LLZA']))
    return body


def build(draw: int, rng: np.random.Generator) -> RobotModel:
    """Return the robot of a draw."""
    body = draw_body(draw, rng)
    links, joints, legs = [_core(body)], [], []
    for name, azimuth in LEGS:
        links += _leg_links(name, body)
        chain = _leg_joints(name, azimuth, body)
        joints += chain
        legs.append(
            Leg(
                name=name,
                joints=tuple(joint.name for joint in chain),
                sole=f'{name}_lower',
                sole_point=(body['LLL'], 0.0, -body['FBR']),
            )
        )
    actuators = {
        joint.name: _knee_servo(body) if joint.name.endswith('knee') else Actuator(kind='effort')
        for joint in joints
    }
    return RobotModel(
        name='spider',
        links=tuple(links),
        joints=tuple(joints),
        joint_names=tuple(joint.name for joint in joints),
        actuators=actuators,
        legs=tuple(legs),
        force_elements=tuple(_servos(body)),
        ball_joints={
            f'{name}_hip': (f'{name}_yaw', f'{name}_lift', f'{name}_roll') for name, _ in LEGS
        },
        nominal_stance={f'{name}_knee': body['LLZA'] for name, _ in LEGS},
        fall=None,
        length_scale=0.3,
        defaults=DEFAULTS,
        source=str(Path(__file__).parent),
    )


def _link(name: str, parts: Iterable[Part]) -> Link:
    """Return the link of parts, with its inertia about its centre of mass."""
    chosen = list(parts)
    masses = np.array([part.mass for part in chosen])
    places = np.array([part.centre for part in chosen])
    com = masses @ places / masses.sum()
    inertia = np.zeros((3, 3))
    # Parallel axis theorem: I + m (r . r E - r r^T) for each part at r from the centre of mass.
    for part, arm in zip(chosen, places - com, strict=True):
        inertia += part.inertia() + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    shapes = tuple(part.shape() for part in chosen if part.size)
    return Link(
        name=name,
        mass=float(masses.sum()),
        com=com,
        inertia=inertia,
        collisions=shapes,
        visuals=shapes,
    )


def _core(body: Mapping[str, float]) -> Link:
    thick, rise = body['THICK'], body['RISE']
    up = 0.5 * (rise + thick)
    upper, lower = 2.0 * body['UCR'], 2.0 * body['LCR']
    parts = [
        Part(mass=body['UPM'], centre=(0.0, 0.0, up), size=(upper, upper, thick), colour=PLATE),
        Part(
            mass=rise * body['LINDENS'],
            centre=(0.0, 0.0, 0.0),
            size=(thick, thick, rise),
            colour=RISER,
        ),
        Part(mass=body['LPM'], centre=(0.0, 0.0, -up), size=(lower, lower, thick), colour=PLATE),
    ]
    for place in _v_places(body):
        parts.append(Part(mass=(2.0 * body['VABM'] + body['VATM']) / 3.0, centre=place))
    for place in _r_places(body):
        parts.append(Part(mass=(2.0 * body['RABM'] + body['RATM']) / 3.0, centre=place))
    return _link('base_link', parts)


def _leg_links(name: str, body: Mapping[str, float]) -> list[Link]:
    """Return the leg's links; two massless ones connect the axes of its hip."""
    thick, ull, lll, rbr = body['THICK'], body['ULL'], body['LLL'], body['RBR']
    thin = thick - 0.005
    v_tip = (body['VABM'] + 2.0 * body['VATM']) / 3.0
    upper = [
        Part(mass=body['ULM'], centre=(0.5 * ull, 0.0, 0.0), size=(ull, thick, thick)),
        Part(
            mass=rbr * body['LINDENS'],
            centre=(0.5 * thick, 0.0, 0.5 * (rbr + thick)),
            size=(thin, thin, rbr),
            colour=RISER,
        ),
        Part(mass=2.0 * v_tip, centre=(body['IBR'], 0.0, 0.0)),
        Part(
            mass=(body['RABM'] + 2.0 * body['RATM']) / 3.0,
            centre=(0.0, 0.0, rbr + 0.5 * thick),
        ),
    ]
    lower = [
        Part(mass=lll * body['LINDENS'], centre=(0.5 * lll, 0.0, 0.0), size=(lll, thick, thick)),
        Part(mass=body['FBM'], centre=(lll, 0.0, 0.0), size=(body['FBR'],), colour=FOOT),
    ]
    between = [
        Link(name=f'{name}_hip_{i}', mass=0.0, com=np.zeros(3), inertia=np.zeros((3, 3)))
        for i in range(2)
    ]
    return [*between, _link(f'{name}_upper', upper), _link(f'{name}_lower', lower)]


def _leg_joints(name: str, azimuth: float, body: Mapping[str, float]) -> list[Joint]:
    """Return yaw, lift and roll of the hip from its attitude at rest, and the knee."""
    turn, out = math.radians(azimuth), body['LCR'] + 0.01
    hip = (
        math.copysign(out, math.cos(turn)),
        math.copysign(out, math.sin(turn)),
        -0.5 * body['RISE'],
    )
    links = ('base_link', f'{name}_hip_0', f'{name}_hip_1', f'{name}_upper')
    axes = (('yaw', (0.0, 0.0, 1.0)), ('lift', (0.0, 1.0, 0.0)), ('roll', (1.0, 0.0, 0.0)))
    joints = [
        Joint(
            name=f'{name}_{axis}',
            kind='continuous',
            parent=links[i],
            child=links[i + 1],
            xyz=(0.0, 0.0, 0.0) if i else hip,
            rpy=(0.0, 0.0, 0.0) if i else (-body['LRZA'], -body['ULZA'], turn),
            axis=direction,
        )
        for i, (axis, direction) in enumerate(axes)
    ]
    knee = Joint(
        name=f'{name}_knee',
        kind='revolute',
        parent=f'{name}_upper',
        child=f'{name}_lower',
        xyz=(body['ULL'] + 0.02, 0.0, 0.0),
        rpy=(body['LRZA'], 0.0, 0.0),
        axis=(0.0, 1.0, 0.0),
        lower=body['LLZA'] - KNEE_RANGE,
        upper=body['LLZA'] + KNEE_RANGE,
    )
    return [*joints, knee]


def _knee_servo(body: Mapping[str, float]) -> Actuator:
    constants = {
        'stiffness': KNEE_STIFFNESS,
        'damping': DAMPING,
        'crank': body['KBR'],
        'rod': body['KLL'],
    }
    # The carriage starts in the middle of the upper leg (K0); a wrong link would not.
    rest = crank_angle(0.5 * body['ULL'], body['KBR'], body['KLL'])
    if not math.isclose(rest, body['LLZA'], abs_tol=1e-6):
        raise ValueError(f'the knee rests at {rest} rad instead of {body["LLZA"]} rad')
    return Actuator(kind='slider_crank', constants=constants)


def _servos(body: Mapping[str, float]) -> list[ForceElement]:
    """Return the actuators 0 to 11 of the thesis: two V of each leg, then R of each leg."""
    v_tip, r_tip = (body['IBR'], 0.0, 0.0), (0.0, 0.0, body['RBR'] + 0.5 * body['THICK'])
    ends = [(f'v{i}', place, i // 2, v_tip) for i, place in enumerate(_v_places(body))]
    ends += [(f'r{i}', place, i, r_tip) for i, place in enumerate(_r_places(body))]
    return [
        ForceElement(
            name=name,
            kind='linear_servo',
            link_a='base_link',
            point_a=place,
            link_b=f'{LEGS[leg][0]}_upper',
            point_b=tip,
            constants={'stiffness': STIFFNESS, 'damping': DAMPING},
        )
        for name, place, leg, tip in ends
    ]


def _v_places(body: Mapping[str, float]) -> list[Triple]:
    return [
        (_signed(body, x), _signed(body, y), 0.5 * body['RISE'])  # Under the upper platform.
        for x, y in V_PLACES
    ]


def _signed(body: Mapping[str, float], name: str) -> float:
    return -body[name[1:]] if name.startswith('-') else body[name]


def _r_places(body: Mapping[str, float]) -> list[Triple]:
    out, up = 2.0 * body['LCR'], 0.5 * body['RISE']
    return [(out, 0.0, up), (0.0, out, up), (-out, 0.0, up), (0.0, -out, up)]


DEFAULTS = {
    'scene': {
        'engine': 'mujoco',
        'friction': 1.0,
        'physics_step': 0.002,
        'control_period': 0.012,
        'initial': {'clearance': 0.001},
    },
    'controller': 'hold',
    'engines': {'bullet': {'solver_iterations': 50}},
    'command': (0.1, 0.0, 0.0),
    'duration': 24.0,
}
