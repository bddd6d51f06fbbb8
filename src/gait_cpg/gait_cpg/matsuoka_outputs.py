"""What the signals of oscillators drive on a robot, and what of it is fed back to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.elements import lengths_at
from gait_core.errors import BadCommand, ConfigurationError
from gait_core.leg_ik import LegKinematics
from gait_core.observation import Observation
from gait_core.robot.model import RobotModel

_GRAVITY = 9.81
"""Of the weight to which loads are compared [m/s^2]."""


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """
    The driven joints or force elements.

    Attributes
    ----------
    names : (n,) tuple of str
    signal : (n,) int array
        Which drives each.
    sign : (n,) array
        1 or -1: so that a positive signal moves what is meant.
    signals : (m,) tuple of str
        Names of the signals.
    efforts : bool
        Whether they are driven by efforts, else by positions.

    """

    names: tuple[str, ...]
    signal: IntArray
    sign: FloatArray
    signals: tuple[str, ...]
    efforts: bool


def outputs_of(robot: RobotModel, separate: bool) -> Outputs:
    """
    Return what a robot's signals drive.

    Without ``signals`` in its description each leg has one, on the joint that swings its foot
    most in the nominal stance; positive is forward.

    Raises
    ------
    ConfigurationError
        If there are neither signals nor legs, or some take efforts and some positions.

    """
    named = robot.signals or tuple((leg.name, (_swing(robot, leg.name),)) for leg in robot.legs)
    if not named:
        raise ConfigurationError(
            f"controller 'matsuoka' needs 'signals' or 'legs' in robot.yaml, robot "
            f"'{robot.name}' has neither"
        )
    if separate:
        named = tuple((name, (name,)) for _, members in named for name in members)
    names = tuple(name for _, members in named for name in members)
    takes = {name: _takes_effort(robot, name) for name in names}
    if len(set(takes.values())) > 1:
        other = next(name for name in names if takes[name] != takes[names[0]])
        raise ConfigurationError(
            f"signals of robot '{robot.name}' drive '{names[0]}' and '{other}', one by effort and "
            'one by position: give all the same kind'
        )
    return Outputs(
        names=names,
        signal=np.repeat(np.arange(len(named)), [len(members) for _, members in named]),
        sign=np.array([_forward(robot, name) for name in names]),
        signals=tuple(signal for signal, _ in named),
        efforts=takes[names[0]],
    )


def _takes_effort(robot: RobotModel, name: str) -> bool:
    return name not in robot.joint_index or robot.actuators[name].kind == 'effort'


def _forwards(robot: RobotModel, leg: str) -> FloatArray:
    """Return how far the joints of a leg move its foot forward, (n,) [m/rad]."""
    joints = [robot.nominal_stance.get(name, 0.0) for name in robot.leg(leg).joints]
    return np.asarray(LegKinematics(robot, leg).jacobian(np.array(joints))[0])


def _swing(robot: RobotModel, leg: str) -> str:
    return robot.leg(leg).joints[int(np.argmax(np.abs(_forwards(robot, leg))))]


def _forward(robot: RobotModel, name: str) -> float:
    """Return the sign of a joint's motion that brings its foot forward; 1 for anything else."""
    for leg in robot.legs:
        if name in leg.joints and not robot.signals:
            return float(np.sign(_forwards(robot, leg.name)[leg.joints.index(name)]) or 1.0)
    return 1.0


class Stretch:
    """Elongation of a signal's force elements as a share, or deflection of its joints [rad]."""

    def __init__(self, robot: RobotModel, outputs: Outputs) -> None:
        elements = {element.name: i for i, element in enumerate(robot.force_elements)}
        self._of_joints = outputs.names[0] in robot.joint_index
        index = robot.joint_index if self._of_joints else elements
        self._columns = np.array([index[name] for name in outputs.names])
        self._mean = _mean_by_signal(outputs)
        self.needs = frozenset({'joint_positions' if self._of_joints else 'element_lengths'})
        if self._of_joints:
            self._rest = robot.stance[self._columns]
        else:
            joints = robot.stance[: len(robot.joint_names)]
            self._rest = lengths_at(robot, joints)[self._columns]

    def read(self, observation: Observation) -> FloatArray:
        """Return the feedback of each signal, (m,)."""
        seen = observation.joint_positions if self._of_joints else observation.element_lengths
        if seen is None:
            raise BadCommand(f'feedback needs {", ".join(self.needs)}, which are not observed')
        away = seen[self._columns] - self._rest
        return np.asarray(self._mean @ (away if self._of_joints else away / self._rest))


class Load:
    """Load of a signal's soles or contact nodes: its share beyond an even one."""

    def __init__(self, robot: RobotModel, outputs: Outputs) -> None:
        self.needs = frozenset({'contacts'})
        owned = np.array([_soles_of(robot, name) for name in outputs.names])
        of_signal = np.array(
            [owned[outputs.signal == i].any(axis=0) for i in range(len(outputs.signals))]
        )
        for name, own in zip(outputs.signals, of_signal, strict=True):
            if not own.any():
                raise ConfigurationError(
                    f"feedback 'contact' needs a sole or contact node at signal '{name}' of robot "
                    f"'{robot.name}'"
                )
        even = robot.mass * _GRAVITY / of_signal.shape[1]
        self._mean = of_signal / of_signal.sum(axis=1, keepdims=True) / even

    def read(self, observation: Observation) -> FloatArray:
        """Return the feedback of each signal, (m,)."""
        if observation.contacts is None:
            raise BadCommand('feedback needs contacts, which are not observed')
        return np.asarray(self._mean @ observation.contacts.sole_forces()[:, 2] - 1.0)


def _soles_of(robot: RobotModel, name: str) -> list[bool]:
    """Return which soles, or contact nodes, are moved by a joint or held by a force element."""
    if robot.contact_nodes:
        links = {
            link
            for element in robot.force_elements
            if element.name == name
            for link in (element.link_a, element.link_b)
        }
        return [node.link in links for node in robot.contact_nodes]
    return [name in leg.joints for leg in robot.legs]


def _mean_by_signal(outputs: Outputs) -> FloatArray:
    """Return the matrix (m, n) that averages what is driven by each signal, with its sign."""
    chosen = outputs.signal == np.arange(len(outputs.signals))[:, None]
    return np.asarray(chosen * outputs.sign / chosen.sum(axis=1, keepdims=True))


SENSES: dict[str, type[Stretch] | type[Load]] = {'stretch': Stretch, 'contact': Load}
"""By the value of the parameter ``feedback``."""


def divisions(dt: float, step: float, samples: Sequence[int]) -> tuple[int, int, float]:
    """Return targets K in a control period, Euler steps to each, and their length [s]."""
    given, default = samples
    count = given or default or max(1, round(dt / step))
    every = max(1, round(dt / (count * step)))
    exact = abs(count * every * step - dt) <= 1e-9 * dt
    return count, every, step if exact else dt / (count * every)
