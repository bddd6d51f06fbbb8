"""Actuators of a robot in MuJoCo: velocity-level servos, and torques at the physics rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.errors import SimulationDiverged
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from gait_core.targets import AppliedTape, AppliedTargets
from sim_bridge.engines.demands import (
    DEFAULT_GAIN,
    NO_LIMIT,
    SERVOS,
    Demands,
    Tensions,
    Torques,
)
from sim_bridge.engines.laws import DAMPING
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_control import Table
from sim_bridge.engines.mujoco_options import MujocoOptions
from sim_bridge.engines.mujoco_world import World


@numba.njit(cache=True)
def _sort(positions, velocities, servos, moves, ahead):  # type: ignore[no-untyped-def]
    """Write aims and rates of servos, (K, 2, s), from the demands of all joints, (K, m)."""
    for sample in range(len(positions)):
        for k in range(len(servos)):
            ahead[sample, 0, k] = positions[sample, servos[k]]
            ahead[sample, 1, k] = velocities[sample, servos[k]] * moves[k]


class Motors:
    """
    Turns applied targets into MuJoCo's constraint rows and torques.

    A servo (``position``, ``velocity``) is MuJoCo's dry friction of the joint with the effort
    limit as its greatest torque, whose reference is not rest but the velocity ``feed-forward +
    gain * error``, clipped to the velocity limit. The constraint solver then finds, together
    with the contacts, the torque that reaches this velocity within one physics step, or the
    greatest one: what Bullet's motor constraint does. The callback of
    ``mujoco_kernel`` writes the reference into the rows between the two halves of a step, applies
    torques as forces, and keeps Coulomb's law (below). Dry friction acts on joints with torque, a
    servo contains it.

    MuJoCo makes friction convex: of a contact that slides at speed ``v`` it asks not that it stay
    closed but that it open at ``friction * v``, and a sliding box hops. Lowering the normal
    reference by just that speed restores the law (the change of variables of de Saxce and Feng).
    The speed is that at the start of the step, so a contact that begins to stick sinks in for
    one step by ``friction * v * step``.

    Attributes
    ----------
    demands : Demands
    torques : Torques
    tensions : Tensions
    table : Table
    servos : (s,) int array
        The joints that have a constraint row, in the order of the rows.

    References
    ----------
    de Saxce and Feng (1998), Mathematical and Computer Modelling 28:225-245.

    """

    def __init__(
        self, world: World, robot: RobotModel, scene: Scene, options: MujocoOptions
    ) -> None:
        self._world, self._model, self._data = world, world.model, world.data
        self.demands = demands = Demands('mujoco', robot, scene.physics_step)
        self.torques, self.tensions = Torques(demands), Tensions(demands, robot)
        self.table = Table(world.model, world.data, world.counts)
        step = scene.physics_step
        self.table.set_laws(
            # Undoes the softness of a joint that nothing else holds: its servo misses nothing.
            hardness=1.0 / (step * options.servo_impedance),
            # MuJoCo's damping of a contact, times the friction.
            slip=scene.friction / (step * options.contact_impedance),
        )
        columns = self.torques.columns
        self.table.take_torques(
            self.torques, world.places[columns], world.dofs[columns], self._carry_damping(robot)
        )
        self.table.take_ground(scene, options, robot.mass, world.ground)
        if self.table.soles.size:
            self._take_soles(robot)
        self.table.take_balls(world.fused.balls, self.torques, world.places, world.dofs)
        self.table.take_tensions(self.tensions)
        self._timed = bool(len(columns) or self.tensions.names)
        self._dt, self._driven = step, 0
        self._hinge: BoolArray = np.ones(len(demands.kinds), dtype=bool)
        self._hinge[[column for ball in world.fused.balls for column in ball.columns]] = False
        self._servo = np.isin(demands.kinds, SERVOS)
        friction = np.array([robot.joint[name].friction for name in robot.joint_names])
        self._strength = np.where(self._servo, demands.effort_limit, friction)
        self._set_rows(self._strength, np.zeros(len(self._servo), dtype=bool))

    def _take_soles(self, robot: RobotModel) -> None:
        places = [
            self._world.fused.places[leg.sole].then(leg.sole_point, (0.0, 0.0, 0.0))
            for leg in robot.legs
        ]
        bodies = np.array([self._world.body(place.link) for place in places])
        first = self._model.body_geomadr[bodies]
        geometries = np.column_stack([first, first + self._model.body_geomnum[bodies]])
        carriers = {joint.child: joint.name for joint in robot.joints}
        orders = [self._order(robot, carriers.get(leg.sole, '')) for leg in robot.legs]
        self.table.take_soles(
            bodies, geometries, np.array([place.position for place in places]), np.array(orders)
        )

    def _order(self, robot: RobotModel, joint: str) -> int:
        """Return the torque whose effort, of no other use, tells the sole on a joint to hold."""
        at = robot.joint_index.get(joint, -1)
        if at < 0 or self.demands.kinds[at] != 'exponential':
            return -1
        return int(np.flatnonzero(self.torques.columns == at)[0])

    def _carry_damping(self, robot: RobotModel) -> FloatArray:
        """
        Let MuJoCo's joints carry the dampers of exponential springs; return what they carry, (t,).

        MuJoCo integrates its own damping implicitly, so that a light link may have a strong damper
        at a coarse step. Where a torque saturates, its damper must too, and stays in the law.
        """
        world, demands, columns = self._world, self.demands, self.torques.columns
        free = (demands.kinds == 'exponential') & (demands.effort_limit >= NO_LIMIT)
        for ball in world.fused.balls:
            free[ball.columns] = False
        carried = np.where(free[columns], self.torques.constants[:, DAMPING], 0.0)
        for column, more in zip(columns[free[columns]], carried[free[columns]], strict=True):
            own = robot.joint[robot.joint_names[column]].damping
            world.model.dof_damping[world.dofs[column]] = own + more
        return carried

    def _set_rows(self, strength: FloatArray, stiff: BoolArray) -> None:
        """Give every joint its greatest torque of a constraint; stiff ones hold a position."""
        world, demands = self._world, self.demands
        world.model.dof_frictionloss[world.dofs] = strength
        # MuJoCo's rows are in the order of its degrees of freedom, without those of no strength.
        order = np.argsort(world.dofs)
        self.servos: IntArray = order[strength[order] > 0.0]
        columns = self.servos
        gain = np.where(stiff, min(DEFAULT_GAIN, 1.0 / self._dt), demands.gain)
        self._targets = self.table.set_servos(
            world.places[columns], world.dofs[columns], gain[columns],
            demands.velocity_limit[columns], demands.strength[columns],
            demands.effort_limit[columns], demands.losses[:, columns],
        )  # fmt: skip
        self._moves = (self._servo & ~stiff)[columns].astype(np.float64)

    def hold(self, positions: FloatArray, stiff: bool) -> None:
        """
        Hold joint positions until targets come.

        ``stiff`` puts a servo on joints with velocity or effort actuators too, for a robot that
        settles; without it they get zero velocity and effort, as ball joints always do.
        """
        loose = np.isin(self.demands.kinds, ('velocity', 'effort')) & stiff & self._hinge
        strength = np.where(loose, self.demands.effort_limit, self._strength)
        self._set_rows(strength, loose)
        self.demands.hold(positions)
        self.table.settle(stiff)
        self._gather()
        self.select(0)

    def release(self) -> None:
        """End a stiff hold."""
        self.table.settle(False)
        self._set_rows(self._strength, np.zeros(len(self._servo), dtype=bool))
        self._gather()
        self.select(0)

    def load(self, targets: AppliedTargets, steps: int) -> int:
        """Take the targets of a control period as ``Demands.take`` does."""
        samples = self.demands.take(targets, steps)
        self._gather()
        return samples

    def load_tape(self, tape: AppliedTape, steps: int) -> int:
        """Take the targets of many control periods as ``Demands.take_tape`` does."""
        samples = self.demands.take_tape(tape, steps)
        positions, velocities = self.demands.ahead[:2]
        periods, _, width = positions.shape
        shape = (periods * samples, width)
        ahead = self._sorted(positions.reshape(shape), velocities.reshape(shape))
        self._tape: FloatArray = ahead.reshape(periods, samples, *ahead.shape[1:])
        return samples

    def begin(self, period: int) -> None:
        """Begin a control period of the tape."""
        self.demands.begin(period)
        self._ahead = self._tape[period]

    @property
    def plain(self) -> bool:
        """Whether a sub-sample is put into force by the aims and rates of servos alone."""
        return not self._timed

    def native(self, steps: int) -> tuple[int, FloatArray, FloatArray]:
        """Return what ``mujoco_play.play`` takes: steps, demands ahead and where they act."""
        return steps, self._tape, self._targets

    def played(self, begin: int, end: int, steps: int) -> None:
        """Take it that native code has driven periods of the tape, with so many steps a sample."""
        for period in range(begin, end):
            self.begin(period)
        self.driven((end - begin) * self._tape.shape[1] * steps)

    def driven(self, steps: int) -> None:
        """Take it that native code has advanced so many steps."""
        self._driven += steps
        self.check()

    def _gather(self) -> None:
        self._ahead = self._sorted(self.demands.position, self.demands.velocity)

    def _sorted(self, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Return the demands of sub-samples in the order of MuJoCo's rows, (K, 2, s)."""
        ahead = np.empty((len(positions), 2, len(self.servos)))
        _sort(positions, velocities, self.servos, self._moves, ahead)
        return ahead

    def select(self, sample: int) -> None:
        """Put a sub-sample of the demands into force."""
        self._targets[:] = self._ahead[sample]
        if self._timed:
            self.torques.select(sample)
            self.tensions.select(sample)
            self.table.begin()

    def drive(self, steps: int) -> None:
        """
        Advance some physics steps under the demands in force.

        Raises
        ------
        SimulationDiverged
            If MuJoCo cannot go on: its solver has no memory for so many contacts.

        """
        try:
            mj.mj_step(self._model, self._data, steps)
        except mj.FatalError as error:
            reason = ' '.join(str(error).split())
            raise SimulationDiverged(f'the physics came to an end: {reason}') from None
        self._driven += steps

    def follow(self, other: Motors) -> None:
        """Take the counts of motors whose state, table included, has been taken."""
        self._driven = other._driven
        self.demands.clamped[:] = other.demands.clamped

    def snapshot(self) -> dict[str, Any]:
        """Return the counts that are no part of MuJoCo's state."""
        return {'driven': self._driven, 'clamped': self.demands.clamped.copy()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Take such counts."""
        self._driven = int(snapshot['driven'])
        self.demands.clamped[:] = snapshot['clamped']

    def check(self) -> None:
        """Raise ProtocolError unless MuJoCo let the demands act in every step."""
        self.table.check(self._driven)
