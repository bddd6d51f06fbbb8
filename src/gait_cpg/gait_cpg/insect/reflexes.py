# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Reflexes of insect legs: layers over the gait that can be switched while it walks.

The step reflex and the load reflex decide whether a leg swings; neighbour inhibition keeps
neighbours from swinging together. Three reflexes add offsets to the rest angles: a leg that meets
an obstacle in its swing is lifted higher and drawn back, a stance leg without contact presses
further down. The posture reflex (``insect.posture``) answers to tilt; while it acts, the three do
not: a front leg in the air under a rearing body must not push the body up further.

The thesis has no limits. Here the step reflex waits until all neighbours are in contact, and a
swing is delayed by at most ``longest_wait``, unless parameters say otherwise.

References
----------
McKenna (1990), sections 3.2 and 4.6, for the first three; Pearson and Franklin (1984), Int. J.
Robotics Research 3(2):101-112, for elevator reflex and search on rough terrain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import bool_parameter, float_parameter
from gait_core.robot.model import RobotModel
from gait_cpg.insect.posture import PostureParams, PostureReflex
from gait_cpg.reflexes.tilt import OBSTACLE_REFLEXES, TiltParams

STANCE, POTENTIAL_STEP, STEP = range(3)
"""States of a leg: stance, ready to swing unless inhibited, swing."""
REFLEXES = (
    'step_reflex',
    'load_reflex',
    'neighbour_inhibition',
    'elevator_reflex',
    'retraction',
    'foothold_search',
    'posture_reflex',
)
"""Names of the reflexes; each is a parameter that switches it on."""
PUBLISHED_REFLEXES = {
    'step_reflex': True,
    'load_reflex': True,
    'bearing_neighbours': False,
    'longest_wait': 10.0,
}
"""Parameters of the two reflexes of the thesis, without its missing limits."""
_MOVING_REFLEXES = ('elevator_reflex', 'retraction', 'foothold_search', 'posture_reflex')


def _declare_angle(default: float, doc: str, high: float = 1.6) -> Any:
    return float_parameter(default, low=-1.6, high=high, unit='rad', doc=doc)


def _declare_torque(default: float, doc: str) -> Any:
    return float_parameter(default, low=0.0, high=1e6, unit='N m', doc=doc)


def _declare_delay(default: float, doc: str) -> Any:
    return float_parameter(default, low=0.0, high=1.0, unit='s', doc=doc)


@dataclass(frozen=True, kw_only=True)
class ReflexParams(PostureParams):
    """Parameters of the reflexes: switches, and thresholds of each pair with left-leg signs."""

    readers: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **PostureParams.readers,
        **{
            f'{pair}_{name}': reflexes
            for pair in ('front', 'middle', 'back')
            for name, reflexes in (
                ('step_angle', ('step_reflex',)),
                ('load', ('load_reflex',)),
                ('held', OBSTACLE_REFLEXES),
                ('groundless', ('foothold_search',)),
            )
        },
        **dict.fromkeys(('elevator_lift', 'retraction_angle'), OBSTACLE_REFLEXES),
        **dict.fromkeys(('search_depth', 'search_time'), ('foothold_search',)),
        'reflex_time': (*OBSTACLE_REFLEXES, 'posture_reflex'),
        # Tilt keeps the reflexes of single legs from acting.
        **dict.fromkeys(TiltParams.readers, _MOVING_REFLEXES),
        'longest_wait': ('load_reflex', 'neighbour_inhibition'),
    }

    step_reflex: bool = bool_parameter(False, doc='A stance leg too far back starts to swing.')
    load_reflex: bool = bool_parameter(False, doc='A loaded leg does not start to swing.')
    neighbour_inhibition: bool = bool_parameter(
        False,
        doc='A leg does not start to swing while a leg before, behind or across from it swings.',
    )
    elevator_reflex: bool = bool_parameter(
        False, doc='A leg that meets an obstacle in its swing lifts higher.'
    )
    retraction: bool = bool_parameter(
        False, doc='A leg that meets an obstacle in its swing is drawn back.'
    )
    foothold_search: bool = bool_parameter(
        False, doc='A stance leg without contact presses further down.'
    )
    bearing_neighbours: bool = bool_parameter(
        True, doc='The step reflex waits until all neighbours of the leg are in contact.'
    )
    longest_wait: float = float_parameter(
        0.01, low=0.0, high=10.0, unit='s', doc='Largest delay of a swing by reflexes.'
    )
    front_step_angle: float = _declare_angle(
        0.10, 'Front legs: angle of the coxa (joint 0) from which the step reflex acts.'
    )
    middle_step_angle: float = _declare_angle(
        0.40, 'Middle legs: angle of the coxa (joint 0) from which the step reflex acts.'
    )
    back_step_angle: float = _declare_angle(
        0.45, 'Back legs: angle of the coxa (joint 0) from which the step reflex acts.'
    )
    front_load: float = _declare_torque(
        3e-5, 'Front legs: torque of the femur (joint 1) above which the load reflex acts.'
    )
    middle_load: float = _declare_torque(
        1.2e-4, 'Middle legs: torque of the femur (joint 1) above which the load reflex acts.'
    )
    back_load: float = _declare_torque(
        1.5e-4, 'Back legs: torque of the femur (joint 1) above which the load reflex acts.'
    )
    front_held: float = _declare_angle(
        0.14, 'Front legs, swing: lag of the coxa (joint 0) that shows an obstacle.'
    )
    middle_held: float = _declare_angle(
        0.08, 'Middle legs, swing: lag of the coxa (joint 0) that shows an obstacle.'
    )
    back_held: float = _declare_angle(
        0.16, 'Back legs, swing: lag of the coxa (joint 0) that shows an obstacle.'
    )
    front_groundless: float = _declare_delay(
        0.035, 'Front legs: time of a stance without contact until the foothold search.'
    )
    middle_groundless: float = _declare_delay(
        0.005, 'Middle legs: time of a stance without contact until the foothold search.'
    )
    back_groundless: float = _declare_delay(
        0.005, 'Back legs: time of a stance without contact until the foothold search.'
    )
    elevator_lift: float = _declare_angle(
        0.4, 'Additional lift of the femur (joint 1) over an obstacle.'
    )
    retraction_angle: float = _declare_angle(
        0.15, 'Backward motion of the coxa (joint 0) at an obstacle.'
    )
    search_depth: float = _declare_angle(
        0.5, 'Largest additional depression of the femur (joint 1) in a foothold search.'
    )
    reflex_time: float = float_parameter(
        0.01, low=1e-4, high=1.0, unit='s', doc='Time in which lift and retraction are reached.'
    )
    search_time: float = float_parameter(
        0.03,
        low=1e-3,
        high=1.0,
        unit='s',
        doc='Time in which the foothold search reaches its depth.',
    )


class LegMeasurements:
    """
    Measured quantities of the legs, with the signs of left legs.

    Parameters
    ----------
    robot : RobotModel
    sign : (6,) array
        1 for left legs, -1 for right ones.

    Attributes
    ----------
    coxa : (6,) array [rad]
        Angle of the coxa (joint 0).
    load : (6,) array [N m]
        Torque of the femur (joint 1), positive where it presses down.
    grounded : (6,) bool array
        Whether the foot touches the ground.

    """

    def __init__(self, robot: RobotModel, sign: FloatArray) -> None:
        index = robot.joint_index
        self._coxa = np.array([index[leg.joints[0]] for leg in robot.legs])
        self._femur = np.array([index[leg.joints[1]] for leg in robot.legs])
        self._sign = sign
        self.coxa: FloatArray = np.zeros(len(sign))
        self.load: FloatArray = np.zeros(len(sign))
        self.grounded: BoolArray = np.zeros(len(sign), dtype=bool)

    def update(self, observation: Observation) -> None:
        """Update from an observation; quantities that it lacks stay."""
        if observation.joint_positions is not None and observation.joint_efforts is not None:
            self.coxa = observation.joint_positions[self._coxa] * self._sign
            self.load = -observation.joint_efforts[self._femur] * self._sign
        if observation.contacts is not None:
            self.grounded[:] = False
            self.grounded[observation.contacts.sole[observation.contacts.sole >= 0]] = True


class InsectReflexes:
    """
    Reflexes of the legs of a robot.

    Parameters
    ----------
    robot : RobotModel
    row : (6,) int array
        Row of each leg, 0 in front.
    right : (6,) bool array
        Whether each leg is on the right.
    joints : int
        Joints per leg that have rest angles.

    Attributes
    ----------
    measured : LegMeasurements
    posture : PostureReflex
    offsets, rates : (6, joints) arrays [rad, rad/s]
        Offsets of the rest angles from the motor programs at the start of the control period, and
        their rates within it.
    counts : dict of str to int
        Number of activations of each reflex since the start.

    """

    def __init__(self, robot: RobotModel, row: IntArray, right: BoolArray, joints: int) -> None:
        self._row, side = row, np.where(right, -1.0, 1.0)
        row_distance = np.abs(row[:, None] - row[None, :])
        across = right[:, None] != right[None, :]
        self._neighbours = np.where(across, row_distance == 0, row_distance == 1)
        self.measured, self.posture = LegMeasurements(robot, side), PostureReflex(row, side)
        self._shape = (len(row), joints)
        self.reset()

    def reset(self) -> None:
        """Set all offsets and counts to zero."""
        self.posture.reset()
        self.offsets: FloatArray = np.zeros(self._shape)
        self.rates: FloatArray = np.zeros(self._shape)
        self._leg_offsets: FloatArray = np.zeros(self._shape)
        self._posture_offsets: FloatArray = np.zeros(self._shape)
        self._is_held: BoolArray = np.zeros(self._shape[0], dtype=bool)
        self._groundless: FloatArray = np.zeros(self._shape[0])
        self._waiting_time: FloatArray = np.zeros(self._shape[0])
        self._acting_legs: dict[str, BoolArray] = {}
        self.counts = dict.fromkeys(REFLEXES, 0)

    def set_params(self, params: ReflexParams) -> None:
        """Replace thresholds and switches."""
        self._params = params

        def by_row(name: str) -> FloatArray:
            """Return a parameter of the three pairs for every leg."""
            pairs = [getattr(params, f'{pair}_{name}') for pair in ('front', 'middle', 'back')]
            return np.array(pairs)[self._row]

        self._step_angle, self._load_limit = by_row('step_angle'), by_row('load')
        self._held_lag, self._groundless_limit = by_row('held'), by_row('groundless')
        self._is_moving_legs = any(getattr(params, name) for name in _MOVING_REFLEXES)

    def update(self, dt: float, observation: Observation) -> None:
        """Update measurements and posture reflex, a control period [s] after the last call."""
        self.measured.update(observation)
        self._count_onsets(
            'posture_reflex', self.posture.update(dt, observation.imu, self._params)
        )

    def step_requests(self, states: IntArray, shifts: FloatArray) -> BoolArray:
        """
        Return the legs that the step reflex makes ready to swing, (6,).

        Parameters
        ----------
        states : (6,) int array
            State of each leg.
        shifts : (6,) array [rad]
            Backward shifts of the coxae by the gait, which are no reason to swing.

        """
        if not self._params.step_reflex:
            return np.zeros(len(states), dtype=bool)
        # Step reflex (McKenna 1990, section 4.6): the coxa is farther back than a threshold.
        back = self.measured.coxa - shifts - self.posture.back_shifts()
        is_far = (back > self._step_angle) & (states == STANCE)
        if self._params.bearing_neighbours:
            bears = self.measured.grounded & (states != STEP)
            is_far &= (bears | ~self._neighbours).all(axis=1)
        return self._count_onsets('step_reflex', is_far)

    def inhibits(self, dt: float, leg: int, states: IntArray) -> bool:
        """Return whether a leg that is ready to swing must wait for a control period [s]."""
        params = self._params
        # Load reflex (McKenna 1990, section 4.6) and neighbour inhibition (section 3.2) delay a
        # swing, by at most ``longest_wait``.
        if self._waiting_time[leg] > params.longest_wait - 0.5 * dt:
            reflex = ''
        elif params.load_reflex and self.measured.load[leg] > self._load_limit[leg]:
            reflex = 'load_reflex'
        elif params.neighbour_inhibition and (states[self._neighbours[leg]] == STEP).any():
            reflex = 'neighbour_inhibition'
        else:
            reflex = ''
        if reflex:
            self.counts[reflex] += int(self._waiting_time[leg] == 0.0)
        self._waiting_time[leg] = self._waiting_time[leg] + dt if reflex else 0.0
        return bool(reflex)

    def advance(self, dt: float, states: IntArray, rest: FloatArray, is_early: BoolArray) -> None:
        """
        Advance the offsets by a control period.

        Parameters
        ----------
        dt : float [s]
            Control period.
        states : (6,) int array
            State of each leg.
        rest : (6, joints) array [rad]
            Rest angles of the motor programs.
        is_early : (6,) bool array
            Whether each leg is in the first half of its swing.

        """
        self.offsets = self._leg_offsets + self._posture_offsets
        if not self._is_moving_legs and not self.offsets.any():
            self.rates = np.zeros(self._shape)
            return
        params = self._params
        goal, rates = self._goals(dt, states, rest, is_early)
        self._leg_offsets = _step_towards(self._leg_offsets, goal, dt * rates)
        lifts = self.posture.lifts(params, states != STEP)
        lift_offsets = _step_towards(
            self._posture_offsets[:, 1], lifts, dt * params.give_way_most / params.reflex_time
        )
        self._posture_offsets = np.zeros(self._shape)
        self._posture_offsets[:, 0], self._posture_offsets[:, 1] = (
            self.posture.back_shifts(),
            lift_offsets,
        )
        self.rates = (self._leg_offsets + self._posture_offsets - self.offsets) / dt

    def _goals(
        self, dt: float, states: IntArray, rest: FloatArray, is_early: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return goals and rates of the offsets by the reflexes of single legs, (6, joints)."""
        params, standing = self._params, states != STEP
        goal: FloatArray = np.zeros(self._shape)
        rates: FloatArray = np.full(
            self._shape, max(params.elevator_lift, params.retraction_angle) / params.reflex_time
        )
        lag = self.measured.coxa - rest[:, 0] - self.offsets[:, 0]
        # While the body tilts, it presses feet to the ground or lifts them from it: their lag and
        # their missing contact then show no obstacle and no hole.
        is_level = not self.posture.tilt.excess.any()
        is_stuck = is_early & (lag > self._held_lag) & is_level
        # An obstacle is remembered until touch-down: once lifted, the leg lags no longer.
        self._is_held = ~standing & (self._is_held | is_stuck)
        if params.elevator_reflex:
            goal[self._count_onsets('elevator_reflex', self._is_held), 1] = params.elevator_lift
        if params.retraction:
            goal[self._count_onsets('retraction', is_stuck), 0] = params.retraction_angle
        if params.foothold_search:
            is_groundless = standing & ~self.measured.grounded
            self._groundless = np.where(is_groundless, self._groundless + dt, 0.0)
            is_searching = self._count_onsets(
                'foothold_search', is_level & (self._groundless > self._groundless_limit)
            )
            # Down to the full depth until the foot has contact; then it stays at that depth.
            has_ground = standing & ~is_searching & (self._leg_offsets[:, 1] < 0.0)
            goal[is_searching, 1] = -params.search_depth
            goal[has_ground, 1] = self._leg_offsets[has_ground, 1]
            rates[is_searching, 1] = params.search_depth / params.search_time
        return goal, rates

    def _count_onsets(self, reflex: str, acting: BoolArray) -> BoolArray:
        """Count the elements in which a reflex begins to act; return ``acting``."""
        before = self._acting_legs.get(reflex)
        self.counts[reflex] += int(acting.sum() if before is None else (acting & ~before).sum())
        self._acting_legs[reflex] = acting
        return acting


def _step_towards(
    values: FloatArray, goal: FloatArray, max_change: FloatArray | float
) -> FloatArray:
    """Return values moved toward a goal by at most ``max_change``."""
    stepped: FloatArray = values + np.clip(goal - values, -max_change, max_change)
    return stepped
