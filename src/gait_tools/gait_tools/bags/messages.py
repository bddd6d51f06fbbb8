# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages of a recorded trial, equal to those of the live graph, in order of time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from gait_core.measures.foot_contacts import SoleContacts, stance_rule
from gait_core.measures.work_meter import WorkMeter
from gait_core.messages.builder import (
    ENERGY,
    FOOT_CONTACTS,
    IMU,
    JOINT_STATE,
    ODOMETRY,
    POINT,
    STABILITY,
    TRAJECTORY,
    TRANSFORMS,
    MessageBuilder,
)
from gait_core.motion.observation import Contacts, Observation
from gait_core.motion.targets import JointTargets
from gait_core.robot.urdf.writer import to_scene_urdf
from gait_core.sensors.noise import SensorSimulator
from gait_core.trial.loop import CONTROLLER_SEED, SENSOR_SEED
from gait_core.trial.rollout import Rollout
from gait_core.trial.seeding import derived_seed
from gait_core.trial.spec import Command, CommandScript
from gait_tools.bags.types import load_typestore

DESCRIPTION_TOPIC = '/robot_description'
OBSERVATION_TOPIC = '/sim_bridge/lockstep/observation'
TARGETS_TOPIC = '/joint_trajectory'

BAG_TOPICS = {
    DESCRIPTION_TOPIC: 'std_msgs/msg/String',
    '/clock': 'rosgraph_msgs/msg/Clock',
    '/joint_states': JOINT_STATE,
    '/odom': ODOMETRY,
    '/imu/data': IMU,
    '/foot_contacts': FOOT_CONTACTS,
    '/zmp': POINT,
    '/stability': STABILITY,
    '/energy': ENERGY,
    '/tf': TRANSFORMS,
    OBSERVATION_TOPIC: 'gait_interfaces/msg/LockstepObservation',
    TARGETS_TOPIC: TRAJECTORY,
}
"""Topics of a bag and their types."""


def trial_messages(rollout: Rollout) -> Iterator[tuple[str, int, Any]]:
    """
    Yield topic, stamp [ns] and message of a trial's recorded topics.

    Stamps start at one control period, because ROS takes the stamp zero for no time.
    """
    types = load_typestore().types
    builder = MessageBuilder(types, np.ascontiguousarray)
    robot, scene = rollout.robot, rollout.spec.scene
    gravity = float(np.linalg.norm(scene.gravity))
    soles = SoleContacts(stance_rule(robot, gravity, rollout.dt), len(robot.soles))
    meter, applied = WorkMeter(robot, rollout.dt, gravity), chain(*rollout.applied)
    targets = _period_targets(rollout)
    script = CommandScript(rollout.spec.script)
    for state, observation in zip(rollout.states, controller_observations(rollout), strict=True):
        now = round((state.tick + 1) * rollout.dt * 1e9)
        stamp = builder.time(now)
        if state.tick == 0 and len(robot.roots) == 1:
            description = types[BAG_TOPICS[DESCRIPTION_TOPIC]]
            yield DESCRIPTION_TOPIC, now, description(data=to_scene_urdf(robot))
        yield '/clock', now, types[BAG_TOPICS['/clock']](clock=stamp)
        yield '/joint_states', now, builder.joint_state(stamp, observation)
        yield '/odom', now, builder.odometry(stamp, state, robot)
        if observation.imu is not None:
            yield '/imu/data', now, builder.imu(stamp, observation.imu, robot, scene.sensors)
        contacts = state.contacts or Contacts(soles=robot.soles)
        standing = soles.update(contacts.sole_forces()[:, 2])
        yield '/foot_contacts', now, builder.foot_contacts(stamp, contacts, standing)
        stability = builder.stability(stamp, state, robot, gravity)
        zmp = builder.zmp(stability)
        if zmp is not None:
            yield '/zmp', now, zmp
        yield '/stability', now, stability
        meter.update(state, next(applied) if state.tick else None)
        yield '/energy', now, builder.energy(stamp, robot, meter)
        yield '/tf', now, builder.robot_transforms(stamp, state, robot, links=True)
        if state.tick < rollout.ticks:
            command = script.command_at(state.tick * rollout.dt)
            yield (
                OBSERVATION_TOPIC,
                now,
                _observation_message(builder, rollout, observation, command),
            )
            yield TARGETS_TOPIC, now, builder.trajectory(next(targets), rollout.dt)


def _observation_message(
    builder: MessageBuilder, rollout: Rollout, observation: Observation, command: Command
) -> Any:
    """Return the controller's inputs at a tick as a message, to the last bit."""
    return load_typestore().types[BAG_TOPICS[OBSERVATION_TOPIC]](
        trial_id='recorded',
        tick=observation.tick,
        seed=derived_seed(rollout.spec.seed, CONTROLLER_SEED),
        dt=rollout.dt,
        command=builder.command(command),
        observation=builder.observation(observation),
    )


def _period_targets(rollout: Rollout) -> Iterator[JointTargets]:
    """Yield the targets of each control period, without quantities that are always zero."""
    has_velocities, has_efforts = rollout.target_velocities.any(), rollout.target_efforts.any()
    for period in chain(*rollout.applied):
        yield JointTargets(
            names=rollout.robot.target_names,
            position=period.position,
            velocity=period.velocity if has_velocities else None,
            effort=period.effort if has_efforts else None,
        )


def controller_observations(rollout: Rollout) -> Iterator[Observation]:
    """Return the controller's observations at each tick: the states with the trial's noise."""
    spec = rollout.spec
    sensors = SensorSimulator(spec.scene.sensors, derived_seed(spec.seed, SENSOR_SEED))
    return map(sensors.read, rollout.states)
