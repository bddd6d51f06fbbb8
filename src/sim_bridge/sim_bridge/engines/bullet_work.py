"""Work of the motors in Bullet, and screws too weak for their load: a look after every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gait_core.arrays import FloatArray
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.laws import screw_grip, sum_work

if TYPE_CHECKING:
    from sim_bridge.engines.bullet_motors import Motors

Row = Sequence[float]


class Meter:
    """
    Sums the work of each joint's motor over physics steps, and holds screws as they can.

    A force acts at the mean of the velocities before and after a step: that is what it adds to
    the kinetic energy.

    Parameters
    ----------
    motors : Motors
        At rest.
    sums : bool
        Whether work is summed.
    client, body : int
    links : list of int
        Bullet's index of each joint that is not part of a ball joint.
    columns : list of int
        Their places among ``joint_names``.

    Attributes
    ----------
    stuck : mapping of int to float [m]
        Screws whose load is too strong for them, and where they stand.
    bounds : mapping of int to float [N]
        Greatest force of each screw in the coming step.
    later : bool
        Whether nothing depends on what is seen, so that it can be looked at later.
    last : sequence of tuple
        What Bullet said of all joints after the last step; empty where it did not.

    """

    def __init__(
        self,
        motors: Motors,
        sums: bool,
        client: int,
        body: int,
        links: list[int],
        columns: list[int],
    ) -> None:
        self._motors, self._client, self._body = motors, client, body
        self._links, self._columns = links, columns
        self._at, self._before, self._rate, self._effort = np.zeros((4, len(motors.demands.gain)))
        self._screws = np.flatnonzero(np.isfinite(motors.demands.strength)).tolist()
        self._dt = motors.demands.physics_step
        self._sums = sums
        self._all_told = bool(links) and len(columns) == len(self._at)
        self._all_told &= not len(motors.torques.columns)
        self.later = self._all_told and not self._screws
        self.last: Sequence[Any] = ()
        self._seen: list[Any] = []
        self._steps: list[float] = []
        self._work: FloatArray = np.zeros((2, len(self._at)))
        self._counts = True
        self.stuck: dict[int, float] = {}
        self.bounds = {k: float(motors.demands.strength[k]) for k in self._screws}

    def count(self, counts: bool) -> None:
        """Say whether work counts from now on: not while the robot settles."""
        self.work()
        self._counts = counts

    def read(self) -> None:
        """Look at the physics step that was made last."""
        states = pb.getJointStates(self._body, self._links, self._client) if self._links else ()
        if self._all_told:
            self.last = states
        if self.later:
            # Nothing but this between steps: their data would leave the processor's cache.
            self._seen.append(states)
        else:
            self._take(states)

    def _take(self, states: Sequence[Any]) -> None:
        at: Row
        rate: Row
        effort: Row
        if self._all_told:
            at, rate, _, effort = zip(*states, strict=True)
        else:
            at, rate, effort = self._completed(states)
        if not self._counts:
            self._before[:] = rate
        elif self._sums:
            self._steps += rate
            self._steps += effort
        for k in self._screws:
            self._watch(k, at[k], rate[k], effort[k])

    def _completed(self, states: Sequence[Any]) -> tuple[Row, Row, Row]:
        """Return positions, velocities and efforts with what Bullet does not tell by joint."""
        at, rate, effort, motors = self._at, self._rate, self._effort, self._motors
        if states:
            at[self._columns], rate[self._columns], _, effort[self._columns] = zip(
                *states, strict=True
            )
        if len(motors.balls):
            motors.balls.read(at, rate)
        motors.torques.write(effort)
        return at.tolist(), rate.tolist(), effort.tolist()

    def work(self) -> FloatArray:
        """Return the signed and the positive work of each joint so far, (2, n) [J]."""
        for seen in self._seen:
            self._take(seen)
        self._seen.clear()
        if self._steps:
            states = np.array(self._steps).reshape(-1, 2, len(self._before))
            self._steps.clear()
            sum_work(states, self._before, self._dt, self._motors.demands.losses, self._work)
        return self._work

    def add(self, states: FloatArray) -> FloatArray:
        """
        Return the work so far after each of several periods, (T, 2, n) [J].

        Parameters
        ----------
        states : (T, S, 2, n) array [rad/s or m/s, N m or N]
            Velocities and efforts after each step, which were not read here.

        """
        losses, work = self._motors.demands.losses, self.work()
        self.last = ()
        sums: FloatArray = np.empty((len(states), *work.shape))
        for period, steps in enumerate(states):
            sum_work(steps, self._before, self._dt, losses, work)
            sums[period] = work
        return sums

    def _watch(self, k: int, at: float, rate: float, effort: float) -> None:
        """Say how a screw is held in the coming step, by its number of joint and its state."""
        motors, demands = self._motors, self._motors.demands
        before = k in self.stuck
        wanted = motors.wanted(k, at)
        stuck, bound = screw_grip(
            effort, rate, wanted, demands.strength[k], demands.effort_limit[k],
            before,
        )  # fmt: skip
        if stuck == before and bound == self.bounds[k]:
            return
        self.bounds[k] = bound
        if not stuck:
            self.stuck.pop(k, None)
        elif not before:
            self.stuck[k] = at
        motors.send()
