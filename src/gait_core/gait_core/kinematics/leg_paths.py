# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of several legs along paths of their soles, compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numba import njit
import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
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
    """
    Legs with equal numbers of joints and of chain elements, stacked for ``follow_chains``.

    ``starts[:, 0]`` are the last solutions, ``starts[:, 1]`` the nominal stance.
    """

    legs: list[int]
    columns: list[int]
    starts: FloatArray
    chains: Chain
    max_cost: FloatArray


class LegPathSolver:
    """
    Inverse kinematics of several legs along paths of their soles.

    Each path starts from the last solutions of the previous one; ``reset`` forgets them.

    Parameters
    ----------
    robot : RobotModel
    legs : sequence of str
        Names of the legs.

    """

    def __init__(self, robot: RobotModel, legs: Sequence[str]) -> None:
        self.legs = tuple(LegKinematics(robot, leg) for leg in legs)
        sizes = [leg._chain.gain.shape for leg in self.legs]
        self._groups = [
            _group_legs(self.legs, [i for i, other in enumerate(sizes) if other == size])
            for size in sorted(set(sizes))
        ]
        self._joint_count = sum(size[1] for size in sizes)
        # As in ``LegKinematics``: compile now, not in the middle of a walk.
        self.follow([[leg.forward(leg._stance)[0]] for leg in self.legs])
        self.reset()

    def reset(self) -> None:
        """Forget the last solutions: the next searches start in the nominal stance."""
        for group in self._groups:
            group.starts[:, 0] = group.starts[:, 1]

    def follow(self, paths: npt.ArrayLike) -> FloatArray:
        """
        Return joint positions that put the soles on the points of their paths, in order.

        Equal to ``LegKinematics.solve`` for each point, within its tolerances, and much faster.
        A point out of reach is approached as closely as the search can.

        Parameters
        ----------
        paths : (L, k, 3) array [m]
            k >= 1 points of each leg in the base frame.

        Returns
        -------
        (k, n) array [rad or m]
            Joints of the first leg, then of the second, and so on.

        Raises
        ------
        ValueError
            If the shape does not fit or a number is not finite.

        """
        points = np.ascontiguousarray(paths, dtype=np.float64)
        if not points.flags.writeable:
            # The kernel is compiled for writable arrays.
            points = points.copy()
        fits = points.ndim == 3 and points.shape[::2] == (len(self.legs), 3)
        if not (fits and np.isfinite(points).all()):
            shape = (len(self.legs), 'k', 3)
            raise ValueError(f'paths are {paths!r}, expected {shape} finite numbers')
        samples = points.shape[1]
        if len(self._groups) == 1:
            return _follow_group(self._groups[0], points).reshape(samples, -1)
        positions = np.empty((samples, self._joint_count))
        for group in self._groups:
            group_positions = _follow_group(group, np.ascontiguousarray(points[group.legs]))
            positions[:, group.columns] = group_positions.reshape(samples, -1)
        return positions


def _group_legs(legs: Sequence[LegKinematics], indices: list[int]) -> _EqualLegs:
    first = np.cumsum([0, *(len(leg.joint_names) for leg in legs)])
    group = [legs[i] for i in indices]
    return _EqualLegs(
        legs=indices,
        columns=[column for i in indices for column in range(first[i], first[i + 1])],
        starts=np.array([leg._starts[:3] for leg in group]),
        chains=Chain(*map(np.array, zip(*(leg._chain for leg in group), strict=True))),
        max_cost=np.array([leg._max_cost for leg in group]),
    )


def _follow_group(group: _EqualLegs, points: FloatArray) -> FloatArray:
    """Return joint positions (k, L, m) for the points (L, k, 3) of a group of equal legs."""
    positions = np.empty((points.shape[1], *group.chains.lower.shape))
    follow_chains(group.starts, group.chains, points, group.max_cost, positions)
    return positions


@njit(cache=True)
def follow_chains(starts, chains, paths, max_cost, positions):  # type: ignore[no-untyped-def]
    """
    Write joint positions that put the soles of L equal chains on paths, point by point.

    Each search starts at the linear extrapolation of the last two solutions, or at the last one
    after a point out of reach. A point in reach is met within a nanometre.

    Parameters
    ----------
    starts : (L, s, m) array [rad or m]
        Starts of searches; ``starts[:, 0]`` is overwritten by the last solution.
    chains : Chain
        Chains of all legs, stacked.
    paths : (L, k, 3) array [m]
        Finite.
    max_cost : (L,) array [m^2]
        Cost at or below which no further start is tried.
    positions : (k, L, m) array [rad or m]
        Written.

    """
    attitude = np.eye(3)
    joint_count = chains.lower.shape[1]
    work = make_work_arrays(chains.bias.shape[1], joint_count)
    for i in range(len(paths)):
        chain = Chain(
            chains.gain[i],
            chains.bias[i],
            chains.rotation[i],
            chains.offset[i],
            chains.axis[i],
            chains.sliding[i],
            chains.lower[i],
            chains.upper[i],
        )
        is_consecutive = False
        for k in range(paths.shape[1]):
            solution = positions[k, i]
            copy_values(starts[i, 0], solution)
            # Three joints and a nearby point: a few Newton steps are enough. Otherwise search.
            is_reached = joint_count == 3 and approach_nearby_point(
                chain, paths[i, k], solution, work
            )
            if not is_reached:
                goal = Goal(paths[i, k], attitude, 0.0)
                cost = search_from_starts(starts[i], chain, goal, max_cost[i], solution, work)
                is_reached = cost <= max_cost[i]
            for j in range(joint_count):
                extrapolation = (
                    solution[j] - positions[k - 1, i, j] if is_consecutive and is_reached else 0.0
                )
                starts[i, 0, j] = solution[j] + extrapolation
            is_consecutive = is_reached
        copy_values(positions[-1, i], starts[i, 0])
