"""Joint targets as controllers publish them, and their resolution into what is applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gait_core.arrays import FloatArray, IntArray, all_finite, frozen
from gait_core.errors import BadCommand

_FIELDS = ('position', 'velocity', 'effort')


@lru_cache(maxsize=64)
def _check_distinct(names: tuple[str, ...]) -> None:
    """Raise BadCommand for a name that is there twice; controllers repeat the same tuples."""
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadCommand(f"joint '{twice}' is commanded twice in one message")


@dataclass(frozen=True, kw_only=True)
class JointTargets:
    """
    Targets of one control period for the named joints and force elements.

    Each field is a (K, n) array, K >= 1 sub-samples of equal duration (zero-order hold) and n
    names; an (n,) array is read as K = 1. ``None`` leaves that quantity as it was last set.

    Attributes
    ----------
    names : tuple of str
        Joints and force elements, each once, in any order. Those not named hold.
    position : (K, n) array [rad or m]
        A force element's position is its length.
    velocity : (K, n) array [rad/s or m/s]
        Feed-forward of a position servo; set point of a velocity servo.
    effort : (K, n) array [N m or N]

    """

    names: tuple[str, ...]
    position: FloatArray | None = None
    velocity: FloatArray | None = None
    effort: FloatArray | None = None

    def __post_init__(self) -> None:
        """Check lengths, repetition and finiteness; raise BadCommand naming the fault."""
        names = tuple(self.names)
        _check_distinct(names)
        object.__setattr__(self, 'names', names)
        rows = set()
        for field in _FIELDS:
            given = getattr(self, field)
            if given is not None:
                array = self._checked(field, given)
                rows.add(len(array))
                object.__setattr__(self, field, array)
        if len(rows) > 1:
            raise BadCommand(f'targets differ in their number of sub-samples: {sorted(rows)}')

    def _checked(self, field: str, given: FloatArray) -> FloatArray:
        array = np.asarray(given, dtype=np.float64)
        if array.ndim < 2:
            array = np.atleast_2d(array)
        if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] != len(self.names):
            raise BadCommand(
                f'{field} has shape {array.shape}, expected (K, {len(self.names)}) for '
                f'{len(self.names)} names'
            )
        if not all_finite(array):
            bad = ~np.isfinite(array).all(axis=0)
            raise BadCommand(f"{field} of joint '{self.names[int(np.argmax(bad))]}' is not finite")
        return frozen(array, name=field) if array.flags.writeable else array

    @property
    def sub_samples(self) -> int:
        """K, the number of sub-samples; 1 if no field is given."""
        for array in (self.position, self.velocity, self.effort):
            if array is not None:
                return int(array.shape[0])
        return 1


@dataclass(frozen=True)
class AppliedTargets:
    """
    What an engine applies in one control period: every joint, in the robot's order.

    ``position``, ``velocity`` and ``effort`` are (K, n) read-only arrays.
    """

    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


class TargetMemory:
    """
    Resolves partial, permuted targets into full arrays; what is not named holds.

    Velocity and effort hold too, except that a joint which gets a new position without a
    velocity gets zero feed-forward: a stale feed-forward would drive it away from its target.
    """

    def __init__(self, joint_names: Sequence[str], initial_position: FloatArray) -> None:
        self._names = tuple(joint_names)
        self._index = {name: i for i, name in enumerate(self._names)}
        n = len(self._names)
        self._last = {
            'position': frozen(initial_position, (n,), name='initial position'),
            'velocity': np.zeros(n),
            'effort': np.zeros(n),
        }
        self._held: dict[str, FloatArray] = {}
        self._columns: dict[tuple[str, ...], tuple[IntArray, IntArray]] = {}
        self.unknown: set[str] = set()

    def resolve(self, targets: JointTargets) -> AppliedTargets:
        """Return the full arrays for these targets and remember their last sub-sample."""
        samples = targets.sub_samples
        full = []
        for field in _FIELDS:
            given = getattr(targets, field)
            if given is None and field == 'velocity' and targets.position is not None:
                given = np.zeros_like(targets.position)
            full.append(
                self._hold(field, samples)
                if given is None
                else self._replace(field, targets.names, given)
            )
        return AppliedTargets(*full)

    def _replace(self, field: str, names: tuple[str, ...], given: FloatArray) -> FloatArray:
        """Return the last values but for those given, (K, n), and remember the last row."""
        rows = given
        if names != self._names:
            source, column = self._map(names)
            rows = np.repeat(self._last[field][None, :], len(given), axis=0)
            rows[:, column] = given[:, source]
        rows.flags.writeable = False
        self._last[field] = rows[-1]
        self._held.pop(field, None)
        return rows

    def _hold(self, field: str, samples: int) -> FloatArray:
        """Return the last values for some sub-samples; one array for as long as they hold."""
        rows = self._held.get(field)
        if rows is None or len(rows) != samples:
            rows = np.repeat(self._last[field][None, :], samples, axis=0)
            rows.flags.writeable = False
            self._held[field] = rows
        return rows

    def _map(self, names: tuple[str, ...]) -> tuple[IntArray, IntArray]:
        if names not in self._columns:
            known = [i for i, name in enumerate(names) if name in self._index]
            self.unknown.update(name for name in names if name not in self._index)
            self._columns[names] = (
                np.array(known, dtype=np.intp),
                np.array([self._index[names[i]] for i in known], dtype=np.intp),
            )
        return self._columns[names]
