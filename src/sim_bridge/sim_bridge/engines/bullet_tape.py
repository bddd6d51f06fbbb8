"""
Plays a tape of servos in Bullet: bare calls, of whose answers only the numbers are kept.

A physics step pushes everything else out of the processor's caches. So little else runs between
steps; what the answers mean is worked out for many control periods at once.
"""

from __future__ import annotations

from array import array
from operator import mul
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from sim_bridge.engines.bounds import FAR
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_motors import Motors

BLOCK = 50
"""Control periods whose answers are kept before they are looked at."""


class Answers:
    """
    What Bullet says in control periods of a tape that only servos follow.

    Parameters
    ----------
    motors : Motors
        That are ``plain``.
    client, body, ground : int

    Attributes
    ----------
    touching : list of tuple
        What ``getContactPoints`` says at the end of each period.

    """

    def __init__(self, motors: Motors, client: int, body: int, ground: int) -> None:
        self.touching: list[Any] = []
        self._motors, self._client, self._body, self._ground = motors, client, body, ground
        self._ends, self._steps = array('d'), array('d')

    def play(self, periods: slice, steps: int) -> None:
        """
        Advance some periods, of so many physics steps a sub-sample.

        It ends early after a state that may be no physics.
        """
        motors, client, body, ground = self._motors, self._client, self._body, self._ground
        links, command, constants = motors.links, motors.command, motors.constants
        step, look, find = pb.stepSimulation, pb.getJointStates, pb.getContactPoints
        where, moving, looks = pb.getBasePositionAndOrientation, pb.getBaseVelocity, motors.meter
        keep_step, keep_end, limit = self._steps.extend, self._ends.extend, FAR * FAR
        for targets in motors.tape[periods]:
            for aims, rates in targets:
                command(aims, rates, *constants)
                for _ in range(steps):
                    step(client)
                    if looks:
                        at, rate, _, effort = zip(*look(body, links, client), strict=True)
                        keep_step(rate)
                        keep_step(effort)
            if not looks:
                at, rate, _, effort = zip(*look(body, links, client), strict=True)
            place, turn = where(body, client)
            linear, angular = moving(body, client)
            state = (*at, *rate, *place, *turn, *linear, *angular)
            keep_end(state)
            keep_end(effort)
            self.touching.append(find(body, ground, physicsClientId=client))
            if not sum(map(mul, state, state)) < limit:
                return

    def ends(self) -> FloatArray:
        """
        Return what was said of the state at the end of each of T periods, (T, 3 n + 13).

        Positions and velocities of the joints, position, quaternion, velocity and rate of the
        root's inertial frame, efforts.
        """
        return np.array(self._ends).reshape(len(self.touching), -1)

    def steps(self) -> FloatArray:
        """Return rates and efforts of the joints after each step seen, (T, S, 2, n)."""
        return np.array(self._steps).reshape(len(self.touching), -1, 2, len(self._motors.links))
