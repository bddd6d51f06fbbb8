# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Metrics of a trial: finite numbers by name; undefined metrics are absent.

``METRICS`` lists them, those of the `gait` command's JSON first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.kinematics.forward_kinematics import kinematic_tree, link_coms
from gait_core.measures.energy import (
    JointWork,
    cumulative_work,
    is_work_reported,
    robot_cost_of_transport,
)
from gait_core.measures.foot_contacts import stance_rule, stances_from_forces
from gait_core.measures.gait_diagram import GaitDiagram, gait_diagram
from gait_core.measures.stability import (
    ZmpSeries,
    centres_of_pressure,
    support_margins,
    zmp_from_accelerations,
)
from gait_core.measures.support import AREA, LINE, NOTHING, POINT, support_kinds
from gait_core.motion.state_tape import StateTape
from gait_core.terrains import load_terrain
from gait_core.trial.rollout import Rollout

METRICS: Mapping[str, str] = {
    'duration_s': 'Simulated time after settling.',
    'distance_m': 'Horizontal distance from the first to the last position of the base.',
    'displacement_x_m': 'Part of the distance along the first heading.',
    'displacement_y_m': 'Part of the distance to the left of the first heading.',
    'yaw_rad': 'Change of the heading; full turns count.',
    'mean_speed_mps': 'Distance over duration.',
    'steps': 'Touch-downs of all legs; grazes and short gaps do not count.',
    'grazes': 'Contacts of all legs that are too weak for a stance.',
    'cost_of_transport': 'Energy over weight times distance; undefined for a distance below a '
    'tenth of the length scale.',
    'energy_j': 'Positive mechanical work of joints and of drives of force elements: braking '
    'costs nothing and recovers nothing.',
    'support_area_fraction': 'Share of ticks in which loaded contacts span an area.',
    'support_line_fraction': 'Share of ticks in which loaded contacts span a line only.',
    'support_point_fraction': 'Share of ticks in which loaded contacts are one point.',
    'zmp_undefined_fraction': 'Share of ticks with too little load on the ground for a CoP.',
    'zmp_margin_min_m': 'Smallest margin of the CoP while the robot stands on an area.',
    'zmp_margin_mean_m': 'Mean margin of the CoP while the robot stands on an area.',
    'inertial_zmp_margin_mean_m': 'Mean margin of the inertial ZMP, with the robot on an area.',
    'inertial_zmp_margin_p05_m': '5 % quantile of this margin; negative: in 5 % of these ticks '
    'the inertial ZMP is outside the support polygon.',
    'capture_point_offset_m': 'Mean horizontal distance of the capture point from the line, while '
    'the robot stands on a line.',
    'energy_signed_j': 'Mechanical work of joints and drives, with braking negative.',
    'energy_absolute_j': 'Mechanical work of joints and drives, with braking positive.',
    'height_mean_m': 'Mean height of the base above the terrain.',
    'tilt_max_rad': 'Largest tilt of the base.',
    'speed_max_mps': 'Largest speed of the base.',
    'penetration_max_m': 'Largest penetration of robot and ground.',
    'command_jitter_rad_s2': 'Root mean square of the second difference of the position targets.',
    'stance_fraction': 'Share of the time that a leg is in stance, mean over all legs.',
    'duty_factor': 'Mean duty factor of the legs that touch down at least twice.',
    'stride_frequency_hz': 'Mean stride frequency of the legs that touch down at least twice.',
}
"""Meaning of each metric."""

LEG_METRICS: Mapping[str, str] = {
    'stance_fraction': 'Share of the time that the leg is in stance, under load.',
    'duty_factor': 'Duty factor of the leg; undefined below two touch-downs.',
    'phase_lag': 'Phase lag of its touch-downs behind those of the first leg, in [0, 2 pi) rad; '
    'undefined without a stride of the first leg.',
}
"""Meaning of the metrics of each leg; their names are ``<metric>.<leg>``."""

MIN_SUPPORT_WIDTH_SHARE = 0.02
"""Width of the support, as a share of the robot's length scale, below which it counts as zero."""

MIN_ZMP_LOAD_SHARE = 0.05
"""Share of the weight below which the ZMP is undefined."""


def leg_metric_names(legs: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the metrics of each leg, e.g. ``duty_factor.fl``."""
    return tuple(f'{name}.{leg}' for name in LEG_METRICS for leg in legs)


def is_circular(metric: str) -> bool:
    """Return whether a metric is an angle, whose mean is circular: 0.1 and 6.2 rad are near."""
    return metric.startswith('phase_lag.')


def trial_metrics(rollout: Rollout) -> dict[str, float]:
    """
    Return the metrics of a trial: those of ``METRICS`` in their order, then of each leg.

    What the states do not report is absent: without contacts there are no steps, without efforts
    there is no energy. A number of zero steps is a result: contacts were reported, without steps.

    Raises
    ------
    ValueError
        For a record without states or body poses, or with two ticks of the same time.

    """
    _check_states(rollout.states)
    metrics: dict[str, float] = {}
    for part in (_motion_metrics, _posture_metrics, _energy_metrics, _gait_metrics, _zmp_metrics):
        metrics.update(part(rollout))
    if 'energy_j' in metrics:
        cost = robot_cost_of_transport(
            rollout.robot, _gravity(rollout), metrics['energy_j'], metrics['distance_m']
        )
        if cost is not None:
            metrics['cost_of_transport'] = cost
    return {
        name: float(metrics[name])
        for name in (*METRICS, *leg_metric_names([leg.name for leg in rollout.robot.legs]))
        if name in metrics and np.isfinite(metrics[name])
    }


def _check_states(states: StateTape) -> None:
    """Raise ValueError for states that no metric can be computed from."""
    if not len(states):
        raise ValueError('the record has no states')
    if states.body_poses is None:
        raise ValueError('the states of the record have no body_poses')
    stands = np.flatnonzero(np.diff(states.times) <= 0.0)
    if stands.size:
        before, after = states.ticks[stands[0] : stands[0] + 2]
        raise ValueError(
            f'tick {after} of the record is at {states.times[stands[0] + 1]:g} s, not after '
            f'tick {before}'
        )


def robot_weight(rollout: Rollout) -> float:
    """Return the weight of the robot [N]; without gravity its mass times 1 m/s^2."""
    return rollout.robot.mass * (_gravity(rollout) or 1.0)


def trial_stances(rollout: Rollout) -> tuple[BoolArray, IntArray]:
    """Return which soles are in stance at each tick, (T + 1, s), and their grazes, (s,)."""
    rule = stance_rule(rollout.robot, _gravity(rollout), rollout.dt)
    return stances_from_forces(rollout.sole_forces()[:, :, 2], rule)


def trial_gait_diagram(rollout: Rollout) -> GaitDiagram:
    """Return the gait diagram of a trial; without legs or contacts it is empty."""
    if rollout.states.contacts is None or not rollout.robot.legs:
        no_legs = np.zeros((rollout.ticks + 1, 0), dtype=bool)
        return gait_diagram((), no_legs, np.zeros(0, dtype=np.int64), rollout.dt)
    legs = tuple(leg.name for leg in rollout.robot.legs)
    return gait_diagram(legs, *trial_stances(rollout), rollout.dt)


def contact_zmp(rollout: Rollout) -> ZmpSeries:
    """Return the centre of pressure at every tick, at the mean height of its contacts."""
    return centres_of_pressure(
        rollout.contact_tick,
        rollout.contacts.points,
        rollout.contacts.forces,
        rollout.ticks + 1,
        min_force=MIN_ZMP_LOAD_SHARE * robot_weight(rollout),
    )


def inertial_zmp(rollout: Rollout, plane_height: float | FloatArray = 0.0) -> ZmpSeries:
    """
    Return the inertial ZMP at every tick; undefined at the first and the last.

    Links are point masses. ``plane_height`` is a number or (T + 1,) [m].
    """
    return zmp_from_accelerations(
        kinematic_tree(rollout.robot).mass,
        link_coms(rollout.robot, rollout.joint_positions, rollout.body_poses),
        rollout.dt,
        gravity=np.array(rollout.spec.scene.gravity),
        min_force=MIN_ZMP_LOAD_SHARE * robot_weight(rollout),
        plane_height=plane_height,
    )


def heading_angles(body_poses: FloatArray) -> FloatArray:
    """Return the headings of (T, 7) poses, unwrapped, (T,) [rad]."""
    forward = Rotation.from_quat(body_poses[:, 3:]).as_matrix()[:, :, 0]
    return np.unwrap(np.arctan2(forward[:, 1], forward[:, 0]))


def _gravity(rollout: Rollout) -> float:
    return float(np.linalg.norm(rollout.spec.scene.gravity))


def _motion_metrics(rollout: Rollout) -> dict[str, float]:
    """Return duration, distance, displacement, yaw and speeds of the base."""
    # A robot of several bodies: position of their mean, yaw of the first.
    centre = rollout.body_poses[:, :, :2].mean(axis=1)
    yaw = heading_angles(rollout.body_poses[:, 0])
    x, y = centre[-1] - centre[0]
    forward, left = np.cos(yaw[0]), np.sin(yaw[0])
    duration = rollout.ticks * rollout.dt
    distance = float(np.hypot(x, y))
    metrics = {
        'duration_s': duration,
        'distance_m': distance,
        'displacement_x_m': forward * x + left * y,
        'displacement_y_m': forward * y - left * x,
        'yaw_rad': yaw[-1] - yaw[0],
    }
    if rollout.states.body_twists is not None:
        metrics['speed_max_mps'] = np.linalg.norm(rollout.body_twists[:, 0, :3], axis=1).max()
    if duration > 0.0:
        metrics['mean_speed_mps'] = distance / duration
    return metrics


def _posture_metrics(rollout: Rollout) -> dict[str, float]:
    """Return height, tilt, penetration and jitter of the position targets."""
    base = rollout.body_poses[:, 0]
    # Vertical component of the base's z axis: the cosine of the tilt.
    upright = Rotation.from_quat(base[:, 3:]).as_matrix()[:, 2, 2]
    ground = load_terrain(rollout.spec.scene.terrain).height(base[:, 0], base[:, 1])
    metrics = {
        'height_mean_m': (base[:, 2] - ground).mean(),
        'tilt_max_rad': np.arccos(np.clip(upright, -1.0, 1.0)).max(),
    }
    if rollout.states.contacts is not None:
        metrics['penetration_max_m'] = max(0.0, rollout.contacts.depths.max(initial=0.0))
    if rollout.ticks >= 3 and rollout.target_positions.shape[1]:
        second_differences = np.diff(rollout.target_positions, n=2, axis=0) / rollout.dt**2
        metrics['command_jitter_rad_s2'] = np.sqrt(np.mean(second_differences**2))
    return metrics


def trial_work_by_tick(rollout: Rollout) -> FloatArray:
    """Return the work up to every tick, as in ``cumulative_work``, (T + 1, 2, n + e) [J]."""
    n = len(rollout.robot.joint_names)
    rest_lengths, added_tensions = rollout.target_positions[:, n:], rollout.target_efforts[:, n:]
    return cumulative_work(rollout.states, rollout.dt, rest_lengths, added_tensions)


def trial_work(rollout: Rollout) -> JointWork:
    """Return the work of each joint and of each drive of a force element in a trial."""
    signed, positive = trial_work_by_tick(rollout)[-1]
    return JointWork(signed=signed, positive=positive)


def _energy_metrics(rollout: Rollout) -> dict[str, float]:
    """Return the work of joints and drives of force elements, by three conventions."""
    if not is_work_reported(rollout.robot, rollout.states):
        return {}
    work = trial_work(rollout)
    return {
        'energy_j': work.positive.sum(),
        'energy_signed_j': work.signed.sum(),
        'energy_absolute_j': work.absolute.sum(),
    }


def _capture_points(rollout: Rollout, series: ZmpSeries) -> FloatArray:
    """
    Return the capture point at each tick, on the plane of the contacts, (T + 1, 3) [m].

    Pratt et al. (2006), Humanoids, pp. 200-207: the centre of mass, displaced by its velocity
    times sqrt(h / g) for its height h over the plane.
    """
    robot = rollout.robot
    masses = kinematic_tree(robot).mass
    com = link_coms(robot, rollout.joint_positions, rollout.body_poses)
    com = np.tensordot(com, masses / masses.sum(), axes=([1], [0]))
    velocity = np.gradient(com, rollout.dt, axis=0)
    height = np.maximum(com[:, 2] - series.points[:, 2], 0.0)
    points = com + velocity * np.sqrt(height / _gravity(rollout))[:, None]
    points[:, 2] = series.points[:, 2]
    return np.asarray(points)


def _gait_metrics(rollout: Rollout) -> dict[str, float]:
    """Return touch-downs, stance and stride frequency; nothing without legs or contacts."""
    diagram = trial_gait_diagram(rollout)
    if not diagram.stances:
        return {}
    metrics = {
        'steps': float(sum(map(len, diagram.touch_downs.values()))),
        'grazes': float(sum(diagram.grazes.values())),
    }
    for name, by_leg in (
        ('stance_fraction', diagram.stance_fraction),
        ('duty_factor', diagram.duty_factor),
        ('stride_frequency_hz', diagram.stride_frequency),
    ):
        if by_leg:
            metrics[name] = float(np.mean(list(by_leg.values())))
    for name in LEG_METRICS:
        values: Mapping[str, float] = getattr(diagram, name)
        metrics.update({f'{name}.{leg}': value for leg, value in values.items()})
    return metrics


def support_kinds_by_tick(rollout: Rollout) -> IntArray:
    """Return the kind of support at each tick, as of ``support_kinds``, (T + 1,)."""
    ticks, points = rollout.loaded_contacts
    min_width = MIN_SUPPORT_WIDTH_SHARE * rollout.robot.length_scale
    kinds = support_kinds(ticks, points, rollout.ticks + 1, min_width)
    return np.where(contact_zmp(rollout).defined, kinds, NOTHING)


def area_margins(rollout: Rollout) -> FloatArray:
    """Return the margins of the CoP at ticks on an area, (k,) [m]."""
    margin, defined = support_margins(contact_zmp(rollout), *rollout.loaded_contacts)
    return np.asarray(margin[defined & (support_kinds_by_tick(rollout) == AREA)])


def _zmp_metrics(rollout: Rollout) -> dict[str, float]:
    """Return the kinds of support, and margins of CoP and inertial ZMP; {} without contacts."""
    if rollout.states.contacts is None:
        return {}
    series, kinds = contact_zmp(rollout), support_kinds_by_tick(rollout)
    metrics = {'zmp_undefined_fraction': float(1.0 - series.defined.mean())}
    for name, kind in (('area', AREA), ('line', LINE), ('point', POINT)):
        metrics[f'support_{name}_fraction'] = float(np.mean(kinds == kind))
    has_pose = rollout.states.joint_positions is not None or not rollout.robot.joint_names
    if (kinds == LINE).any() and has_pose and _gravity(rollout) > 0.0 and rollout.ticks:
        capture = replace(series, points=_capture_points(rollout, series))
        # On a line the margin is the distance from it, taken negative.
        offset = -support_margins(capture, *rollout.loaded_contacts)[0][kinds == LINE]
        metrics['capture_point_offset_m'] = offset.mean()
    margin = area_margins(rollout)
    if not margin.size:
        return metrics
    metrics['zmp_margin_min_m'] = margin.min()
    metrics['zmp_margin_mean_m'] = margin.mean()
    if not has_pose:
        return metrics
    # The inertial ZMP on the plane of the contacts, in the same polygons.
    inertial = inertial_zmp(rollout, series.points[:, 2])
    inertial_margin, is_defined = support_margins(inertial, *rollout.loaded_contacts)
    inertial_margin = inertial_margin[is_defined & (kinds == AREA)]
    if inertial_margin.size:
        metrics['inertial_zmp_margin_mean_m'] = inertial_margin.mean()
        metrics['inertial_zmp_margin_p05_m'] = np.quantile(inertial_margin, 0.05)
    return metrics
