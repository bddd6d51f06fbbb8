# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Cockroach of McKenna (1990): 33 boxes and 32 one-axis joints from a table.

Lengths in m, angles in rad, masses from a density of 1000 kg/m^3. The tables follow the command
script in appendix C of the thesis; ``../../README.md`` lists what was recovered. In draws 1 to 6
one leg is a stump, in the order of ``LEG_NAMES``; there are no further draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from pathlib import Path

import numpy as np

from gait_core.errors import ConfigurationError
from gait_core.robot.model import Actuator, FallCriterion, Joint, Leg, Link, RobotModel, Shape

DENSITY = 1000.0
CUBE = 0.00035
STUMP = 0.2
LIMIT = 1.6
"""Joint limit [rad], wide enough never to act: the thesis has no joint limits."""
LEG_NAMES = ('fl', 'fr', 'ml', 'mr', 'bl', 'br')
BODY_COLOUR, LEG_COLOUR, FOOT_COLOUR = (
    (0.35, 0.18, 0.08, 1.0),
    (0.55, 0.33, 0.15, 1.0),
    (0.75, 0.6, 0.35, 1.0),
)


@dataclass(frozen=True, kw_only=True)
class Spring:
    """Spring and damper of a joint per kilogram of the distal links: N m/kg, 1/rad, N m s/kg."""

    strength: float
    rise: float
    damping: float

    def actuator(self, mass: float) -> Actuator:
        """Return the actuator of a joint with distal links of a mass [kg]."""
        constants = {
            'strength': self.strength * mass,
            'rise': self.rise,
            'damping': self.damping * mass,
        }
        return Actuator(kind='exponential', constants=constants)


@dataclass(frozen=True, kw_only=True)
class LegRow:
    """A pair of legs; lengths and widths of coxa, femur, tibia and foot [m], left angles [rad]."""

    hip_x: float
    lengths: tuple[float, float, float, float]
    widths: tuple[float, float, float, float]
    turn: float
    rest: tuple[float, float, float]
    spring: Spring


THORAX_SPRING = Spring(strength=0.024, rise=10.0, damping=0.01)
TARSUS_SPRING = Spring(strength=0.2, rise=8.0, damping=0.03)
HEAD_STIFFNESS, HEAD_DAMPING = 0.1, 0.01
"""N m/rad and N m s/rad, per kilogram of the head."""
LEG_ROWS = {
    'f': LegRow(
        hip_x=0.009,
        lengths=(0.0049, 0.0060, 0.0060, 0.0018),
        widths=(0.0021, 0.0011, 0.00053, 0.00035),
        turn=90.0,
        rest=(-0.45, 0.0, 0.0),
        spring=Spring(strength=1.0, rise=6.0, damping=0.03),
    ),
    'm': LegRow(
        hip_x=0.0055,
        lengths=(0.0060, 0.0042, 0.0095, 0.0020),
        widths=(0.0018, 0.00071, 0.00053, 0.00035),
        turn=-45.0,
        rest=(0.15, -0.5, 0.0),
        spring=Spring(strength=1.0, rise=16.0, damping=0.03),
    ),
    'b': LegRow(
        hip_x=0.0015,
        lengths=(0.0056, 0.0035, 0.0141, 0.0035),
        widths=(0.0025, 0.0011, 0.00071, 0.00035),
        turn=-90.0,
        rest=(0.3, -0.2, 0.4),
        spring=Spring(strength=1.0, rise=16.0, damping=0.03),
    ),
}


def build(draw: int, rng: np.random.Generator) -> RobotModel:
    """Return the robot; draws 1 to 6 have a stump for a leg, others raise ConfigurationError."""
    if draw > len(LEG_NAMES):
        raise ConfigurationError(
            f'scene.draw is {draw}, the roach has no such leg to lose: 0 for none, '
            f'{", ".join(f"{n} {leg}" for n, leg in enumerate(LEG_NAMES, 1))}; nearest valid: 6'
        )
    trunk = [
        _box('abdomen', (0.0163, 0.0125, 0.00706), (0.0, 0.0, 0.0), BODY_COLOUR),
        _box('thorax', (0.0106, 0.00875, 0.00529), (0.00529, 0.0, 0.0), BODY_COLOUR),
        _box('head', (0.00265, 0.0025, 0.00635), (0.0013525, 0.0, -0.00141), BODY_COLOUR),
    ]
    thorax, head = trunk[1].mass, trunk[2].mass
    joints = [
        _joint('thorax', 'abdomen', 'thorax', (0.00815, 0.0, 0.001), axis=(0.0, 1.0, 0.0)),
        _joint('head', 'thorax', 'head', (0.01058, 0.0, 0.0), (0.0, 10.0, 0.0), (1.0, 0.0, 0.0)),
    ]
    actuators = {
        'thorax': THORAX_SPRING.actuator(thorax),
        'head': Actuator(
            kind='pd',
            constants={'stiffness': HEAD_STIFFNESS * head, 'damping': HEAD_DAMPING * head},
        ),
    }
    links, legs, stance = list(trunk), [], {'thorax': 0.0, 'head': 0.0}
    for name in LEG_NAMES:
        row, side = LEG_ROWS[name[0]], 1.0 if name[1] == 'l' else -1.0
        if draw == LEG_NAMES.index(name) + 1:
            row = _stump(row)
        segments, chain = _leg_links(name, row, side), _leg_joints(name, row, side)
        links += segments
        joints += chain
        distal = np.cumsum([segment.mass for segment in reversed(segments)])[::-1]
        springs = (row.spring,) * 3 + (TARSUS_SPRING,) * 2
        rest = (*(side * angle for angle in row.rest), 0.0, 0.0)
        for joint, spring, mass, angle in zip(chain, springs, distal.tolist(), rest, strict=True):
            actuators[joint.name] = spring.actuator(mass)
            stance[joint.name] = angle
        legs.append(
            Leg(
                name=name,
                joints=tuple(joint.name for joint in chain),
                sole=segments[-1].name,
                sole_point=(0.0, side * row.lengths[3], 0.0),
            )
        )
    return RobotModel(
        name='roach',
        links=tuple(links),
        joints=tuple(joints),
        joint_names=tuple(joint.name for joint in joints),
        actuators=actuators,
        legs=tuple(legs),
        mirror_pairs=_mirror_pairs([joint.name for joint in joints]),
        nominal_stance=stance,
        fall=FallCriterion(max_tilt=1.0, min_height_ratio=0.3),
        length_scale=0.01,
        defaults=DEFAULTS,
        source=str(Path(__file__).parent),
    )


def _stump(row: LegRow) -> LegRow:
    """Return a leg with femur and tibia too short to touch the ground."""
    coxa, femur, tibia, foot = row.lengths
    return replace(row, lengths=(coxa, STUMP * femur, STUMP * tibia, foot))


def _box(
    name: str,
    size: tuple[float, float, float],
    centre: tuple[float, float, float],
    colour: tuple[float, float, float, float],
) -> Link:
    mass = DENSITY * math.prod(size)
    squares = np.square(size)
    shape = Shape(kind='box', size=size, xyz=centre, rgba=colour)
    return Link(
        name=name,
        mass=mass,
        com=np.array(centre),
        inertia=np.diag(mass / 12.0 * (squares.sum() - squares)),
        collisions=(shape,),
        visuals=(shape,),
    )


def _joint(
    name: str,
    parent: str,
    child: str,
    xyz: tuple[float, float, float],
    degrees: tuple[float, float, float] = (0.0, 0.0, 0.0),
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0),
) -> Joint:
    roll, pitch, yaw = (math.radians(angle) for angle in degrees)
    return Joint(
        name=name,
        kind='revolute',
        parent=parent,
        child=child,
        xyz=xyz,
        rpy=(roll, pitch, yaw),
        axis=axis,
        lower=-LIMIT,
        upper=LIMIT,
    )


def _leg_links(name: str, row: LegRow, side: float) -> list[Link]:
    coxa, femur, tibia, foot = zip(row.widths, row.lengths, strict=True)
    sizes = (coxa, femur, tibia, (CUBE, CUBE), foot)
    return [
        _box(
            f'{name}_{segment}',
            (width, length, width),
            (0.0, 0.5 * side * length, 0.0),
            LEG_COLOUR if segment < 3 else FOOT_COLOUR,
        )
        for segment, (width, length) in enumerate(sizes)
    ]


def _leg_joints(name: str, row: LegRow, side: float) -> list[Joint]:
    """Return the joints of a leg from the thorax outwards."""
    half = math.sqrt(0.5)
    coxa, femur, tibia, _ = (side * length for length in row.lengths)
    hip = (row.hip_x, 0.0044 * side, -0.0015)
    places = [
        (hip, (-45.0 * side, 0.0, 0.0), (0.0, -half * side, half)),
        ((0.0, coxa, 0.0), (90.0 * side, row.turn, 0.0), (1.0, 0.0, 0.0)),
        ((0.0, femur, 0.0), (-90.0 * side, 0.0, 0.0), (1.0, 0.0, 0.0)),
        ((0.0, tibia, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
        ((0.0, side * CUBE, 0.0), (0.0, 0.0, 0.0), (half, 0.0, half)),
    ]
    parents = ['thorax', *(f'{name}_{segment}' for segment in range(4))]
    return [
        _joint(f'leg_{name}{i}', parent, f'{name}_{i}', xyz, degrees, axis)
        for i, (parent, (xyz, degrees, axis)) in enumerate(zip(parents, places, strict=True))
    ]


def _mirror_pairs(names: list[str]) -> dict[str, tuple[str, float]]:
    """Return the mirrored joint and sign of each joint; angles of legs and head change sign."""
    pairs = {'thorax': ('thorax', 1.0), 'head': ('head', -1.0)}
    swap = {'l': 'r', 'r': 'l'}
    for name in names:
        if name.startswith('leg_'):
            pairs[name] = (f'leg_{name[4]}{swap[name[5]]}{name[6]}', -1.0)
    return pairs


DEFAULTS = {
    'scene': {
        'engine': 'mujoco',
        'length_scale': 100.0,
        'friction': 0.7,
        'gravity': (0.0, 0.0, -9.8),
        'physics_step': 1.0 / 38400.0,
        'control_period': 1.0 / 2400.0,
        'initial': {'clearance': 1e-4},
    },
    'controller': 'insect_gait',
    'preset': 'tripod',
    'engines': {'mujoco': {'contact_recovery': 0.002}, 'bullet': {'solver_iterations': 50}},
    'physics_steps': {'bullet': 1.0 / 76800.0},
    'terrains': {
        'steps': {
            'height': 0.002,
            'length': 0.03,
            'start': 0.03,
            'extent': 0.3,
            'width': 0.2,
            'cell': 0.001,
        },
        'bumps': {
            'height': 0.003,
            'radius': 0.004,
            'spacing': 0.012,
            'flat_radius': 0.02,
            'extent': 0.4,
            'cell': 0.001,
        },
        'rough': {'range': 0.002, 'extent': 0.4, 'nodes': 81, 'flat_radius': 0.015},
        'slope': {'angle_deg': 15.0, 'start': 0.02, 'extent': 0.4, 'cell': 0.002},
    },
    'command': (0.06, 0.0, 0.0),
    'duration': 2.0,
    'settle_time': 0.1,
}
