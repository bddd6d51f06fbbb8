# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Generated robot: a box on any number of legs with any number of joints each."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.robot.model import Actuator, Joint, Leg, Link, RobotModel, Shape

_BODY_SIZE = (0.4, 0.2, 0.1)
_SEGMENT_LENGTH = 0.15
_GAIN = 20.0


def legged_box(legs: int = 4, joints: int = 2, roll: bool = False) -> RobotModel:
    """
    Return a box of 4 kg with legs in two rows, each a chain of pitch joints with a ball foot.

    The joints of a leg bend forwards and backwards in turn. Segments are 0.15 m long and weigh
    0.25 kg. ``legged_box(1)`` is a hopper. With ``roll`` the first joint of each leg turns about x
    and is at zero in the stance, so that three joints can place a foot in all directions.
    """
    links = [
        Link(
            name='base',
            mass=4.0,
            com=np.zeros(3),
            inertia=_box_inertia(4.0, _BODY_SIZE),
            collisions=(Shape(kind='box', size=_BODY_SIZE),),
        )
    ]
    all_joints: list[Joint] = []
    all_legs: list[Leg] = []
    for number in range(legs):
        leg_joints, leg_links = _build_leg(number, legs, joints, roll)
        all_joints += leg_joints
        links += leg_links
        all_legs.append(
            Leg(
                name=f'leg{number}',
                joints=tuple(joint.name for joint in leg_joints),
                sole=leg_links[-1].name,
                sole_point=(0.0, 0.0, -_SEGMENT_LENGTH),
            )
        )
    names = tuple(joint.name for joint in all_joints)
    stance = {name: 0.4 * (-1) ** (i % joints) for i, name in enumerate(names)}
    if roll:
        stance.update(dict.fromkeys(names[::joints], 0.0))
    return RobotModel(
        name='legged_box',
        links=tuple(links),
        joints=tuple(all_joints),
        joint_names=names,
        actuators={name: Actuator(constants={'gain': _GAIN}) for name in names},
        legs=tuple(all_legs),
        mirror_pairs=_mirror_pairs(legs, joints, roll),
        nominal_stance=stance,
        length_scale=_SEGMENT_LENGTH * joints,
    )


def _build_leg(number: int, legs: int, joints: int, roll: bool) -> tuple[list[Joint], list[Link]]:
    """Return the joints and links of a leg; even numbers are on the left side."""
    row, side = number // 2, 1.0 - 2.0 * (number % 2)
    rows = (legs + 1) // 2
    x = 0.0 if rows == 1 else _BODY_SIZE[0] * (0.5 - row / (rows - 1))
    y = 0.0 if legs == 1 else side * 0.5 * _BODY_SIZE[1]
    parent, leg_joints, leg_links = 'base', [], []
    size = (0.02, 0.02, _SEGMENT_LENGTH)
    for k in range(joints):
        ball = Shape(kind='sphere', size=(0.02,), xyz=(0.0, 0.0, -_SEGMENT_LENGTH))
        link = Link(
            name=f'leg{number}_link{k}',
            mass=0.25,
            com=np.array([0.0, 0.0, -0.5 * _SEGMENT_LENGTH]),
            inertia=_box_inertia(0.25, size),
            collisions=(ball,) if k == joints - 1 else (),
        )
        leg_joints.append(
            Joint(
                name=f'leg{number}_joint{k}',
                kind='revolute',
                parent=parent,
                child=link.name,
                xyz=(x, y, -0.5 * _BODY_SIZE[2]) if k == 0 else (0.0, 0.0, -_SEGMENT_LENGTH),
                axis=(1.0, 0.0, 0.0) if roll and k == 0 else (0.0, 1.0, 0.0),
                lower=-1.5,
                upper=1.5,
                velocity=8.0,
                effort=20.0,
            )
        )
        leg_links.append(link)
        parent = link.name
    return leg_joints, leg_links


def _mirror_pairs(legs: int, joints: int, roll: bool) -> dict[str, tuple[str, float]]:
    # Legs 0 and 1, 2 and 3, ... are counterparts across the sagittal plane.
    return {
        f'leg{number}_joint{k}': (f'leg{number ^ 1}_joint{k}', -1.0 if roll and k == 0 else 1.0)
        for number in range(legs // 2 * 2)
        for k in range(joints)
    }


def _box_inertia(mass: float, size: tuple[float, float, float]) -> FloatArray:
    squares = np.square(size)
    return np.diag(mass / 12.0 * (squares.sum() - squares))
