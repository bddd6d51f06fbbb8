"""What a recorded trial was made of, tick by tick: states, observations and applied targets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gait_core.observation import Contacts, Imu, Observation
from gait_core.rollout import Rollout
from gait_core.seeding import derived_seed
from gait_core.sensors import Sensors
from gait_core.state_tape import StateTape
from gait_core.targets import AppliedTargets
from gait_core.trial import SENSOR_SEED


def states(rollout: Rollout) -> StateTape:
    """Return the true states of a trial, (T + 1) of them; ``joint_work`` is that since tick 0."""
    robot, ticks = rollout.robot, rollout.ticks
    imu = None
    if (
        rollout.specific_forces is not None
        and rollout.imu_orientations is not None
        and rollout.angular_velocities is not None
    ):
        imu = Imu(
            orientation=rollout.imu_orientations,
            angular_velocity=rollout.angular_velocities,
            linear_acceleration=rollout.specific_forces,
        )
    return StateTape(
        ticks=np.arange(ticks + 1),
        times=rollout.time,
        joint_names=robot.joint_names,
        joint_positions=rollout.joint_positions,
        joint_velocities=rollout.joint_velocities,
        joint_efforts=rollout.joint_efforts,
        joint_work=rollout.joint_work,
        body_names=robot.roots,
        body_poses=rollout.body_poses,
        body_twists=rollout.body_twists,
        imu=imu,
        contacts=Contacts(
            soles=robot.soles,
            sole=rollout.contact_sole,
            points=rollout.contact_points,
            forces=rollout.contact_forces,
            depths=rollout.contact_depths,
        ),
        contact_counts=np.bincount(rollout.contact_tick, minlength=ticks + 1),
        element_names=tuple(one.name for one in robot.force_elements),
        element_lengths=rollout.element_lengths,
        element_forces=rollout.element_forces,
    )


def observations(rollout: Rollout) -> Iterator[Observation]:
    """Yield what the controller saw at each tick: the states with the noise of that trial."""
    spec = rollout.spec
    sensors = Sensors(spec.scene.sensors, derived_seed(spec.seed, SENSOR_SEED))
    for state in states(rollout):
        yield sensors.read(state)


def applied(rollout: Rollout) -> Iterator[AppliedTargets]:
    """
    Yield what was applied in each control period, (K, m) arrays.

    A record that is not whole has one sub-sample, the last of each period.
    """
    rows, counts = rollout.sub_targets, rollout.sub_samples
    if rows is None or counts is None:
        rows = np.stack(
            [rollout.target_positions, rollout.target_velocities, rollout.target_efforts], axis=1
        )
        counts = np.ones(rollout.ticks, dtype=np.int64)
    begin = 0
    for count in counts.tolist():
        period = rows[begin : begin + count]
        yield AppliedTargets(period[:, 0], period[:, 1], period[:, 2])
        begin += count
