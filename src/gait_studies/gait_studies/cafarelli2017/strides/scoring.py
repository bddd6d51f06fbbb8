# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Published score of strides: distance per energy, dragging and stability.

References
----------
Cafarelli (2017), section 5.2; ``FitnessFunction`` of appendix B.

"""

from __future__ import annotations

from dataclasses import dataclass

from numba import njit
import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.errors import ConfigurationError
from gait_studies.cafarelli2017.strides.encoding import GENES, joints_from_genes
from gait_studies.cafarelli2017.strides.hexapod import BodyConstants, HexapodParameters
from gait_studies.cafarelli2017.strides.leg import foot_strokes
from gait_studies.cafarelli2017.strides.pose import Pose, is_stable, pose_from_feet, swings_free
from gait_studies.cafarelli2017.strides.power import phase_power, stride_power
from gait_studies.cafarelli2017.strides.rules import AS_CODED, RuleFlags, StrideRules

FULL_REACH = 0.48
"""2 L [m]: twice a leg with both segments fully extended, Eq. 5.5."""

PUBLISHED_HEXAPOD = HexapodParameters()


@dataclass(frozen=True, kw_only=True)
class StrideScores:
    """
    Scores of k strides.

    Attributes
    ----------
    distance : (k,) array [m]
        Shortest backward stroke of a foot.
    power : (k, 4, 3) array [thesis units]
        Power of each phase and leg.
    efficiency : (k,) array [-]
        Distance over reach and total power; not bounded by 1.
    swings_free, stable : (k,) bool arrays
        Objectives that the thesis calls dragging and stability; True if met.
    fitness : (k,) array [-]
        Weighted sum of efficiency and both objectives.

    """

    distance: FloatArray
    power: FloatArray
    efficiency: FloatArray
    swings_free: BoolArray
    stable: BoolArray
    fitness: FloatArray

    @property
    def energy(self) -> FloatArray:
        """Total power, (k,), in thesis units; the thesis calls them joules, which is wrong."""
        return np.asarray(self.power.sum(axis=(1, 2)))


def score_strides(
    genes: FloatArray,
    rules: StrideRules = AS_CODED,
    hexapod: HexapodParameters = PUBLISHED_HEXAPOD,
) -> StrideScores:
    """
    Return the scores of strides.

    Parameters
    ----------
    genes : (k, 48) array [deg, cm]
        Feasible or not.
    rules : StrideRules
        Rules of the text, of the program, or a mixture.
    hexapod : HexapodParameters

    Raises
    ------
    ConfigurationError
        If a stride does not have 48 genes.

    References
    ----------
    Cafarelli (2017), equations 3.1 to 3.3 and 5.2 to 5.5.

    """
    if np.ndim(genes) != 2 or np.shape(genes)[1] != GENES:
        raise ConfigurationError(f'strides have shape {np.shape(genes)}, expected (k, {GENES})')
    joints = joints_from_genes(genes)
    count = len(joints)
    # D: the least backward stroke of the three feet, as in the listing.
    distance = foot_strokes(joints).min(axis=1)
    if rules.as_named_tuple().absolute_distance:
        distance = np.abs(distance)
    power: FloatArray = np.empty((count, 4, 3))
    energy: FloatArray = np.empty(count)
    flags = np.empty((count, 2), dtype=np.bool_)
    _score_strides_into(
        joints, hexapod.as_named_tuple(), rules.as_named_tuple(), power, energy, flags
    )
    # Eqs. 3.1, 5.4 and 5.5: eps = D / (2 L) / P.
    with np.errstate(divide='ignore', invalid='ignore'):
        efficiency = distance / FULL_REACH / energy
    # Eq. 5.2: w0 eps + w1 Dr + w2 St; the weights sum to 1 (Eq. 5.3).
    fitness = (
        rules.efficiency_weight * efficiency
        + rules.dragging_weight * flags[:, 0]
        + rules.stability_weight * flags[:, 1]
    )
    return StrideScores(
        distance=distance,
        power=power,
        efficiency=efficiency,
        swings_free=flags[:, 0],
        stable=flags[:, 1],
        fitness=fitness,
    )


def leg_power(
    start: FloatArray,
    end: FloatArray,
    *,
    stance: bool,
    rules: StrideRules = AS_CODED,
    hexapod: HexapodParameters = PUBLISHED_HEXAPOD,
) -> float:
    """Return the published power of one leg between two postures, (4,) [deg, deg, cm, cm]."""
    scale = np.array([np.pi / 180.0, np.pi / 180.0, 0.01, 0.01])
    return float(
        phase_power(
            np.asarray(start) * scale,
            np.asarray(end) * scale,
            stance,
            hexapod.as_named_tuple(),
            rules.as_named_tuple(),
        )
    )


def body_poses(
    genes: FloatArray,
    rules: StrideRules = AS_CODED,
    hexapod: HexapodParameters = PUBLISHED_HEXAPOD,
) -> list[Pose]:
    """Return the pose of the body over standing postures 1 to 3 of one stride, (48,)."""
    joints = joints_from_genes(genes)
    return [
        pose_from_feet(joints[i], hexapod.as_named_tuple(), rules.as_named_tuple())
        for i in range(3)
    ]


@njit(cache=True)
def _score_strides_into(
    joints: FloatArray,
    body: BodyConstants,
    rules: RuleFlags,
    power: FloatArray,
    energy: FloatArray,
    flags: BoolArray,
) -> None:
    """Write power (k, 4, 3), energy (k,) and both objectives (k, 2) of strides."""
    for i in range(len(joints)):
        energy[i] = stride_power(joints[i], body, rules, power[i])
        middle = pose_from_feet(joints[i, 1], body, rules)
        flags[i, 0] = swings_free(middle, joints[i, 3], body, rules)
        flags[i, 1] = (
            is_stable(middle, rules)
            and is_stable(pose_from_feet(joints[i, 0], body, rules), rules)
            and is_stable(pose_from_feet(joints[i, 2], body, rules), rules)
        )
