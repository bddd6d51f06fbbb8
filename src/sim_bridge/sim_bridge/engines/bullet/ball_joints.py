# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ball joints in Bullet, read as three angles and driven by torques along them."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from sim_bridge.engines.bullet.client import pb
from sim_bridge.engines.bullet.world import World
from sim_bridge.engines.shared.ball_joints import compute_ball_angles, compute_ball_torques


class BallJoints:
    """
    The b ball joints of a world.

    Attributes
    ----------
    columns : (3 b,) int array
        Indices of their angles among ``joint_names``.

    """

    def __init__(self, world: World) -> None:
        self._client, self._body = world.client, world.body
        balls = world.merged.balls
        count = len(balls)
        self._links = [world.joint_index[ball.name] for ball in balls]
        self.columns: IntArray = np.array(
            [column for ball in balls for column in ball.columns], dtype=np.int64
        )
        self._to_ball_axes: FloatArray = np.array([ball.to_ball_axes for ball in balls]).reshape(
            count, 9
        )
        self._signs: FloatArray = np.array([ball.sign for ball in balls])
        self._damping: FloatArray = np.array([ball.damping for ball in balls]).reshape(count, 3)
        self._quaternions: FloatArray = np.zeros((count, 4))
        self._states: FloatArray = np.zeros((2, 3 * count))
        self._angles, self._rates = self._states.reshape(2, count, 3)
        self._torques: FloatArray = np.zeros((count, 3))

    def __len__(self) -> int:
        """Return the number of ball joints."""
        return len(self._links)

    def disable_motors(self) -> None:
        """Disable the motor that Bullet puts on every ball joint."""
        for link in self._links:
            pb.setJointMotorControlMultiDof(
                self._body,
                link,
                pb.POSITION_CONTROL,
                targetPosition=[0.0, 0.0, 0.0, 1.0],
                targetVelocity=[0.0, 0.0, 0.0],
                positionGain=0.0,
                velocityGain=0.0,
                force=[0.0, 0.0, 0.0],
                physicsClientId=self._client,
            )

    def read(self, joints: FloatArray) -> None:
        """Write angles and rates into the positions and velocities of all joints, (3, n)."""
        states = pb.getJointStatesMultiDof(self._body, self._links, self._client)
        self._quaternions = np.array([state[0] for state in states])
        angular_velocities = np.array([state[1] for state in states])
        compute_ball_angles(
            self._quaternions,
            angular_velocities,
            self._to_ball_axes,
            self._signs,
            self._angles,
            self._rates,
        )
        joints[:2, self.columns] = self._states

    def apply_torques(self, efforts: FloatArray) -> None:
        """Apply efforts, (n,) of all joints, and damping, at the state of the last reading."""
        forces = efforts[self.columns].reshape(-1, 3) - self._damping * self._rates
        compute_ball_torques(
            self._quaternions, self._to_ball_axes, self._signs, self._angles, forces, self._torques
        )
        pb.setJointMotorControlMultiDofArray(
            self._body,
            self._links,
            pb.TORQUE_CONTROL,
            forces=self._torques.tolist(),
            physicsClientId=self._client,
        )
