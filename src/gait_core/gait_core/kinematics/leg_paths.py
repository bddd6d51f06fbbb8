"""Joint positions that lead the soles of legs along paths, with their compiled kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numba import njit
import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray, all_finite
from gait_core.kinematics.leg_chain import Chain, make_work_arrays
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.kinematics.leg_kernel import (
    Goal,
    approach_nearby_point,
    copy_values,
    search_from_starts,
)
from gait_core.robot.model import RobotModel


@dataclass(frozen=True)
class _EqualLegs:
    """Legs of one number of joints and elements; arrays as ``follow_chains`` takes them."""

    legs: list[int]
    columns: list[int]
    starts: FloatArray
    chains: Chain
    enough: FloatArray


class LegPathSolver:
    """
    Follows paths of the soles of several legs; keeps the last solutions as the next starts.

    Parameters
    ----------
    robot : RobotModel
    legs : sequence of str
        Names of the legs.

    """

    def __init__(self, robot: RobotModel, legs: Sequence[str]) -> None:
        self.legs = tuple(LegKinematics(robot, leg) for leg in legs)
        sizes = [leg._chain.gain.shape for leg in self.legs]
        self._alike = [
            _group_legs(self.legs, [i for i, other in enumerate(sizes) if other == size])
            for size in sorted(set(sizes))
        ]
        self._joints = sum(size[1] for size in sizes)
        # As in ``LegKinematics``: nothing is left to be compiled in a walk.
        self.follow([[leg.forward(leg._stance)[0]] for leg in self.legs])
        self.reset()

    def reset(self) -> None:
        """Forget the last solutions: the next searches start in the nominal stance."""
        for alike in self._alike:
            alike.starts[:, 0] = alike.starts[:, 1]

    def follow(self, paths: npt.ArrayLike) -> FloatArray:
        """
        Return joint positions that put the soles on the points of their paths, one after another.

        Within the tolerances what ``LegKinematics.solve`` would return for each, in one call and
        at a fraction of its time. Points out of reach are met as closely as the search can.

        Parameters
        ----------
        paths : (L, k, 3) array [m]
            Of each leg, in the base frame; k >= 1.

        Returns
        -------
        (k, n) array [rad or m]
            The joints of the first leg, of the second and so on.

        Raises
        ------
        ValueError
            If the shape does not fit or a number is not finite.

        """
        points = np.ascontiguousarray(paths, dtype=np.float64)
        if not points.flags.writeable:
            # The kernel is compiled for arrays that may be written.
            points = points.copy()
        fits = points.ndim == 3 and points.shape[::2] == (len(self.legs), 3)
        if not (fits and all_finite(points)):
            wanted = (len(self.legs), 'k', 3)
            raise ValueError(f'paths are {paths!r}, expected {wanted} finite numbers')
        samples = points.shape[1]
        if len(self._alike) == 1:
            return _follow_group(self._alike[0], points).reshape(samples, -1)
        positions = np.empty((samples, self._joints))
        for alike in self._alike:
            found = _follow_group(alike, np.ascontiguousarray(points[alike.legs]))
            positions[:, alike.columns] = found.reshape(samples, -1)
        return positions


def _group_legs(legs: Sequence[LegKinematics], which: list[int]) -> _EqualLegs:
    first = np.cumsum([0, *(len(leg.joint_names) for leg in legs)])
    group = [legs[i] for i in which]
    return _EqualLegs(
        legs=which,
        columns=[column for i in which for column in range(first[i], first[i + 1])],
        starts=np.array([leg._starts[:3] for leg in group]),
        chains=Chain(*map(np.array, zip(*(leg._chain for leg in group), strict=True))),
        enough=np.array([leg._enough for leg in group]),
    )


def _follow_group(alike: _EqualLegs, points: FloatArray) -> FloatArray:
    """Return joint positions (k, L, m) for the points (L, k, 3) of alike legs."""
    positions = np.empty((points.shape[1], *alike.chains.lower.shape))
    follow_chains(alike.starts, alike.chains, points, alike.enough, positions)
    return positions


@njit(cache=True)
def follow_chains(starts, chains, paths, max_cost, positions):  # type: ignore[no-untyped-def]
    """
    Write joint positions that put the soles of L alike chains on paths, point by point.

    Each search begins where the last two solutions point to, or at the last one where a point was
    out of reach, and ends within a nanometre of a point in reach.

    Parameters
    ----------
    starts : (L, s, m) array [rad or m]
        ``starts[:, 0]`` is overwritten.
    chains : Chain
        Of all legs: its arrays have a leading axis of L.
    paths : (L, k, 3) array [m]
        Finite.
    enough : (L,) array [m^2]
        Cost at which no further start is tried.
    positions : (k, L, m) array [rad or m]
        Written.

    """
    attitude = np.eye(3)
    joints = chains.lower.shape[1]
    work = make_work_arrays(chains.bias.shape[1], joints)
    for i in range(len(paths)):
        chain = Chain(
            chains.gain[i],
            chains.bias[i],
            chains.turn[i],
            chains.offset[i],
            chains.axis[i],
            chains.sliding[i],
            chains.lower[i],
            chains.upper[i],
        )
        follow = False
        for k in range(paths.shape[1]):
            found = positions[k, i]
            copy_values(starts[i, 0], found)
            reached = joints == 3 and approach_nearby_point(chain, paths[i, k], found, work)
            if not reached:
                goal = Goal(paths[i, k], attitude, 0.0)
                cost = search_from_starts(starts[i], chain, goal, max_cost[i], found, work)
                reached = cost <= max_cost[i]
            for j in range(joints):
                lead = found[j] - positions[k - 1, i, j] if follow and reached else 0.0
                starts[i, 0, j] = found[j] + lead
            follow = reached
        copy_values(positions[-1, i], starts[i, 0])
