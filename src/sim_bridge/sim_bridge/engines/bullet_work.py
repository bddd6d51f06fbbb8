"""Work of the motors in Bullet, and screws too weak for their load: a look after every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gait_core.arrays import FloatArray
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.laws import screw_grip, sum_work

if TYPE_CHECKING:
    from sim_bridge.engines.bullet_motors import Motors


class Meter:
    """
    Sums the work of each joint's motor over physics steps, and holds screws as they can.

    A force acts at the mean of the velocities before and after a step: that is what it adds to
    the kinetic energy.

    Parameters
    ----------
    motors : Motors
        At rest.
    client, body : int
    links : list of int
        Bullet's index of each joint that is not part of a ball joint.
    columns : list of int
        Their places among ``joint_names``.

    Attributes
    ----------
    work : (2, n) array [J]
        Signed and positive.
    counts : bool
        Whether work counts: not while the robot settles.
    stuck : mapping of int to float [m]
        Screws whose load is too strong for them, and where they stand.
    bounds : mapping of int to float [N]
        Greatest force of each screw in the coming step.

    """

    def __init__(
        self, motors: Motors, client: int, body: int, links: list[int], columns: list[int]
    ) -> None:
        self._motors, self._client, self._body = motors, client, body
        self._links, self._columns = links, columns
        self._at, self._before, self._rate, self._effort = np.zeros((4, len(motors.demands.gain)))
        self._screws = np.flatnonzero(np.isfinite(motors.demands.strength)).tolist()
        self._dt = motors.demands.physics_step
        self.work: FloatArray = np.zeros((2, len(self._at)))
        self.counts = True
        self.stuck: dict[int, float] = {}
        self.bounds = {k: float(motors.demands.strength[k]) for k in self._screws}

    def read(self) -> None:
        """Look at the physics step that was made last."""
        at, rate, effort, motors = self._at, self._rate, self._effort, self._motors
        self._before[:] = rate
        if self._links:
            states = pb.getJointStates(self._body, self._links, self._client)
            at[self._columns], rate[self._columns], _, effort[self._columns] = zip(
                *states, strict=True
            )
        if len(motors.balls):
            motors.balls.read(at, rate)
        motors.torques.write(effort)
        if self.counts:
            sum_work(effort, self._before, rate, self._dt, motors.demands.losses, self.work)
        for k in self._screws:
            self._watch(k)

    def _watch(self, k: int) -> None:
        """Say how a screw is held in the coming step, by its number of joint."""
        motors, demands = self._motors, self._motors.demands
        before = k in self.stuck
        wanted = motors.wanted(k, float(self._at[k]))
        stuck, bound = screw_grip(
            self._effort[k], self._rate[k], wanted, demands.strength[k], demands.effort_limit[k],
            before,
        )  # fmt: skip
        if stuck == before and bound == self.bounds[k]:
            return
        self.bounds[k] = bound
        if not stuck:
            self.stuck.pop(k, None)
        elif not before:
            self.stuck[k] = float(self._at[k])
        motors.send()
