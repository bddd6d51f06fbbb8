"""Model of a robot on two legs for the walk: soles, stance, height of its mass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.body import com_positions, point_position
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.kinematics.soles import sole_extent
from gait_core.robot.model import Leg, RobotModel

LEAST_JOINTS = 5
LEAST_SOLE = 0.02
"""Length and width [m] from which a foot counts as a sole, on which a robot can balance."""
_FINE = 1e-3


class Biped:
    """
    A robot on two legs in its nominal stance; rows are the left leg, then the right one.

    Attributes
    ----------
    names : tuple of str
        Joints of the left leg, then of the right one.
    leg_names : (str, str)
    stance : (n,) array [rad or m]
    feet : (2, 3) array [m]
        Sole points in the base frame.
    turns : (2, 3, 3) array
        Attitudes of the sole links.
    soles : (2, 2, 2) array [m]
        Least and greatest (x, y) of each sole about its point.
    height : float [m]
        Of the base over the soles.
    com : (3,) array [m]
        In the base frame.

    Raises
    ------
    ConfigurationError
        If there are not two legs of five joints on soles side by side.

    """

    def __init__(self, robot: RobotModel, controller: str) -> None:
        legs = sorted(
            _two_legs(robot, controller),
            key=lambda leg: -float(point_position(robot, robot.joint_stance, leg.sole)[1]),
        )
        self.robot = robot
        self.leg_names = (legs[0].name, legs[1].name)
        self.names = (*legs[0].joints, *legs[1].joints)
        self.columns = np.array([robot.joint_index[name] for name in self.names])
        self.stance: FloatArray = robot.joint_stance[self.columns]
        self._legs = [LegKinematics(robot, name) for name in self.leg_names]
        self._starts = np.split(self.stance, [len(legs[0].joints)])
        poses = [leg.forward(start) for leg, start in zip(self._legs, self._starts, strict=True)]
        self.feet = np.array([point for point, _ in poses])
        self.turns = np.array([turn for _, turn in poses])
        self.height = -float(self.feet[:, 2].mean())
        self.half_width = 0.5 * float(self.feet[0, 1] - self.feet[1, 1])
        self.com = com_positions(robot, robot.joint_stance)
        self.soles = np.array([_sole(robot, leg, controller) for leg in legs])
        if self.half_width < _FINE:
            raise ConfigurationError(
                f"controller '{controller}': the feet of robot '{robot.name}' stand "
                f'{2e3 * self.half_width:.0f} mm apart; correct its nominal stance'
            )

    def solve(self, feet: FloatArray) -> tuple[FloatArray, float]:
        """
        Return the joints (n,) that put level soles somewhere, and by how much they miss [m].

        Parameters
        ----------
        feet : (2, 3) array [m]
            Sole points in the base frame.

        """
        found = [
            leg.solve(foot, turn, start)
            for leg, foot, turn, start in zip(
                self._legs, feet, self.turns, self._starts, strict=True
            )
        ]
        miss = max(one.position_error for one in found)
        return np.concatenate([one.positions for one in found]), miss

    def stretch(self) -> float:
        """Return the greatest height of the base over level feet under it, to a millimetre [m]."""
        low, high = 0.0, 0.5 * max(leg.length for leg in self._legs)
        while high - low > _FINE:
            middle = 0.5 * (low + high)
            _, miss = self.solve(self.feet - (0.0, 0.0, middle))
            low, high = (middle, high) if miss < _FINE else (low, middle)
        return self.height + low


def _two_legs(robot: RobotModel, controller: str) -> Sequence[Leg]:
    if len(robot.legs) != 2:
        raise ConfigurationError(
            f"controller '{controller}' needs 2 legs, robot '{robot.name}' has {len(robot.legs)}"
        )
    short = [leg for leg in robot.legs if len(leg.joints) < LEAST_JOINTS]
    if short:
        raise ConfigurationError(
            f"controller '{controller}' needs legs of {LEAST_JOINTS} joints, leg "
            f"'{short[0].name}' of robot '{robot.name}' has {len(short[0].joints)}"
        )
    return robot.legs


def _sole(robot: RobotModel, leg: Leg, controller: str) -> FloatArray:
    """Return the extent of a sole, (2, 2) [m], that is large enough to stand on."""
    extent = sole_extent(robot, leg)
    length, width = (extent[1] - extent[0]).tolist()
    if min(length, width) < LEAST_SOLE:
        raise ConfigurationError(
            f"controller '{controller}' balances on soles: that of leg '{leg.name}' of robot "
            f"'{robot.name}' is {1e3 * length:.0f} x {1e3 * width:.0f} mm, less than "
            f'{1e3 * LEAST_SOLE:.0f} mm'
        )
    return extent
