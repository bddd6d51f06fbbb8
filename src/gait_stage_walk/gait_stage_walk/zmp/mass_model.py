r"""
A robot on two legs as a cart-table whose feet have mass.

Each link's centre of mass follows base and feet: to first order ``c_i = (1 - L_i) b + L_i f`` for
the links of the leg of foot ``f``, with ``L_i`` from the leg's kinematics. The moments of all
links about the zero-moment point ``p`` then give, on either level axis,

.. math::
    p = c - \frac{h}{g} \ddot c + \frac{k}{g} \ddot f + \frac{a}{g} \ddot f_z (f + e - p)

with ``c`` the centre of mass of the whole robot. For a point mass ``h`` is its height and the rest
is zero, as the cart-table has it; a swinging leg is lower, and what it is accelerated with moves
the zero-moment point by centimetres. As the swing is planned, it is known before and asked of the
centre of mass instead, which is what the second pass of Kajita (2003, Sec. 4) iterates for.

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
"""By which a foot is moved to see how its leg's links follow [m]."""


@dataclass(frozen=True, kw_only=True)
class MassModel:
    """
    Constants of the model; means over both axes and both legs.

    Attributes
    ----------
    height : float [m]
        ``h``.
    foot : float [m]
        ``k``.
    lift : float
        ``a``, the share of the robot's mass that goes up and down with a foot.
    inward : float [m]
        From a foot to the mass that it lifts, toward the other foot: the level part of ``e``.

    """

    height: float
    foot_coefficient: float = 0.0
    lifted_share: float = 0.0
    inward: float = 0.0


def mass_model(biped: Biped, height: float) -> MassModel:
    """Return the model of a robot that walks with its base at a height [m] over the ground."""
    robot, mass = biped.robot, kinematic_tree(biped.robot).mass
    weights = mass / mass.sum()
    feet = biped.feet.copy()
    feet[:, 2] = -height
    joints = _joints_over_feet(biped, feet)
    coms = link_coms(robot, joints)[0]
    levels = weights * (coms[:, 2] + height)
    # Shares (2 legs, 3 axes) of mass, and of its height, that follow each foot.
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
    joints: FloatArray = biped.robot.joint_stance.copy()
    joints[biped.columns], _ = biped.solve(feet)
    return joints
