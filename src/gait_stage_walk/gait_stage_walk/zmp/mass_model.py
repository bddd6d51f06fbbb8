# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

r"""
Cart-table model of a biped whose feet have mass.

The centre of mass of each link follows base and feet: to first order ``c_i = (1 - L_i) b + L_i f``
for the links of the leg of foot ``f``, with ``L_i`` from the kinematics of the leg. The moments of
all links about the ZMP ``p`` then give, on each horizontal axis,

.. math::
    p = c - \frac{h}{g} \ddot c + \frac{k}{g} \ddot f + \frac{a}{g} \ddot f_z (f + e - p)

with ``c`` the centre of mass of the whole robot. For a point mass ``h`` is its height, and ``k``
and ``a`` are zero: the cart-table. A swinging leg is lower, and its acceleration moves the ZMP by
centimetres. The swing is planned, so that its part is known in advance and subtracted from the
reference of the ZMP; the second pass of Kajita (2003, Sec. 4) has the same aim.

References
----------
Kajita et al. (2003), ICRA, 1620-1626. Vukobratovic and Borovac (2004), Int. J. Humanoid Robotics
1(1):157-173: moments of the links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import kinematic_tree, link_coms
from gait_stage_walk.zmp.biped import Biped

_FOOT_STEP = 0.01
"""Step of a foot in the finite differences of the links of its leg [m]."""


@dataclass(frozen=True, kw_only=True)
class MassModel:
    """
    Constants of the model: means over both horizontal axes and both legs.

    Attributes
    ----------
    height : float [m]
        ``h``, the height of the equivalent pendulum.
    foot_coefficient : float [m]
        ``k``, the coefficient of the horizontal acceleration of a foot.
    lifted_share : float
        ``a``, the share of the mass that moves up and down with a foot.
    inward : float [m]
        Distance from a foot to the mass that it lifts, toward the other foot: horizontal part of
        ``e``.

    """

    height: float
    foot_coefficient: float = 0.0
    lifted_share: float = 0.0
    inward: float = 0.0


def mass_model(biped: Biped, height: float) -> MassModel:
    """Return the model of a robot whose base is at a height [m] over the ground."""
    robot, mass = biped.robot, kinematic_tree(biped.robot).mass
    weights = mass / mass.sum()
    feet = biped.feet.copy()
    feet[:, 2] = -height
    joints = _joints_over_feet(biped, feet)
    coms = link_coms(robot, joints)[0]
    levels = weights * (coms[:, 2] + height)
    # L_i of all links by finite differences: move one foot along one axis. ``mass_shares`` and
    # ``height_shares`` (2 legs, 3 axes) are sums over the links of L_i times mass, and of L_i
    # times mass times height, both divided by the mass of the robot.
    mass_shares, height_shares = np.empty((2, 3)), np.empty((2, 3))
    inward = []
    for leg, side in enumerate((1.0, -1.0)):
        for axis in range(3):
            feet_moved = feet.copy()
            feet_moved[leg, axis] += _FOOT_STEP if axis < 2 else 2.0 * _FOOT_STEP
            coms_moved = link_coms(robot, _joints_over_feet(biped, feet_moved))[0]
            share = (coms_moved[:, axis] - coms[:, axis]) / (feet_moved - feet)[leg, axis]
            mass_shares[leg, axis], height_shares[leg, axis] = weights @ share, levels @ share
            if axis == 2:
                lateral = (weights * share) @ (coms[:, 1] - feet[leg, 1]) / mass_shares[leg, 2]
                inward.append(-side * float(lateral))
    # The rest of the mass follows the base b: p = c - (body b'' + height_shares f'') / g. With
    # c'' = base b'' + mass_shares f'' this gives h = body / base and k.
    base, body = (
        1.0 - mass_shares[:, :2].sum(axis=0),
        levels.sum() - height_shares[:, :2].sum(axis=0),
    )
    ratio = body / base
    return MassModel(
        height=float(ratio.mean()),
        foot_coefficient=float((ratio * mass_shares[:, :2] - height_shares[:, :2]).mean()),
        lifted_share=float(mass_shares[:, 2].mean()),
        inward=float(np.mean(inward)),
    )


def _joints_over_feet(biped: Biped, feet: FloatArray) -> FloatArray:
    """Return all joints of the robot with level soles at points in the base frame."""
    joints: FloatArray = biped.robot.joint_stance.copy()
    joints[biped.columns], _ = biped.solve(feet)
    return joints
