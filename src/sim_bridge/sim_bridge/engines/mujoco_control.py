"""The table of a MuJoCo state that tells the native callback what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError, ProtocolError
from gait_core.scene import Scene
from sim_bridge.engines import mujoco_kernel as kernel
from sim_bridge.engines.demands import Tensions, Torques
from sim_bridge.engines.fused import Ball
from sim_bridge.engines.ground_springs import SPRINGS, STICKY_SPRINGS, GroundSpringOptions
from sim_bridge.engines.laws import COLUMNS
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_ground_kernel import (
    ANCHOR,
    BODY,
    END,
    FIRST,
    HOLD,
    POINT,
    SOLE_ROWS,
)
from sim_bridge.engines.mujoco_layout import check_layout

Counts = tuple[int, int, int, int, int, int]
"""Joints, those with a torque, force elements, pushes, ball joints and soles that stick."""


def table_size(counts: Counts) -> int:
    """Return how many numbers a state keeps for the callback."""
    return kernel.HEADER + sum(rows * columns for rows, columns in _blocks(counts))


def _blocks(counts: Counts) -> list[tuple[int, int]]:
    joints, torques, elements, pushes, balls, soles = counts
    return [
        (kernel.SERVO_ROWS, joints),
        (kernel.TORQUE_ROWS, torques),
        (torques, COLUMNS),
        (kernel.ELEMENT_ROWS, elements),
        (elements, COLUMNS),
        (kernel.PUSH_ROWS, pushes),
        (balls, kernel.BALL_COLUMNS),
        (SOLE_ROWS, soles),
    ]


class Table:
    """
    Which joints and elements of a state are driven, by what law, to which targets.

    Attributes
    ----------
    numbers : array
        The whole table.
    push_columns : iterator of (8,) views
        Hands out the columns of pushes, with the rows of ``mujoco_kernel``.
    soles : (SOLE_ROWS, s) view
        Soles that stick, with the rows of ``mujoco_ground_kernel``.
    pulls : (6, s) view
        Where they stick, and the forces on them.

    Raises
    ------
    ConfigurationError
        If the installed MuJoCo keeps its state elsewhere than it describes.

    """

    def __init__(self, model: Any, data: Any, counts: Counts) -> None:
        check_layout(kernel.MODEL, model)
        check_layout(kernel.DATA, data)
        self.numbers: FloatArray = data.userdata
        self.numbers[:] = 0.0
        self.numbers[0] = kernel.MAGIC
        self.numbers[[*range(kernel.JOINTS, kernel.BALLS + 1), kernel.SOLES]] = counts
        self.numbers[kernel.STEP] = model.opt.timestep
        views, at = [], kernel.HEADER
        for rows, columns in _blocks(counts):
            views.append(self.numbers[at : at + rows * columns].reshape(rows, columns))
            at += rows * columns
        self._servos, self._torques, self._torque_constants, *rest = views
        self._elements, self._element_constants, pushes, self._balls, soles = rest
        self.soles: FloatArray = soles
        self.pulls: FloatArray = soles[ANCHOR:]
        self.push_columns: Iterator[FloatArray] = iter(pushes.T)

    def set_laws(self, hardness: float, slip: float) -> None:
        """Set what turns a servo's error and a contact's sliding speed into references [1/s]."""
        self.numbers[kernel.HARDNESS], self.numbers[kernel.SLIP] = hardness, slip

    def take_ground(
        self, scene: Scene, options: GroundSpringOptions, mass: float, ground: int
    ) -> None:
        """Let the ground, a geometry, act on a robot of a mass [kg] by the scene's contact law."""
        self.numbers[kernel.GROUND] = ground
        if scene.contact_law in (SPRINGS, STICKY_SPRINGS):
            self.numbers[kernel.GROUND_SPRING : kernel.STICK_SPRING] = (
                options.ground_strength * mass,
                options.ground_rise,
                options.ground_depth,
                options.ground_return,
                options.ground_slow,
            )
        self.numbers[kernel.STICK_SPRING : kernel.HEADER] = (
            options.stick_strength * mass,
            options.stick_rise,
            options.stick_reach,
            options.stick_return,
            0.0,
        )

    def take_soles(
        self, bodies: IntArray, geometries: IntArray, points: FloatArray, orders: IntArray
    ) -> None:
        """
        Let soles stick, at points (s, 3) of bodies with geometries from, to (s, 2).

        Orders to hold are the efforts asked of torques ``orders``, (s,); -1: there is none.
        """
        soles = self.soles
        soles[HOLD] = orders
        soles[BODY], soles[POINT : POINT + 3] = bodies, points.T
        soles[FIRST : END + 1] = geometries.T

    def set_servos(
        self,
        places: IntArray,
        dofs: IntArray,
        gain: FloatArray,
        limit: FloatArray,
        strength: FloatArray | float = np.inf,
        hold: FloatArray | float = np.inf,
        losses: FloatArray | tuple[float, float] = (1.0, -1.0),
    ) -> FloatArray:
        """
        Let these joints have a servo each, in the order of MuJoCo's rows; nothing has worked yet.

        Parameters
        ----------
        places, dofs : (s,) int arrays
        gain, limit : (s,) arrays [1/s, rad/s or m/s]
        strength, hold : (s,) arrays [N]
            Of screws, as of ``laws.screw_grip``; the strength of other servos is infinite.
        losses : (2, s) array [-]
            ``raising`` and ``lowering`` of ``laws.servo_power``.

        Returns
        -------
        targets : (2, s) view
            Their aims and rates.

        """
        self.numbers[kernel.SERVOS] = len(places)
        rows = self._servos[:, : len(places)]
        rows[kernel.PLACE], rows[kernel.DOF] = places, dofs
        rows[kernel.GAIN], rows[kernel.LIMIT] = gain, limit
        rows[kernel.STRENGTH], rows[kernel.HOLD] = strength, hold
        rows[kernel.RAISING], rows[kernel.LOWERING] = losses
        rows[kernel.FORCE_BEFORE :] = 0.0
        targets: FloatArray = rows[kernel.AIM : kernel.RATE + 1]
        return targets

    def take_torques(
        self, torques: Torques, places: IntArray, dofs: IntArray, carried: FloatArray
    ) -> None:
        """
        Let the callback apply torques, whose targets and results lie in the table from now.

        Of the damping of a law MuJoCo applies the part ``carried``, (t,), itself.
        """
        rows = self._torques
        rows[kernel.ADDRESS], rows[kernel.FREEDOM] = places, dofs
        rows[kernel.CARRIED] = carried
        rows[kernel.TORQUE_LAW] = torques.laws
        self._torque_constants[:] = torques.constants
        torques.targets, torques.applied = rows[kernel.TORQUE_TARGET :], rows[kernel.TORQUE]
        torques.fast = rows[kernel.OVERSPEED].view(np.int64)

    def take_balls(
        self, balls: Sequence[Ball], torques: Torques, places: IntArray, dofs: IntArray
    ) -> None:
        """Let torques along the three angles of ball joints act on these; by joint, (n,)."""
        for row, ball in zip(self._balls, balls, strict=True):
            first = ball.columns[0]
            row[kernel.BALL_ADDRESS], row[kernel.BALL_FREEDOM] = places[first], dofs[first]
            row[kernel.BALL_SIGN] = ball.sign
            at = np.searchsorted(torques.columns, ball.columns)
            row[kernel.BALL_TORQUE : kernel.BALL_DAMPING] = at
            row[kernel.BALL_DAMPING : kernel.BALL_TURN] = ball.damping
            row[kernel.BALL_TURN :] = ball.turn.ravel()

    def take_tensions(self, tensions: Tensions) -> None:
        """Let the callback apply tensions, whose targets and results lie in the table from now."""
        rows = self._elements
        rows[kernel.ELEMENT_LAW] = tensions.laws
        self._element_constants[:] = tensions.constants
        tensions.targets, tensions.applied = rows[kernel.ELEMENT_TARGET :], rows[kernel.TENSION]

    def settle(self, settling: bool) -> None:
        """Let work not count while the robot settles."""
        self.numbers[kernel.SETTLING] = float(settling)

    def begin(self) -> None:
        """Start the time of a sub-sample."""
        self.numbers[kernel.ELAPSED] = 0.0

    def check(self, steps: int) -> None:
        """Raise ProtocolError unless each callback ran in so many steps."""
        for what, at in (('control', kernel.STEPS), ('sensor', kernel.SENSED)):
            driven = self.numbers[at]
            if driven != steps:
                raise ProtocolError(
                    f"MuJoCo's {what} callback ran in {driven:g} of {steps} steps: another part "
                    'of this process has replaced it'
                )


def claim_callbacks() -> None:
    """
    Set MuJoCo's callbacks for control and sensors, which also run while a model is compiled.

    Raises
    ------
    ConfigurationError
        If another part of the process has one of them.

    """
    for what, get, put, ours in (
        ('control', mj.get_mjcb_control, mj.set_mjcb_control, kernel.CALLBACK),
        ('sensor', mj.get_mjcb_sensor, mj.set_mjcb_sensor, kernel.SENSOR_CALLBACK),
    ):
        held = get()
        if held is None:
            put(ours)
        elif held is not ours:
            raise ConfigurationError(
                f"engine 'mujoco' needs MuJoCo's {what} callback, which another part of this "
                f'process has set; it must call mujoco.set_mjcb_{what}(None) first'
            )
