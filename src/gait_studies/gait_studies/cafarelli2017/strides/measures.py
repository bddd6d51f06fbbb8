# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

r"""
Measures of strides: work along the path of the joints, heat, stability, slip and clearance.

All six legs move. While one tripod is in stance and goes from posture 1 over 2 to 3, the other
swings from 3 over 4 to 1; then they change roles. One such half cycle is one stroke. In it every
phase of the published model occurs once.

Joints move in straight lines between postures. The robot is quasi-static. With :math:`f` the
force on a foot and :math:`m \vec g` the weight of a segment, a joint coordinate q needs

.. math::
    \tau = -f \cdot \frac{\partial r_{foot}}{\partial q}
           - \sum m \vec g \cdot \frac{\partial r_{com}}{\partial q}

so that the signed work of all joints over a path equals the change of potential energy. Unlike the
published energy, every measure is a continuous function of the postures.

References
----------
Cafarelli (2017) for the robot; the energies replace those of its chapter 3.

"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.arrays import FloatArray, all_finite
from gait_core.errors import ConfigurationError
from gait_core.measures.energy import cost_of_transport
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    int_parameter,
    str_parameter,
)
from gait_studies.cafarelli2017.strides.encoding import GENES, joints_from_genes
from gait_studies.cafarelli2017.strides.hexapod import HexapodParameters
from gait_studies.cafarelli2017.strides.kernel import (
    MEASURE_COLUMNS,
    SCREW_COLUMNS,
    MeasureConditions,
    measure_strides_into,
)
from gait_studies.cafarelli2017.strides.leg import foot_strokes
from gait_studies.cafarelli2017.strides.scoring import FULL_REACH, PUBLISHED_HEXAPOD

_COLUMN_INDEX = {name: i for i, name in enumerate(MEASURE_COLUMNS)}


@dataclass(frozen=True, kw_only=True)
class MeasureSettings(Parameters):
    """Conditions of the measurement of a stride, and the parts of its energy."""

    steps: int = int_parameter(16, low=1, high=10000, doc='Intervals per phase, trapezoidal rule.')
    phase_duration: float = float_parameter(
        1.0, low=0.01, high=100.0, unit='s', doc='Duration of each phase.'
    )
    slope_up: float = float_parameter(
        0.0, low=-1.0, high=1.0, unit='rad', doc='Angle of the ground, positive uphill.'
    )
    slope_across: float = float_parameter(
        0.0,
        low=-1.0,
        high=1.0,
        unit='rad',
        doc='Angle of the ground, positive where left is up. Energies are the mean of both '
        'tripods, the margin is the smaller one.',
    )
    loads: str = str_parameter(
        'statics',
        choices=('statics', 'equal'),
        doc='Loads of the feet in stance. statics: in equilibrium, with gravity along the slope. '
        'equal: a third each, body parallel to the ground.',
    )
    axial_force: str = str_parameter(
        'path',
        choices=('path', 'printed'),
        doc='Force along a screw. path: that which does the work along the path. printed: Eqs. '
        '3.4 to 3.7, level ground only.',
    )
    screw: str = str_parameter(
        'friction',
        choices=('friction', 'symmetric'),
        doc='Work of a screw. friction: yielding to the load needs less than pushing against it, '
        'and none if the screw cannot lock itself. symmetric: the same both ways, as published.',
    )
    work: str = str_parameter(
        'absolute',
        choices=('absolute', 'positive'),
        doc='Work of hips and knees that counts as energy. absolute: braking costs as much as '
        'driving. positive: braking is free.',
    )
    lift: bool = bool_parameter(
        True,
        doc='Add the work that raises a body which sank in a stroke, or lifts it up a slope, as '
        'far as the joints do not do that work.',
    )
    heat: bool = bool_parameter(False, doc='Energy includes the heat of the motors.')
    rotary_constant: float = float_parameter(
        1.8,
        low=0.001,
        high=1000.0,
        unit='N m/sqrt(W)',
        doc='Motor constant at hips and knees; assumed: a servo that stalls at 40 N m and 480 W.',
    )
    screw_constant: float = float_parameter(
        0.05,
        low=0.0001,
        high=100.0,
        unit='N m/sqrt(W)',
        doc='Motor constant at the screws; assumed: a motor that stalls at 0.4 N m and 64 W.',
    )


@dataclass(frozen=True, kw_only=True)
class StrideMeasures:
    """
    Measures of k strides, each (k,), over one stroke of the robot: half a cycle.

    Attributes
    ----------
    distance : array [m]
        Shortest backward stroke of a foot; negative if that foot moves forward.
    duration : float [s]
        Duration of the stroke.
    rotary_signed, rotary_absolute, rotary_positive : arrays [J]
        Work of hips and knees.
    screw_signed : array [J]
        Work of the rods on the legs.
    screw_input : array [J]
        Work of the motors that turn the screws, friction included.
    rotary_heat, screw_heat : arrays [J]
        Heat of the motor windings. A screw turns at its own speed and then rests; a screw that is
        not self-locking needs a holding torque all the time.
    lift : array [J]
        Weight times rise of the ground minus the signed work of all joints; at least 0.
    energy : array [J]
        Sum of the parts that the settings select.
    margin : array [m]
        Least signed distance of the projected centre of mass from the edges of the triangle of
        feet in stance; negative outside.
    slip : array [m]
        Largest change of the distance between two feet in stance during the stroke.
    tilt : array [rad]
        Largest angle between body and ground.
    tilt_range : array [rad]
        Largest angle between two normals of the ground in the body frame.
    clearance : array [m]
        Least height of a swinging foot above the ground in mid-swing, at posture 4.
    handover : array [m]
        Largest height of a foot at its touch-down or lift-off.
    knees : array [m]
        Least height of a knee above the ground.
    lean : array [rad]
        Largest angle between the body's z axis and the vertical; on level ground the tilt.
    mass, gravity : float [kg, m/s^2]

    """

    distance: FloatArray
    duration: float
    rotary_signed: FloatArray
    rotary_absolute: FloatArray
    rotary_positive: FloatArray
    screw_signed: FloatArray
    screw_input: FloatArray
    rotary_heat: FloatArray
    screw_heat: FloatArray
    lift: FloatArray
    energy: FloatArray
    margin: FloatArray
    slip: FloatArray
    tilt: FloatArray
    tilt_range: FloatArray
    clearance: FloatArray
    handover: FloatArray
    knees: FloatArray
    lean: FloatArray
    mass: float
    gravity: float

    @property
    def efficiency(self) -> FloatArray:
        """Distance over reach and energy, (k,) [1/J]: published objective with path energy."""
        with np.errstate(divide='ignore', invalid='ignore'):
            return np.asarray(self.distance / FULL_REACH / self.energy)

    @property
    def time_per_distance(self) -> FloatArray:
        """Duration per distance, (k,) [s/m]; infinite if the stride does not advance."""
        with np.errstate(divide='ignore'):
            return np.where(self.distance > 0.0, self.duration / self.distance, np.inf)

    def cost_of_transport(self, min_distance: float = 0.01) -> list[float | None]:
        """Return energy over weight and distance; ``None`` below ``min_distance`` [m]."""
        return [
            cost_of_transport(
                float(energy), self.mass, self.gravity, float(distance), min_distance
            )
            for energy, distance in zip(self.energy, self.distance, strict=True)
        ]


def measure_strides(
    genes: FloatArray,
    settings: MeasureSettings | None = None,
    hexapod: HexapodParameters = PUBLISHED_HEXAPOD,
    leads: FloatArray | None = None,
) -> StrideMeasures:
    """
    Return the measures of strides.

    Parameters
    ----------
    genes : (k, 48) array [deg, cm]
    settings : MeasureSettings, optional
    hexapod : HexapodParameters
    leads : (k,) array [m], optional
        Lead of the screws by stride; by default that of the hexapod.

    Raises
    ------
    ConfigurationError
        If a stride does not have 48 finite genes, or if printed forces are selected on a slope.

    """
    chosen = MeasureSettings() if settings is None else settings
    if np.ndim(genes) != 2 or np.shape(genes)[1] != GENES:
        raise ConfigurationError(f'strides have shape {np.shape(genes)}, expected (k, {GENES})')
    if not all_finite(genes):
        row, gene = np.argwhere(~np.isfinite(genes))[0]
        raise ConfigurationError(
            f'gene {gene} of stride {row} is {genes[row, gene]}, expected a finite number'
        )
    joints = joints_from_genes(genes)
    at = kernel_conditions(chosen)
    screws = _screw_rows(
        np.full(len(joints), hexapod.lead) if leads is None else leads, hexapod, chosen.screw
    )
    rows = _kernel_rows(joints, screws, hexapod, at)
    if at.across != 0.0:
        # The other tripod on this slope is the mirror image of this tripod on the mirrored slope.
        mirrored = _kernel_rows(joints, screws, hexapod, at._replace(across=-at.across))
        least = np.minimum(rows[:, _COLUMN_INDEX['margin']], mirrored[:, _COLUMN_INDEX['margin']])
        rows = 0.5 * (rows + mirrored)
        rows[:, _COLUMN_INDEX['margin']] = least
    column = {name: rows[:, i] for name, i in _COLUMN_INDEX.items()}
    energy = column[f'rotary_{chosen.work}'] + column['screw_input']
    distance = foot_strokes(joints).min(axis=1)
    climb = hexapod.mass * hexapod.gravity * distance * at.along
    lift = np.maximum(0.0, climb - column['rotary_signed'] - column['screw_signed'])
    if chosen.lift:
        energy = energy + lift
    if chosen.heat:
        energy = energy + column['rotary_heat'] + column['screw_heat']
    return StrideMeasures(
        distance=distance,
        duration=2.0 * chosen.phase_duration,
        lift=lift,
        energy=energy,
        mass=hexapod.mass,
        gravity=hexapod.gravity,
        **column,
    )


def _kernel_rows(
    joints: FloatArray, screws: FloatArray, hexapod: HexapodParameters, at: MeasureConditions
) -> FloatArray:
    rows: FloatArray = np.empty((len(joints), len(MEASURE_COLUMNS)))
    measure_strides_into(joints, screws, hexapod.as_named_tuple(), at, rows)
    return rows


def _screw_rows(leads: FloatArray, hexapod: HexapodParameters, screw: str) -> FloatArray:
    """Return constants of screws by their leads (k,) [m], (k, 5) in order ``SCREW_COLUMNS``."""
    alpha = np.arctan2(leads, hexapod.screw_diameter * math.pi)
    theta, arm = hexapod.friction_angle, hexapod.screw_diameter / 2.0
    pushing = np.tan(alpha + theta)
    yielding = pushing if screw == 'symmetric' else np.maximum(0.0, np.tan(theta - alpha))
    column = {
        'pushing': pushing / np.tan(alpha),
        'yielding': yielding / np.tan(alpha),
        'torque_pushing': arm * pushing,
        'torque_yielding': arm * yielding,
        'torque_holding': arm * np.maximum(0.0, np.tan(alpha - theta)),
    }
    return np.column_stack([column[name] for name in SCREW_COLUMNS])


def kernel_conditions(settings: MeasureSettings) -> MeasureConditions:
    """Return the settings for compiled code; ConfigurationError if they contradict each other."""
    is_printed = settings.axial_force == 'printed'
    if is_printed and (settings.slope_up or settings.slope_across or settings.loads != 'equal'):
        raise ConfigurationError(
            "axial_force 'printed' holds for equal loads on level ground; nearest valid: 'path'"
        )
    along, across = math.sin(settings.slope_up), math.sin(settings.slope_across)
    if along * along + across * across >= 1.0:
        raise ConfigurationError(
            f'slopes of {settings.slope_up:g} rad up and {settings.slope_across:g} rad across are '
            'vertical or steeper together; nearest valid: a smaller one'
        )
    return MeasureConditions(
        steps=settings.steps,
        phase_duration=settings.phase_duration,
        along=along,
        across=across,
        statics=settings.loads == 'statics',
        printed_forces=is_printed,
        rotary_constant=settings.rotary_constant,
        screw_constant=settings.screw_constant,
    )
