# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion requests to a live robot, and the end of a gait after the last one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.motion.velocity_limits import ZERO_VELOCITY, Velocity, VelocityLimits

STANDING_SPEED = 1e-3
"""Commanded speed [m/s, rad/s] below which no motion is requested."""
MAX_VELOCITY = 1e3
"""Largest component [m/s, rad/s] of a velocity; beyond it the message is refused as a fault."""
STOP_TIME = 3.0
"""Time [s] after the last request after which a gait ends as soon as every foot is down."""
MAX_STOP_TIME = 6.0
"""Time [s] after the last request after which a gait ends wherever its feet are."""
MESSAGES_PER_TIMEOUT = 2
"""Velocities to be sent per time-out, so that one of them may be lost."""

_AXES = ('x', 'y', 'yaw')
# Targets that are slower than this [rad/s or m/s] for this time [s] are at rest.
_REST_SPEED = 0.005
_REST_TIME = 0.3


class MotionRequest:
    """
    Motion request: from velocities that expire, from a service, or as a demonstration.

    A controller that follows velocities walks while the last velocity is younger than the time-out
    and not zero along some axis that it follows. A controller that ignores velocities is started
    and stopped by ``set_walking``.

    Parameters
    ----------
    limits : callable
        Returns the velocity limits of the controller, ``Controller.velocity_limits``.
    clocks : callable
        Returns the present time [ns] by each clock; the age of a velocity is the shortest of
        its ages by them.
    timeout : callable
        Returns the age [s] at which a velocity expires.
    demonstration : (3,) tuple [m/s, m/s, rad/s] or None
        Velocity of a walk that starts without a request. It ends with the first velocity
        received and with ``set_walking(False)``.

    """

    def __init__(
        self,
        limits: Callable[[], VelocityLimits],
        clocks: Callable[[], tuple[int, ...]],
        timeout: Callable[[], float],
        demonstration: Velocity | None = None,
    ) -> None:
        self._limits, self._clocks, self._timeout = limits, clocks, timeout
        self._demonstration = demonstration
        self._walking = demonstration is not None
        self._received: tuple[Velocity, tuple[int, ...]] | None = None

    @property
    def follows_velocity(self) -> bool:
        """True if the controller follows any velocity with the parameters in force."""
        return not isinstance(self._limits(), str)

    @property
    def is_expired(self) -> bool:
        """True if the last velocity received is older than the time-out; false without one."""
        return self._received is not None and self._age(self._received[1]) >= self._timeout()

    @property
    def velocity(self) -> Velocity:
        """Velocity in force [m/s, m/s, rad/s]; zero before the first and after the time-out."""
        if self._received is None:
            return self._demonstration or ZERO_VELOCITY
        return ZERO_VELOCITY if self.is_expired else self._received[0]

    @property
    def is_walking(self) -> bool:
        """True if the controller is asked to walk."""
        limits = self._limits()
        if isinstance(limits, str):
            return self._walking
        # Clipped first: a velocity along an axis that is not followed requests no motion.
        return any(
            abs(min(max(speed, component.low), component.high)) >= STANDING_SPEED
            for speed, component in zip(self.velocity, limits, strict=True)
        )

    @property
    def min_rate(self) -> float:
        """Lowest rate [Hz] of velocities at which a lost message does not stop the robot."""
        return MESSAGES_PER_TIMEOUT / self._timeout()

    @property
    def hint(self) -> str:
        """One line for a person on how to start the controller."""
        if not self.follows_velocity:
            return 'the joints hold until ~/walk is called with true'
        return (
            'the joints hold until cmd_vel requests motion, at '
            f'{self.min_rate:.3g} Hz or more (command_timeout {self._timeout():g} s)'
        )

    def receive(self, velocity: Velocity) -> None:
        """
        Store a velocity with the present time.

        Raises
        ------
        ConfigurationError
            If a component is not finite or beyond ``MAX_VELOCITY``; the last velocity stays in
            force.

        """
        for axis, value in zip(_AXES, velocity, strict=True):
            if not math.isfinite(value):
                raise ConfigurationError(f'{axis} is {value}, expected a finite number')
            if abs(value) > MAX_VELOCITY:
                unit = 'rad/s' if axis == 'yaw' else 'm/s'
                raise ConfigurationError(
                    f'{axis} is {value:g} {unit}, expected -{MAX_VELOCITY:g} to {MAX_VELOCITY:g}'
                )
        self._received, self._demonstration = (velocity, self._clocks()), None

    def set_walking(self, walking: bool) -> None:
        """
        Start or stop a controller that ignores velocities.

        False also ends a demonstration and the velocity in force, also of a controller that
        follows velocities; later velocities are followed again.

        Raises
        ------
        ConfigurationError
            If ``walking`` is true and the controller follows velocities.

        """
        if walking and self.follows_velocity:
            raise ConfigurationError(
                'the controller follows velocities: send them on cmd_vel, at '
                f'{self.min_rate:.3g} Hz or more'
            )
        self._walking = walking
        if not walking:
            self._received = self._demonstration = None

    def cancel(self) -> None:
        """Forget the last velocity and a start by service; a demonstration goes on."""
        self._received = None
        self._walking = self._demonstration is not None

    def forget_velocity(self) -> None:
        """Forget the last velocity; only a new one requests motion again."""
        self._received = None

    def _age(self, received: tuple[int, ...]) -> float:
        """Return the shortest age by any clock [s]."""
        return min(now - then for now, then in zip(self._clocks(), received, strict=True)) * 1e-9


class GaitStop:
    """
    End of a gait after the last motion request.

    The controller goes on stepping, with zero velocity and the set point ``stop``, and the gait
    ends at the first of these:

    - every foot is down, by the states ``stance.<leg>``, and the joint targets rest;
    - every foot is down, ``STOP_TIME`` after the last request;
    - ``MAX_STOP_TIME`` after the last request.

    For a controller without such states every foot counts as down.

    Attributes
    ----------
    moving : bool
        Whether the controller moves the robot.

    """

    def __init__(self) -> None:
        self.moving = False
        self._waited = self._rested = 0.0
        self._last: FloatArray | None = None

    def end(self) -> None:
        """End the gait at once."""
        self.moving = False

    def update(
        self,
        dt: float,
        requested: bool,
        starting: bool,
        state: Callable[[], Mapping[str, float]],
        position: FloatArray | None,
    ) -> bool:
        """
        Return whether the controller moves the robot in the coming control period.

        Parameters
        ----------
        dt : float [s]
            Time since the last call.
        requested : bool
            Whether motion is requested.
        starting : bool
            Whether the robot is on its way to the first targets, and so can stop at once.
        state : callable
            Returns the state of the controller.
        position : (n,) array or None
            Last position targets; ``None`` if the controller gives none.

        """
        self._watch_rest(dt, position)
        if requested:
            self.moving, self._waited = True, 0.0
        elif self.moving:
            self._waited += dt
            self.moving = not (starting or self._may_end(state()))
        return self.moving

    def _watch_rest(self, dt: float, position: FloatArray | None) -> None:
        last, self._last = self._last, position
        if position is None or last is None:
            self._rested = 0.0
            return
        is_at_rest = float(np.abs(position - last).max(initial=0.0)) <= _REST_SPEED * dt
        self._rested = self._rested + dt if is_at_rest else 0.0

    def _may_end(self, state: Mapping[str, float]) -> bool:
        if self._waited >= MAX_STOP_TIME:
            return True
        if any(value < 0.5 for name, value in state.items() if name.startswith('stance.')):
            return False
        return min(self._rested, self._waited) >= _REST_TIME or self._waited >= STOP_TIME
