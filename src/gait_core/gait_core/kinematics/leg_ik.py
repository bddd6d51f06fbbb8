# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kinematics of legs: sole pose, Jacobian, and inverse kinematics within joint limits."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import kinematic_tree
from gait_core.kinematics.leg_chain import Chain, WorkArrays, compute_pose, make_work_arrays
from gait_core.kinematics.leg_kernel import Goal, solve_chain
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.model import RobotModel

POSITION_TOLERANCE = 1e-6
"""Position error within which a target counts as reached [m]."""
ANGLE_TOLERANCE = 1e-6
"""Orientation error within which a requested orientation counts as reached [rad]."""


@dataclass(frozen=True, kw_only=True)
class LegSolution:
    """
    Result of inverse kinematics.

    Attributes
    ----------
    positions : (m,) array [rad or m]
        Joint positions of the leg, within their limits.
    position_error : float [m]
        Distance from the sole point to its target.
    angle_error : float [rad]
        Angle from the sole's orientation to the requested one; 0 if none was requested.
    is_reachable : bool
        Whether both errors are within the tolerances. If not, ``positions`` are the nearest that
        the search found.

    """

    positions: FloatArray
    position_error: float
    angle_error: float
    is_reachable: bool


class LegKinematics:
    """
    Kinematics of one leg in the base frame.

    Joints between root and sole that are not the leg's own, such as a waist, stay in the nominal
    stance. ``solve`` starts from the last solution, so its result depends on earlier calls;
    ``reset`` forgets them.

    Parameters
    ----------
    robot : RobotModel
    leg : str
        Name of the leg.

    """

    def __init__(self, robot: RobotModel, leg: str) -> None:
        self._leg = robot.leg(leg)
        self.joint_names = self._leg.joints
        self.columns = columns = [robot.joint_index[name] for name in self.joint_names]
        self._stance = robot.stance[columns]
        self._chain = _leg_chains(robot)[leg]
        self.lower, self.upper = self._chain.lower, self._chain.upper
        # An error of one radian counts like one of this length.
        self._weight = float(np.linalg.norm(self._chain.offset[1:], axis=1).sum()) or 1.0
        # The cost sums both errors, so each may use half of its tolerance: (t / 2)^2 / 2.
        self._max_cost = 0.125 * min(POSITION_TOLERANCE, self._weight * ANGLE_TOLERANCE) ** 2
        self._starts = _search_starts(self._stance, self.lower, self.upper)
        self.reset()
        # Kernels take seconds to compile at their first call on a machine: call them now, not
        # in the middle of a walk.
        self.solve(self.forward(self._stance)[0])
        self.reset()

    @property
    def length(self) -> float:
        """Distance from the first joint to the sole point along the links [m]."""
        return self._weight

    def reset(self) -> None:
        """Forget the last solution: the next search starts in the nominal stance."""
        self._last = self._stance

    def forward(self, positions: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return sole point (3,) [m] and orientation (3, 3) of the sole link for joints (m,)."""
        work = self._pose_at(positions)
        return work.point, work.rotation

    def _pose_at(self, positions: npt.ArrayLike) -> WorkArrays:
        """Return new work arrays with the chain's pose at joint positions (m,)."""
        work: WorkArrays = make_work_arrays(*self._chain.gain.shape)
        compute_pose(self._chain, np.array(positions, dtype=np.float64), work)
        return work

    def jacobian(self, positions: npt.ArrayLike) -> FloatArray:
        """Return the Jacobian of the sole point, (6, m): linear, then angular velocity."""
        work, slide = self._pose_at(positions), self._chain.sliding[:, None]
        linear = np.where(slide, work.axes, np.cross(work.axes, work.point - work.origins))
        angular = np.where(slide, 0.0, work.axes)
        return np.asarray(np.concatenate([linear.T, angular.T]) @ self._chain.gain)

    def solve(
        self,
        target: npt.ArrayLike,
        orientation: npt.ArrayLike | None = None,
        start: npt.ArrayLike | None = None,
        thorough: bool = False,
    ) -> LegSolution:
        """
        Return joint positions that put the sole point at a target.

        Parameters
        ----------
        target : (3,) array [m]
            In the base frame.
        orientation : (3, 3) array, optional
            Of the sole link in the base frame; for legs of six joints. With fewer joints the
            weighted sum of both errors is minimised: one radian counts like the leg's length.
        start : (m,) array [rad or m], optional
            Start of the search; default: the last solution. If it fails, the search is repeated
            from the nominal stance and from the middle of the joints' ranges.
        thorough : bool
            Repeat a failed search from 16 more starts, spread over the joints' ranges, before
            the target counts as out of reach. For planning; takes up to six times as long.

        Returns
        -------
        LegSolution

        Raises
        ------
        ValueError
            If a shape does not fit or a number is not finite.

        """
        point = _finite_array('target', target, (3,))
        attitude = (
            _NO_ATTITUDE
            if orientation is None
            else _finite_array('orientation', orientation, (3, 3))
        )
        goal = Goal(point, attitude, 0.0 if orientation is None else self._weight)
        starts = self._starts.copy() if thorough else self._starts[:3].copy()
        starts[0] = (
            self._last if start is None else _finite_array('start', start, self._stance.shape)
        )
        best, max_cost = np.empty(len(self._stance)), self._max_cost
        cost = solve_chain(starts, self._chain, goal, max_cost, best)
        self._last = best
        if cost <= max_cost and goal.weight == 0.0:
            return LegSolution(
                positions=best,
                position_error=math.sqrt(2.0 * cost),
                angle_error=0.0,
                is_reachable=True,
            )
        return self._solution(best, goal)

    def _solution(self, positions: FloatArray, goal: Goal) -> LegSolution:
        """Return the solution of joint positions, with their errors from the goal."""
        point, rotation = self.forward(positions)
        distance = math.dist(point, goal.point)
        # Frobenius norm of a difference of rotations: |R - R*| = sqrt(8) sin(angle / 2).
        gap = math.dist(rotation.ravel(), goal.attitude.ravel()) if goal.weight > 0.0 else 0.0
        angle = 2.0 * math.asin(min(1.0, gap / math.sqrt(8.0)))
        is_reachable = distance <= POSITION_TOLERANCE and angle <= ANGLE_TOLERANCE
        return LegSolution(
            positions=positions,
            position_error=distance,
            angle_error=angle,
            is_reachable=is_reachable,
        )


_NO_ATTITUDE = np.eye(3)


def _search_starts(stance: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """
    Return the starts of searches, (19, m) [rad or m].

    Row 0 is room for the last solution, row 1 the stance, row 2 the middle of the joints' ranges.
    The other sixteen are spread evenly over the ranges, by the additive recurrence of Roberts
    (2018): steps are powers of 1 / x with ``x^(m+1) = x + 1``. The range of an endless joint is
    half a turn about its stance.
    """
    low = np.where(np.isfinite(lower), lower, stance - 0.5 * np.pi)
    high = np.where(np.isfinite(upper), upper, stance + 0.5 * np.pi)
    # Fixed-point iteration for the root of x^(m+1) = x + 1.
    root = 2.0
    for _ in range(40):
        root = (1.0 + root) ** (1.0 / (len(stance) + 1))
    powers = root ** -(1.0 + np.arange(len(stance)))
    shares = np.mod(0.5 + np.arange(17)[:, None] * powers, 1.0)
    return np.concatenate([[stance, stance], low + shares * (high - low)])


def _finite_array(name: str, values: npt.ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    # Copied because the kernel is compiled for writable arrays.
    array = np.array(values, dtype=np.float64, order='C')
    if array.shape != shape or not all(map(math.isfinite, array.ravel().tolist())):
        raise ValueError(f'{name} is {values!r}, expected {shape} finite numbers')
    return array


@cached_per_robot
def _leg_chains(robot: RobotModel) -> dict[str, Chain]:
    """Return the chain of each leg by its name."""
    index = robot.joint_index
    return {
        leg.name: _build_chain(
            robot, leg.sole, leg.sole_point, [index[name] for name in leg.joints]
        )
        for leg in robot.legs
    }


def _build_chain(
    robot: RobotModel, sole: str, sole_point: tuple[float, float, float], columns: list[int]
) -> Chain:
    """Return the chain from the root to a point of a link, driven by the joints in ``columns``."""
    tree = kinematic_tree(robot)
    rows = [robot.link_index[sole]]
    while tree.parent[rows[0]] >= 0:
        rows.insert(0, int(tree.parent[rows[0]]))
    # Joints of other limbs keep their stance: they enter as a constant bias.
    other_positions = robot.stance[: len(robot.joint_names)].copy()
    other_positions[columns] = 0.0
    moving: list[int] = []
    rotations, offsets = [np.eye(3)], [np.zeros(3)]
    for row in rows:
        # Fixed joints are merged into the frame of the element above them.
        offsets[-1] = offsets[-1] + rotations[-1] @ tree.offset[row]
        rotations[-1] = rotations[-1] @ tree.rotation[row]
        if tree.revolute[row] or tree.prismatic[row]:
            moving.append(row)
            rotations.append(np.eye(3))
            offsets.append(np.zeros(3))
    offsets[-1] = offsets[-1] + rotations[-1] @ np.array(sole_point)
    return Chain(
        gain=np.ascontiguousarray(tree.gain[moving][:, columns]),
        bias=tree.gain[moving] @ other_positions + tree.bias[moving],
        rotation=np.array(rotations),
        offset=np.array(offsets),
        axis=tree.axis[moving],
        sliding=tree.prismatic[moving],
        lower=robot.lower[columns],
        upper=robot.upper[columns],
    )
