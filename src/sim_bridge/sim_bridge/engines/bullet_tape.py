"""
Plays a tape of servos in Bullet: bare calls, of whose answers only the numbers are kept.

A physics step pushes everything else out of the processor's caches. So little else runs between
steps; what the answers mean is worked out for many control periods at once.
"""

from __future__ import annotations

from math import hypot
from operator import itemgetter
from struct import Struct
from typing import Any

import numpy as np

from gait_core import pulse
from gait_core.arrays import FloatArray
from sim_bridge.engines.bounds import FAR
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_motors import Motors

BLOCK = 50
"""Control periods whose answers are kept before they are looked at."""
_RATE, _EFFORT = itemgetter(1), itemgetter(3)
"""Of what Bullet says of a joint."""


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
        What ``getContactPoints`` says at the end of each of T periods.
    ends : (T, 3 n + 13) array
        Positions and rates of the joints at the end of each, position, quaternion, velocity and
        rate of the root's inertial frame, efforts.
    steps : (T, S, 2, n) array
        Rates and efforts of the joints after each physics step, where they are looked at.

    """

    def __init__(self, motors: Motors, client: int, body: int, ground: int) -> None:
        self._motors, self._client, self._body, self._ground = motors, client, body, ground
        self.touching: list[Any] = []

    def play(self, periods: slice, steps: int) -> None:
        """
        Advance some periods, of so many physics steps a sub-sample.

        It ends early after a state that may be no physics.
        """
        motors, client, body, ground = self._motors, self._client, self._body, self._ground
        links, command, constants = motors.links, motors.command, motors.constants
        step, look, find = pb.stepSimulation, pb.getJointStates, pb.getContactPoints
        where, moving, looks = pb.getBasePositionAndOrientation, pb.getBaseVelocity, motors.meter
        beat = pulse.beat
        tape, n = motors.tape[periods], len(links)
        seen: FloatArray = np.empty((len(tape), len(tape[0]) * steps if looks else 0, 2, n))
        ends: FloatArray = np.empty((len(tape), 3 * n + 13))
        keep_step, keep_end = Struct(f'{2 * n}d').pack_into, Struct(f'{3 * n + 13}d').pack_into
        at_step, at_end, width = 0, 0, 16 * n
        for targets in tape:
            for aims, rates in targets:
                command(aims, rates, *constants)
                for _ in range(steps):
                    step(client)
                    if looks:
                        states = look(body, links, client)
                        keep_step(seen.data, at_step, *map(_RATE, states), *map(_EFFORT, states))
                        at_step += width
            if not looks:
                states = look(body, links, client)
            at, rate, _, effort = zip(*states, strict=True)
            place, turn = where(body, client)
            linear, angular = moving(body, client)
            state = (*at, *rate, *place, *turn, *linear, *angular)
            keep_end(ends.data, at_end, *state, *effort)
            at_end += ends.strides[0]
            self.touching.append(find(body, ground, physicsClientId=client))
            beat()
            if not hypot(*state) < FAR:
                break
        count = len(self.touching)
        self.ends, self.steps = ends[:count], seen[:count]
