"""The ``cables`` engine: free bodies, force elements and contact nodes in one compiled kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import FloatArray, all_finite
from gait_core.contracts import BatchEngine, TapeEngine
from gait_core.errors import BadCommand, ConfigurationError
from gait_core.observation import Observation
from gait_core.parameters import Parameters
from gait_core.placement import base_poses
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from gait_core.state_tape import StateTape, by_steps
from gait_core.targets import AppliedTape, AppliedTargets
from gait_core.terrains import Terrain
from sim_bridge.engines.bounds import (
    CONTACT_NODES,
    FORCE_ELEMENTS,
    FREE_BODIES,
    PushWindow,
    out_of_range,
)
from sim_bridge.engines.cables_layout import (
    ground_of,
    layout_of,
    pushes_of,
    refuse_others,
    start_of,
)
from sim_bridge.engines.cables_options import CablesOptions, NodeOptions
from sim_bridge.engines.cables_play import Record, Tapes, played
from sim_bridge.engines.cables_state import Reader
from sim_bridge.engines.demands import Demands
from sim_bridge.engines.fused import fused
from sim_bridge.engines.rigid_engine import SceneEngine

LANES = 16
"""Trials that one thread of a batch advances side by side: each number is compiled for itself."""


class Bodies:
    """
    The bodies of a scene and their ground as arrays.

    Attributes
    ----------
    demands : Demands
    layout, ground
        As of the kernel.
    state : (b, 13) array
    bristles : (c, 2) array [m]

    """

    def rebuild(
        self,
        robot: RobotModel,
        scene: Scene,
        options: Any,
        terrain: Terrain,
        pose: FloatArray,
        positions: FloatArray,
    ) -> None:
        """Lay out the scene with the assembly at ``pose``, every body at rest."""
        self.lay_out('cables', robot, scene, options, terrain, pose)

    def lay_out(
        self,
        engine: str,
        robot: RobotModel,
        scene: Scene,
        options: NodeOptions,
        terrain: Terrain,
        pose: FloatArray,
    ) -> None:
        """Make the arrays of a scene for an engine."""
        refuse_others(engine, robot, scene)
        self.demands = Demands(engine, robot, scene.physics_step)
        self.layout = layout_of(robot, scene.gravity, self.demands)
        self.ground = ground_of(scene, options, terrain)
        self.state = start_of(robot, base_poses(robot, pose))
        self.bristles: FloatArray = np.zeros((len(robot.contact_nodes), 2))

    def close(self) -> None:
        """Do nothing: the arrays go with the world."""


class CablesEngine(SceneEngine[Bodies], TapeEngine, BatchEngine):
    """
    Free rigid bodies joined by force elements, on contact nodes; options are ``CablesOptions``.

    Semi-implicit Euler at the physics rate: velocities from the forces at the start of a step,
    then places from the new velocities (Korbel 2013; friction state and dampers explicit).
    """

    name = 'cables'
    Options: ClassVar[type[Parameters]] = CablesOptions
    carries = (FREE_BODIES, FORCE_ELEMENTS, CONTACT_NODES, 'plane and height field')

    def _open(self) -> Bodies:
        return Bodies()

    def _equip(self, world: Bodies) -> None:
        scene, robot = self._scene, self._simulated
        self._reader = Reader(robot, scene)
        model = fused(robot)
        windows = [PushWindow(push, scene, robot, model) for push in scene.pushes]
        self._pushes = pushes_of(windows, robot)

    def _settle(self, start: FloatArray, ticks: int) -> Observation:
        still = np.zeros((1, 1, 1, len(start)))
        tapes = Tapes(start.reshape(still.shape), still, still)
        # Steps before tick 0 have negative numbers: nothing pushes then.
        seen = self._reader.read(self._play(tapes, 1, 0, 1), 0)
        if ticks:
            seen = self._reader.read(self._play(tapes, ticks, 1, -ticks * self._steps), 1 - ticks)
            if len(seen) < ticks:
                self._ready = False
                raise out_of_range(0)
        return self._seen(seen)[-1]

    def _play(self, tapes: Tapes, ticks: int, samples: int, first: int) -> Record:
        """Advance the world through control periods of so many sub-samples each."""
        world = self._open_world()
        steps = self._steps // samples if samples else 0
        return played(
            world.layout, world.ground, self._pushes, tapes, world.state, world.bristles,
            self._scene.physics_step, first, ticks, samples, steps,
        )  # fmt: skip

    def _seen(self, states: StateTape) -> StateTape:
        if self._similar is None:
            return states
        return StateTape.of([self._similar.seen(one, self._period) for one in states])

    def step(self, targets: AppliedTargets) -> Observation:
        """
        Advance one control period and return the state at its end.

        Raises
        ------
        SimulationDiverged
            If the state left the finite or plausible range; only ``reset`` is possible then.
        BadCommand, ConfigurationError
            If the targets cannot be applied; the state is unchanged.
        ProtocolError
            Before a reset or after ``close``.

        """
        return self._roll(AppliedTape.of([targets]))[0]

    def rollout(self, tape: Sequence[AppliedTargets]) -> StateTape:
        """Advance one control period per tape entry, in one compiled call; equals stepping."""
        if not isinstance(tape, AppliedTape):
            shapes = [len(one.position) for one in tape]
            if len(set(shapes)) != 1:
                # Periods of different sub-samples have no common array.
                return by_steps(self.step, tape)
        return self._roll(AppliedTape.of(tape))

    def _roll(self, tape: AppliedTape) -> StateTape:
        self._check_ready()
        tapes, samples = self._checked(tape)
        record = self._play(tapes, len(tape), samples, self._tick * self._steps)
        states = self._seen(self._reader.read(record, self._tick + 1))
        self._tick += len(states)
        if len(states) < len(tape):
            self._ready = False
            raise out_of_range(self._tick + 1, states)
        return states

    def _checked(self, tape: AppliedTape) -> tuple[Tapes, int]:
        """Return the targets of a tape that can be applied, and their sub-samples."""
        if not len(tape):
            raise BadCommand('a tape without a single control period')
        samples = self._open_world().demands.take(tape[0], self._steps)
        parts = [tape.position, tape.velocity, tape.effort]
        if not all(all_finite(part) for part in parts):
            raise BadCommand('targets hold a value that is not finite')
        if self._similar is not None:
            scaled = self._similar.targets(AppliedTargets(*parts))
            parts = [scaled.position, scaled.velocity, scaled.effort]
        return Tapes(*(_compact(part)[None] for part in parts)), samples

    def rollout_batch(
        self, tapes: Sequence[Sequence[AppliedTargets]], threads: int
    ) -> list[StateTape]:
        """
        Advance each tape from the present state, which stays as it is.

        Tapes of the same shape are advanced side by side in lanes, up to ``LANES`` a thread.

        Parameters
        ----------
        tapes : sequence of sequences of AppliedTargets
        threads : int
            How many groups of lanes run at a time; the states do not depend on it.

        Returns
        -------
        list of StateTape
            What ``rollout`` gives for each tape, to the last bit. A tape whose physics diverges
            ends before the control period in which it did.

        Raises
        ------
        BadCommand, ConfigurationError
            If targets cannot be applied, or there is no thread.
        ProtocolError
            Before a reset or after ``close``.

        """
        self._check_ready()
        if threads < 1:
            raise ConfigurationError(f'a batch of {threads} threads; nearest valid: 1')
        arrays = [AppliedTape.of(tape) for tape in tapes]
        groups = list(_groups([one.position.shape for one in arrays]))
        found: dict[int, StateTape] = {}
        with ThreadPoolExecutor(threads) as pool:
            done = pool.map(lambda group: self._side_by_side([arrays[i] for i in group]), groups)
            for group, states in zip(groups, done, strict=True):
                found.update(zip(group, states, strict=True))
        return [found[i] for i in range(len(arrays))]

    def _side_by_side(self, tapes: Sequence[AppliedTape]) -> list[StateTape]:
        """Advance tapes of one shape: a single one, or as many lanes as there may be."""
        world, count = self._open_world(), len(tapes)
        checked = [self._checked(tape) for tape in tapes]
        samples = checked[0][1]
        parts = [tapes for tapes, _ in checked]
        lanes = 1 if count == 1 else LANES
        # Lanes without a tape repeat the last one.
        parts += parts[-1:] * (lanes - count)
        record = played(
            world.layout, world.ground, self._pushes,
            Tapes(*(_stacked([one[0] for one in kind]) for kind in zip(*parts, strict=True))),
            np.repeat(world.state, lanes, axis=1), np.repeat(world.bristles, lanes, axis=1),
            self._scene.physics_step, self._tick * self._steps, len(tapes[0]), samples,
            self._steps // samples,
        )  # fmt: skip
        return [
            self._seen(self._reader.read(record, self._tick + 1, lane, keep=False))
            for lane in range(count)
        ]


def _groups(shapes: Sequence[tuple[int, ...]]) -> Iterator[list[int]]:
    """Yield which tapes of some shapes go side by side; few alike ones go by themselves."""
    order = sorted(range(len(shapes)), key=lambda i: shapes[i])
    for _, alike in groupby(order, key=lambda i: shapes[i]):
        members = list(alike)
        while len(members) >= LANES // 2:
            yield members[:LANES]
            members = members[LANES:]
        yield from ([one] for one in members)


def _compact(part: FloatArray) -> FloatArray:
    """Return an array (T, K, e) with a one in place of T and K where nothing changes."""
    if (part == part[:1, :1]).all():
        part = part[:1, :1]
    return np.ascontiguousarray(part)


def _stacked(parts: Sequence[FloatArray]) -> FloatArray:
    """Return arrays (T, K, e) as one (L, T, K, e); of equal constants the first will do."""
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    if len(parts) > 1 and all(np.array_equal(part, parts[0]) for part in parts[1:]):
        parts = parts[:1]
    return np.array([np.broadcast_to(part, shape) for part in parts])
