# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Descriptions of legged robots as URDF text, in the manner of foreign files."""

from __future__ import annotations

from collections.abc import Sequence
import math
import re

from gait_core.kinematics.frames import rotation_from_rpy, rpy_from_rotation

UPPER, LOWER, FOOT = 0.2, 0.2, 0.02
"""Lengths of thigh and shank and radius of the ball foot [m]."""
_BODY = (0.5, 0.25, 0.1)


def dog_urdf(
    names: Sequence[str] = ('FL', 'FR', 'RL', 'RR'),
    root_rpy: tuple[float, float, float] = (0.0, 0.0, 0.0),
    effort: float = 40.0,
    limits: tuple[float, float] = (-2.6, 2.6),
    has_abduction: bool = True,
) -> str:
    """
    Return a quadruped of abduction, hip and knee, straight down at zero.

    Parameters
    ----------
    names : four str
        Prefixes of front left, front right, rear left and rear right.
    root_rpy : (3,) floats [rad]
        Attitude in which the file has its root frame; the robot's own is x forward, z up.
    effort : float [N m]
        0: the file gives none.
    limits : two floats [rad]
        Of hips and knees.
    has_abduction : bool
        Whether the abduction joints move; otherwise they are fixed.

    """
    corners = [(0.2, 0.12), (0.2, -0.12), (-0.2, 0.12), (-0.2, -0.12)]
    parts = [_link('trunk', 6.0, _box(_BODY, root_rpy))]
    for name, (x, y) in zip(names, corners, strict=True):
        side = math.copysign(0.05, y)
        parts += [
            _joint(
                f'{name}_a',
                'trunk',
                f'{name}_hip',
                (x, y, 0.0),
                (1, 0, 0),
                (-0.8, 0.8),
                effort,
                root_rpy,
            ),
            _link(f'{name}_hip', 0.4, _box((0.05, 0.05, 0.05))),
            _joint(
                f'{name}_b',
                f'{name}_hip',
                f'{name}_thigh',
                (0.0, side, 0.0),
                (0, 1, 0),
                limits,
                effort,
            ),
            _link(f'{name}_thigh', 0.5, _box((0.04, 0.03, UPPER), at=-0.5 * UPPER)),
            _joint(
                f'{name}_c',
                f'{name}_thigh',
                f'{name}_shank',
                (0.0, 0.0, -UPPER),
                (0, 1, 0),
                limits,
                effort,
            ),
            _link(f'{name}_shank', 0.2, _box((0.03, 0.03, LOWER - FOOT), at=-0.5 * LOWER)),
            (
                f'<joint name="{name}_d" type="fixed"><origin xyz="0 0 {-LOWER}"/>'
                f'<parent link="{name}_shank"/><child link="{name}_toe"/></joint>'
            ),
            _link(f'{name}_toe', 0.05, f'<geometry><sphere radius="{FOOT}"/></geometry>'),
        ]
    text = f'<robot name="dog">{"".join(parts)}</robot>'
    return text if has_abduction else re.sub(r'(name="\w+_a" type=)"revolute"', r'\1"fixed"', text)


def insect_urdf() -> str:
    """Return a hexapod whose legs stick out level at zero: yaw at the body, hip and knee."""
    parts = [_link('body', 2.0, _box((0.3, 0.16, 0.06)))]
    for side, sign in (('left', 1.0), ('right', -1.0)):
        for place, x in (('front', 0.15), ('middle', 0.0), ('hind', -0.15)):
            name = f'{side}_{place}'
            turn = sign * (0.5 * math.pi - 0.8 * x / 0.15)
            rpy = f'0 0 {turn}'
            parts += [
                (
                    f'<joint name="{name}_coxa" type="revolute"><origin xyz="{x} {sign * 0.08} 0" '
                    f'rpy="{rpy}"/><parent link="body"/><child link="{name}_1"/>'
                    '<axis xyz="0 0 1"/>'
                    '<limit lower="-1" upper="1" effort="10" velocity="8"/></joint>'
                ),
                _link(f'{name}_1', 0.05, _box((0.05, 0.03, 0.03), ahead=0.025)),
                _joint(
                    f'{name}_femur',
                    f'{name}_1',
                    f'{name}_2',
                    (0.05, 0.0, 0.0),
                    (0, 1, 0),
                    (-1.6, 1.6),
                    10.0,
                ),
                _link(f'{name}_2', 0.05, _box((0.1, 0.03, 0.03), ahead=0.05)),
                _joint(
                    f'{name}_tibia',
                    f'{name}_2',
                    f'{name}_3',
                    (0.1, 0.0, 0.0),
                    (0, 1, 0),
                    (-0.5, 2.5),
                    10.0,
                ),
                _link(f'{name}_3', 0.05, _box((0.14, 0.02, 0.02), ahead=0.07)),
            ]
    return f'<robot name="insect">{"".join(parts)}</robot>'


HIP_WIDTH, THIGH, SHANK, ANKLE_HEIGHT = 0.2, 0.35, 0.35, 0.05
"""Of the biped: between the hips, of the segments, of the ankles over the ground [m]."""


def biped_urdf(
    sole: tuple[float, float] = (0.2, 0.1),
    masses: tuple[float, float, float, float] = (4.0, 3.0, 1.0, 0.5),
) -> str:
    """
    Return a biped with six joints a leg, straight down at zero: yaw, roll, pitch, knee, ankles.

    Parameters
    ----------
    sole : two floats [m]
        Length and width of a foot; its middle is a tenth of the length ahead of the ankle.
    masses : four floats [kg]
        Of a thigh, a shank, a foot, and of each link between two joints at one place; the body
        has 30.

    """
    parts = [_link('body', 30.0, _box((0.2, 0.3, 0.5), at=0.25))]
    for side, sign in (('left', 1.0), ('right', -1.0)):
        place = (0.0, sign * 0.5 * HIP_WIDTH, 0.0)
        none = (0.0, 0.0, 0.0)
        joints = (
            ('hip_yaw', 'body', place, (0, 0, 1), (-1.0, 1.0), masses[3], None),
            ('hip_roll', 'hip_yaw', none, (1, 0, 0), (-0.6, 0.6), masses[3], None),
            ('hip_pitch', 'hip_roll', none, (0, 1, 0), (-2.0, 1.0), masses[0], THIGH),
            ('knee', 'hip_pitch', (0.0, 0.0, -THIGH), (0, 1, 0), (0.0, 2.4), masses[1], SHANK),
            ('ankle_pitch', 'knee', (0.0, 0.0, -SHANK), (0, 1, 0), (-1.2, 1.2), masses[3], None),
            ('ankle_roll', 'ankle_pitch', none, (1, 0, 0), (-0.6, 0.6), masses[2], None),
        )
        for name, above, xyz, axis, limits, mass, length in joints:
            parent = above if above == 'body' else f'{side}_{above}_link'
            link = f'{side}_{name}_link'
            parts.append(_joint(f'{side}_{name}', parent, link, xyz, axis, limits, 300.0))
            shape = _box((0.06, 0.06, length - 0.04), at=-0.5 * length) if length else ''
            if name == 'ankle_roll':
                shape = _box((*sole, 0.02), at=0.01 - ANKLE_HEIGHT, ahead=0.1 * sole[0])
            parts.append(_link(link, mass, shape))
    return f'<robot name="biped">{"".join(parts)}</robot>'


def arm_urdf() -> str:
    """Return an arm of four joints on a heavy foot."""
    parts = [_link('base', 20.0, _box((0.3, 0.3, 0.1)))]
    above = 'base'
    for i, axis in enumerate(((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1))):
        parts += [
            _joint(f'j{i}', above, f'l{i}', (0.0, 0.0, 0.2), axis, (-2.0, 2.0), 50.0),
            _link(f'l{i}', 1.0, _box((0.05, 0.05, 0.2), at=0.1)),
        ]
        above = f'l{i}'
    return f'<robot name="arm">{"".join(parts)}</robot>'


def cart_urdf() -> str:
    """Return a cart on four wheels."""
    parts = [_link('chassis', 5.0, _box((0.4, 0.2, 0.1)))]
    for name, x, y in (
        ('fl', 0.1, 0.15),
        ('fr', 0.1, -0.15),
        ('rl', -0.1, 0.15),
        ('rr', -0.1, -0.15),
    ):
        parts += [
            (
                f'<joint name="{name}_wheel" type="continuous"><origin xyz="{x} {y} -0.05" '
                f'rpy="-1.5707963 0 0"/><parent link="chassis"/><child link="{name}"/>'
                '<axis xyz="0 0 1"/></joint>'
            ),
            _link(name, 0.5, '<geometry><cylinder radius="0.08" length="0.04"/></geometry>'),
        ]
    return f'<robot name="cart">{"".join(parts)}</robot>'


def _box(
    size: tuple[float, float, float],
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0),
    at: float = 0.0,
    ahead: float = 0.0,
) -> str:
    """Return origin and geometry of a box at height ``at`` and forward position ``ahead`` [m]."""
    turned = rpy_from_rotation(rotation_from_rpy(rpy).T)
    return (
        f'<origin xyz="{ahead} 0 {at}" rpy="{turned[0]} {turned[1]} {turned[2]}"/>'
        f'<geometry><box size="{size[0]} {size[1]} {size[2]}"/></geometry>'
    )


def _link(name: str, mass: float, shape: str) -> str:
    inertia = 4e-3 * mass
    collision = f'<collision>{shape}</collision>' if shape else ''
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="{inertia}" ixy="0" '
        f'ixz="0" iyy="{inertia}" iyz="0" izz="{inertia}"/></inertial>{collision}</link>'
    )


def _joint(
    name: str,
    parent: str,
    child: str,
    xyz: tuple[float, float, float],
    axis: tuple[int, int, int],
    limits: tuple[float, float],
    effort: float,
    root_rpy: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> str:
    """Return a revolute joint; position and attitude count in the parent frame before root_rpy."""
    back = rotation_from_rpy(root_rpy).T
    x, y, z = (back @ xyz).tolist()
    roll, pitch, yaw = rpy_from_rotation(back)
    return (
        f'<joint name="{name}" type="revolute"><origin xyz="{x} {y} {z}" '
        f'rpy="{roll} {pitch} {yaw}"/><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
        f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="{effort}" velocity="20"/></joint>'
    )
