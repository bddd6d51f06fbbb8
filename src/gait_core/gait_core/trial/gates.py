# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Validity gates: limits of what a real robot can do, so that faults of a simulator never win.

Each gate compares a quantity of a rollout with a limit in SI units. Default limits follow from the
robot's length scale l, its weight m g and its joints, so that they hold for any robot: with or
without legs, of one body or several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
import math

import numpy as np
from scipy.fft import dct

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.kinematics.forward_kinematics import kinematic_tree, link_coms
from gait_core.kinematics.start_pose import nominal_height
from gait_core.measures.energy import elastic_energy, is_work_reported
from gait_core.measures.foot_contacts import UNLOADED_SHARE
from gait_core.measures.metrics import trial_work_by_tick
from gait_core.robot.model import RobotModel
from gait_core.terrains import load_terrain
from gait_core.trial.rollout import Rollout
from gait_core.trial.scene import Push, Scene
from gait_core.trial.spec import invalid_status

JITTER_FREQUENCY, JITTER_FREQUENCY_SCALE = 10.0, 1.5
"""Targets jitter above JITTER_FREQUENCY [Hz], or above JITTER_FREQUENCY_SCALE sqrt(g / l) if that
is higher. Strides of animals and robots are well below; an insect strides at 10 Hz."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """
    Limit of one quantity of a rollout.

    Attributes
    ----------
    text : str
        Measured quantity and default limit.
    unit : str
    limit : callable of RobotModel and float [m/s^2]
        Default limit of a robot in a gravity; ``None``: the gate does not apply.
    measure : callable of Rollout
        Returns the quantity; ``None`` where a rollout does not determine it.

    """

    text: str
    unit: str
    limit: Callable[[RobotModel, float], float | None]
    measure: Callable[[Rollout], float | None]


def default_gate_limits(robot: RobotModel, scene: Scene) -> dict[str, float]:
    """Return the limit of every gate that applies to a robot in a scene, by name."""
    gravity = float(np.linalg.norm(scene.gravity))
    limits = {name: gate.limit(robot, gravity) for name, gate in GATES.items()}
    return {name: limit for name, limit in limits.items() if limit is not None}


def gate_limits(
    robot: RobotModel, scene: Scene, overrides: Mapping[str, float | None]
) -> dict[str, float | None]:
    """
    Return the limit of every gate, from the overrides or by default; ``None`` is off.

    Raises
    ------
    ConfigurationError
        For an unknown gate, with the nearest valid one, or a limit that is not positive.

    """
    for name, limit in overrides.items():
        check_gate_limit(name, limit)
    defaults = default_gate_limits(robot, scene)
    return {name: overrides.get(name, defaults.get(name)) for name in GATES}


def check_gate_limit(name: str, limit: float | None) -> None:
    """Raise ConfigurationError for an unknown gate, or a limit that is not positive."""
    check_gate_names([name])
    if limit is not None and not (math.isfinite(limit) and limit > 0.0):
        raise ConfigurationError(
            f'gates.{name} is {limit:g} {GATES[name].unit}, it must be positive; '
            'nearest valid: null, which turns it off'
        )


def check_gate_names(names: Iterable[str]) -> None:
    """Raise ConfigurationError for an unknown gate, with the nearest valid one."""
    for name in names:
        if name not in GATES:
            raise unknown_name_error('gate', name, GATES)


def exceeded_gate(rollout: Rollout, limits: Mapping[str, float]) -> tuple[str, str]:
    """
    Return the first exceeded gate and a line with value and limit, or two empty strings.

    Parameters
    ----------
    rollout : Rollout
    limits : mapping of str to float
        By gate, in its unit.

    """
    for name, limit in limits.items():
        gate = GATES[name]
        value = gate.measure(rollout)
        if value is not None and not value <= limit:
            unit = '' if gate.unit == '-' else f' {gate.unit}'
            return name, f'{name} reached {value:.4g}{unit}, more than {limit:.4g}{unit}'
    return '', ''


def max_root_speed(rollout: Rollout) -> float:
    """Return the largest speed of a root link [m/s], by its twist or by its displacement."""
    reported = np.linalg.norm(rollout.body_twists[:, :, :3], axis=2).max(initial=0.0)
    travelled = np.linalg.norm(np.diff(rollout.body_poses[:, :, :3], axis=0), axis=2) / rollout.dt
    return float(max(reported, travelled.max(initial=0.0)))


def max_penetration(rollout: Rollout) -> float | None:
    """Return the deepest penetration of the ground [m]; None without contacts."""
    if rollout.states.contacts is None:
        return None
    return float(rollout.contacts.depths.max(initial=0.0))


def max_airborne_time(rollout: Rollout) -> float | None:
    """Return the longest time without any link on the ground [s]; None without contacts."""
    if rollout.states.contacts is None:
        return None
    weight = rollout.robot.mass * _gravity_magnitude(rollout.spec.scene)
    load = np.zeros(rollout.ticks + 1)
    np.add.at(load, rollout.contact_tick, np.linalg.norm(rollout.contacts.forces, axis=1))
    grounded = np.flatnonzero(load > UNLOADED_SHARE * weight)
    ends = np.concatenate([[-1], grounded, [rollout.ticks + 1]])
    return float((np.diff(ends) - 1).max() * rollout.dt)


def unexplained_energy(rollout: Rollout) -> float | None:
    """
    Return the largest gain of mechanical energy over any time span that no work explains [J].

    It is the gain of kinetic, potential and elastic energy minus the positive work of joints, of
    the drives of force elements, and of pushes. Links count as point masses, which leaves out
    rotational energy, and negative work of joints is not subtracted: both keep valid trials below
    the limit. ``None`` for a single tick, and where an engine does not report work.
    """
    robot = rollout.robot
    if rollout.ticks < 2 or not is_work_reported(robot, rollout.states):
        return None
    mass = kinematic_tree(robot).mass
    coms = link_coms(robot, rollout.joint_positions, rollout.body_poses)
    rates = np.diff(coms, axis=0) / rollout.dt
    middle = 0.5 * (coms[1:] + coms[:-1])
    gravity = np.array(rollout.spec.scene.gravity)
    # Energy in the middle of each period: velocities are differences over it.
    energy = (0.5 * (rates**2).sum(axis=2) - middle @ gravity) @ mass
    work = trial_work_by_tick(rollout)[1:, 1].sum(axis=1)
    if robot.force_elements:
        energy = energy + _elastic_energy(rollout)
    for push in rollout.spec.scene.pushes:
        work += np.cumsum(_push_work(rollout, push, coms))
    unexplained = energy - work
    # Largest rise over any span: the value now minus the least value before.
    return float((unexplained - np.minimum.accumulate(unexplained)).max())


def _elastic_energy(rollout: Rollout) -> FloatArray:
    """Return the elastic energy of the force elements in each period, (T,) [J]."""
    lengths = rollout.states.element_lengths
    assert lengths is not None
    rest_lengths = rollout.target_positions[:, len(rollout.robot.joint_names) :]
    middle = 0.5 * (lengths[1:] + lengths[:-1])
    return np.asarray(
        elastic_energy(rollout.robot.force_elements, middle, rest_lengths).sum(axis=1)
    )


def max_joint_rate(rollout: Rollout) -> float | None:
    """Return the largest joint velocity over its limit [-]; None without velocities."""
    if rollout.states.joint_velocities is None and rollout.robot.joint_names:
        return None
    limit = rollout.robot.velocity_limit
    return float((np.abs(rollout.joint_velocities) / limit).max(initial=0.0))


def command_jitter(rollout: Rollout) -> float:
    """
    Return the largest root mean square, over targets, of the part above the jitter frequency.

    Unit: rad for angles, length scales for lengths. Every sub-sample counts; velocities are
    integrated to positions. 0 where the sub-samples are too far apart to resolve the frequency.
    """
    robot = rollout.robot
    scale = np.ones(len(robot.target_names))
    for i, name in enumerate(robot.joint_names):
        if robot.joint[name].kind == 'prismatic':
            scale[i] = robot.length_scale
    scale[len(robot.joint_names) :] = robot.length_scale
    positions, velocities, period = rollout.target_sub_samples()
    travels = (positions, np.cumsum(velocities, axis=0) * period)
    pace = math.sqrt(_gravity_magnitude(rollout.spec.scene) / robot.length_scale)
    frequency = max(JITTER_FREQUENCY, JITTER_FREQUENCY_SCALE * pace)
    return max(_rms_above_frequency(travel / scale, period, frequency) for travel in travels)


def max_base_height(rollout: Rollout) -> float:
    """Return the largest height of a root link over the ground [m]."""
    return float(_heights_above_terrain(rollout).max())


def max_base_depth(rollout: Rollout) -> float:
    """Return the largest depth of the origin of a root link below the ground [m], >= 0."""
    return float(max(0.0, -_heights_above_terrain(rollout).min()))


def _gravity_magnitude(scene: Scene) -> float:
    return float(np.linalg.norm(scene.gravity))


def _heights_above_terrain(rollout: Rollout) -> FloatArray:
    x, y, z = np.moveaxis(rollout.body_poses[:, :, :3], 2, 0)
    return np.asarray(z - load_terrain(rollout.spec.scene.terrain).height(x, y))


def _push_work(rollout: Rollout, push: Push, coms: FloatArray) -> FloatArray:
    """Return the work of a push in each control period [J], >= 0."""
    start = np.arange(rollout.ticks) * rollout.dt
    overlap = np.minimum(start + rollout.dt, push.start + push.duration) - np.maximum(
        start, push.start
    )
    link = rollout.robot.link_index[push.link or rollout.robot.roots[0]]
    travel = np.diff(coms[:, link], axis=0) @ np.array(push.force)
    return np.asarray(np.maximum(travel, 0.0) * (overlap > 0.0))


def _rms_above_frequency(travel: FloatArray, dt: float, min_frequency: float) -> float:
    """Return the largest root mean square, over columns, of the part above a frequency [Hz]."""
    samples = len(travel)
    if samples < 3 or not travel.shape[1]:
        return 0.0
    # The cosine transform mirrors the signal: no step where the end differs from the start.
    size = dct(travel, axis=0, norm='ortho') ** 2
    frequency = np.arange(samples) / (2.0 * samples * dt)
    # Parseval: the transform is orthonormal, so squares of coefficients are squares of samples.
    return float(np.sqrt(size[frequency > min_frequency].sum(axis=0).max() / samples))


GATES: Mapping[str, Gate] = {
    'speed': Gate(
        text='Largest speed of a root link. Limit 4 sqrt(g l), the speed of a fall from 8 l.',
        unit='m/s',
        limit=lambda robot, g: 4.0 * math.sqrt((g or 1.0) * robot.length_scale),
        measure=max_root_speed,
    ),
    'penetration': Gate(
        text='Largest penetration of a link and the ground, at the start too. Limit 0.1 l.',
        unit='m',
        limit=lambda robot, g: 0.1 * robot.length_scale,
        measure=max_penetration,
    ),
    'airborne': Gate(
        text='Longest time without contact with the ground. Limit 2 sqrt(2 l / g), a jump of '
        'height l and its fall; off without gravity.',
        unit='s',
        limit=lambda robot, g: 2.0 * math.sqrt(2.0 * robot.length_scale / g) if g else None,
        measure=max_airborne_time,
    ),
    'energy': Gate(
        text='Largest gain of kinetic, potential and elastic energy beyond the work of joints, '
        'of what drives force elements, and of pushes. Limit 3 m g l / 4.',
        unit='J',
        limit=lambda robot, g: 0.75 * robot.mass * (g or 1.0) * robot.length_scale,
        measure=unexplained_energy,
    ),
    'joint_rate': Gate(
        text='Largest ratio of joint velocity and its limit. Limit 1.5, for short impacts.',
        unit='-',
        limit=lambda robot, g: 1.5,
        measure=max_joint_rate,
    ),
    'command_jitter': Gate(
        text='Root mean square of the part of a target above 10 Hz, or above 1.5 sqrt(g / l) if '
        'that is higher, in rad, or in l for a length. Limit 0.1.',
        unit='rad',
        limit=lambda robot, g: 0.1,
        measure=command_jitter,
    ),
    'base_height': Gate(
        text='Largest height of a root link above the ground. Limit 2 l above its stance.',
        unit='m',
        limit=lambda robot, g: nominal_height(robot) + 2.0 * robot.length_scale,
        measure=max_base_height,
    ),
    'base_depth': Gate(
        text='Largest depth of the origin of a root link below the ground. Limit 0.1 l.',
        unit='m',
        limit=lambda robot, g: 0.1 * robot.length_scale,
        measure=max_base_depth,
    ),
}
"""Gates by name, in the order in which they are checked."""


def apply_gates(rollout: Rollout, status: str, reason: str) -> tuple[str, str]:
    """Return status and reason; ``invalid:<gate>`` in place of those of an exceeded gate."""
    name, line = exceeded_gate(rollout, rollout.spec.gates)
    return (invalid_status(name), line) if name else (status, reason)
