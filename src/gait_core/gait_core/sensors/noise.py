# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sensor noise and delay between the true state and the observation of a controller."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Imu, Observation
from gait_core.trial.scene import SensorModel


class SensorSimulator:
    """
    Simulated sensors: a SensorModel applied to the true observations of one trial.

    Attributes
    ----------
    is_ideal : bool
        Whether the model has neither noise nor delay.

    """

    def __init__(self, model: SensorModel, seed: int) -> None:
        self._model = model
        self._rng = np.random.default_rng(seed)
        self.is_ideal = model == SensorModel()
        self._queue: deque[Observation] = deque(maxlen=model.delay_ticks + 1)

    def read(self, true: Observation) -> Observation:
        """
        Return the observation of the controller at the tick of a true observation.

        Tick and time are the present ones. The readings are delayed; before the delay has passed
        they are those of the first tick.
        """
        if self.is_ideal:
            return true
        self._queue.append(self._noisy_observation(true))
        return replace(self._queue[0], tick=true.tick, time=true.time)

    def _noisy_observation(self, true: Observation) -> Observation:
        """Return an observation with noise on joint positions, joint velocities and the IMU."""
        model = self._model
        return replace(
            true,
            joint_positions=self._add_noise_if_reported(
                true.joint_positions, model.joint_position_noise
            ),
            joint_velocities=self._add_noise_if_reported(
                true.joint_velocities, model.joint_velocity_noise
            ),
            imu=None if true.imu is None else self._noisy_imu(true.imu),
        )

    def _noisy_imu(self, imu: Imu) -> Imu:
        """Return a reading of the IMU with noise on orientation, rate and acceleration."""
        # A small random rotation about axes of odom turns the true attitude.
        tilt = Rotation.from_rotvec(self._rng.normal(0.0, 1.0, 3) * self._model.orientation_noise)
        return Imu(
            orientation=(tilt * Rotation.from_quat(imu.orientation)).as_quat(),
            angular_velocity=self._add_noise(
                imu.angular_velocity, self._model.angular_velocity_noise
            ),
            linear_acceleration=self._add_noise(
                imu.linear_acceleration, self._model.acceleration_noise
            ),
        )

    def _add_noise_if_reported(
        self, value: FloatArray | None, deviation: float
    ) -> FloatArray | None:
        return None if value is None else self._add_noise(value, deviation)

    def _add_noise(self, value: FloatArray, deviation: float) -> FloatArray:
        # Drawn even at zero deviation, so that switching one noise off does not change the others.
        return value + deviation * self._rng.normal(0.0, 1.0, value.shape)
