# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Joint targets of controllers, and their resolution into the targets that an engine applies.

Each exists for one control period, and as a tape of many periods with time first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
import math
from typing import overload

import numpy as np

from gait_core.arrays import FloatArray, IntArray, all_finite, read_only_array
from gait_core.errors import BadCommand, excerpt

_FIELDS = ('position', 'velocity', 'effort')
# Number of lists of names whose columns are remembered, and of unknown names kept for a warning.
_MAX_LAYOUTS, _MAX_UNKNOWN = 64, 20


def first_repeated(names: Sequence[str]) -> str:
    """Return the first repeated name; empty if there is none."""
    counts = Counter(names)
    return next((name for name in names if counts[name] > 1), '')


@lru_cache(maxsize=16)
def _check_distinct(names: tuple[str, ...]) -> None:
    """Raise BadCommand for a repeated name; cached, as controllers repeat the same tuples."""
    if len(set(names)) != len(names):
        twice = first_repeated(names)
        raise BadCommand(f"joint '{excerpt(twice)}' is commanded twice in one message")


@dataclass(frozen=True, kw_only=True)
class JointTargets:
    """
    Targets of one control period for the named joints and force elements.

    Each field is a (K, n) array, K >= 1 sub-samples of equal duration (zero-order hold) and n
    names; an (n,) array counts as K = 1. ``None`` keeps the last values of that quantity.

    Attributes
    ----------
    names : tuple of str
        Joints and force elements, each once, in any order. The others keep their last values.
    position : (K, n) array [rad or m]
        The position of a force element is its rest or set length.
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
        object.__setattr__(self, 'names', tuple(self.names))
        _check_distinct(self.names)
        rows = set()
        for field, given in zip(_FIELDS, (self.position, self.velocity, self.effort), strict=True):
            if given is not None:
                array = self._checked(field, given)
                rows.add(len(array))
                object.__setattr__(self, field, array)
        if len(rows) > 1:
            raise BadCommand(f'targets differ in their number of sub-samples: {sorted(rows)}')

    def _checked(self, field: str, values: FloatArray) -> FloatArray:
        """Return a read-only (K, n) copy of an array; BadCommand if it does not fit."""
        array: FloatArray = np.array(values, dtype=np.float64, ndmin=2)
        if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] != len(self.names):
            raise BadCommand(
                f'{field} has shape {array.shape}, expected (K, {len(self.names)}) for '
                f'{len(self.names)} names'
            )
        flat = array.ravel()
        # The only check for finite targets. The sum of squares is fast, but it can overflow for
        # finite values, so that they are tested one by one then.
        if not math.isfinite(flat.dot(flat)) and not np.isfinite(flat).all():
            bad = ~np.isfinite(array).all(axis=0)
            raise BadCommand(f"{field} of joint '{self.names[int(np.argmax(bad))]}' is not finite")
        array.flags.writeable = False
        return array

    @property
    def sub_samples(self) -> int:
        """K, the number of sub-samples; 1 if no field is given."""
        for array in (self.position, self.velocity, self.effort):
            if array is not None:
                return int(array.shape[0])
        return 1


@dataclass(frozen=True, kw_only=True, eq=False)
class TargetTape:
    """
    Targets of T control periods, all with the same names, quantities and sub-samples.

    Each field is a (T, K, n) array or ``None``, with the meaning of JointTargets in each period.
    BadCommand for an array of another shape or with a value that is not finite.
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
        sizes = set()
        for field in _FIELDS:
            given = getattr(self, field)
            if given is not None:
                array = np.asarray(given, dtype=np.float64)
                if array.ndim != 3 or array.shape[1] < 1 or array.shape[2] != len(names):
                    raise BadCommand(
                        f'{field} has shape {array.shape}, expected (T, K, {len(names)})'
                    )
                if not all_finite(array):
                    raise BadCommand(f'{field} holds a value that is not finite')
                object.__setattr__(self, field, read_only_array(array, name=field))
                sizes.add(array.shape[:2])
        if len(sizes) != 1:
            raise BadCommand(f'shapes (T, K) of targets are {sorted(sizes)}, expected one')

    @classmethod
    def from_periods(cls, periods: Sequence[JointTargets]) -> TargetTape:
        """Return the tape of targets with equal names, quantities and sub-samples."""
        given = [[getattr(period, field) for period in periods] for field in _FIELDS]
        return cls(
            names=periods[0].names,
            **{
                field: None if arrays[0] is None else _stack_periods(arrays)
                for field, arrays in zip(_FIELDS, given, strict=True)
            },
        )

    @property
    def shape(self) -> tuple[int, int]:
        """T and K, the numbers of control periods and of sub-samples in each."""
        arrays = (self.position, self.velocity, self.effort)
        periods, samples, _ = next(array.shape for array in arrays if array is not None)
        return periods, samples


def _stack_periods(arrays: Sequence[FloatArray]) -> FloatArray:
    """Return arrays of one shape stacked along a new first axis, read-only."""
    stacked: FloatArray = np.concatenate(arrays).reshape(len(arrays), *arrays[0].shape)
    stacked.flags.writeable = False
    return stacked


@dataclass(frozen=True)
class AppliedTargets:
    """
    Targets of every joint and force element, in the robot's order, for one control period.

    ``position``, ``velocity`` and ``effort`` are (K, n) read-only arrays.
    """

    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


@dataclass(frozen=True, eq=False)
class AppliedTape(Sequence[AppliedTargets]):
    """
    Applied targets of T control periods, as arrays and as a sequence of periods.

    ``position``, ``velocity`` and ``effort`` are (T, K, m) read-only arrays.
    """

    position: FloatArray
    velocity: FloatArray
    effort: FloatArray

    @classmethod
    def from_periods(cls, periods: Sequence[AppliedTargets]) -> AppliedTape:
        """Return the tape of at least one period; all have the same shape."""
        if isinstance(periods, cls):
            return periods
        return cls(
            *(_stack_periods([getattr(period, field) for period in periods]) for field in _FIELDS)
        )

    def __len__(self) -> int:
        """Return T."""
        return len(self.position)

    @overload
    def __getitem__(self, index: int) -> AppliedTargets: ...
    @overload
    def __getitem__(self, index: slice) -> AppliedTape: ...
    def __getitem__(self, index: int | slice) -> AppliedTargets | AppliedTape:
        """Return the targets of a period, or the tape of a range of periods, as views."""
        kind = AppliedTape if isinstance(index, slice) else AppliedTargets
        return kind(self.position[index], self.velocity[index], self.effort[index])


class TargetMemory:
    """
    Resolution of partial targets, in any order of names, into full arrays.

    Joints that are not named and quantities that are not given keep their last values. The
    exception: a new position without a velocity sets the velocity to zero, because an old
    feed-forward would drive the joint away from its target.

    Attributes
    ----------
    unknown_names : set of str
        Received names that the robot does not have, at most 20.

    """

    def __init__(self, joint_names: Sequence[str], initial_position: FloatArray) -> None:
        self._names = tuple(joint_names)
        self._index = {name: i for i, name in enumerate(self._names)}
        n = len(self._names)
        self._last = {
            'position': read_only_array(initial_position, (n,), name='initial position'),
            'velocity': np.zeros(n),
            'effort': np.zeros(n),
        }
        self._held: dict[str, FloatArray] = {}
        self._columns: dict[tuple[str, ...], tuple[IntArray, IntArray]] = {}
        self.unknown_names: set[str] = set()

    def resolve(self, targets: JointTargets) -> AppliedTargets:
        """Return the full arrays of these targets and store their last sub-sample."""
        return AppliedTargets(*self._resolve_fields(targets, (targets.sub_samples,)))

    def resolve_tape(self, tape: TargetTape) -> AppliedTape:
        """Return the full arrays of a tape, as calls of ``resolve`` for each period would."""
        return AppliedTape(*self._resolve_fields(tape, tape.shape))

    def _resolve_fields(
        self, targets: JointTargets | TargetTape, shape: tuple[int, ...]
    ) -> list[FloatArray]:
        """Return position, velocity and effort of every joint, (*shape, m) each."""
        resolved = []
        is_in_order = targets.names == self._names
        for field in _FIELDS:
            given = getattr(targets, field)
            if given is None and field == 'velocity' and targets.position is not None:
                given = np.zeros(targets.position.shape)
            if given is None:
                resolved.append(self._held_rows(field, shape))
                continue
            rows = given if is_in_order else self._replace_columns(field, targets.names, given)
            rows.flags.writeable = False
            # Index -1 in every axis but the last: the last sub-sample of the last period.
            self._last[field] = rows[(-1,) * (rows.ndim - 1)]
            self._held.pop(field, None)
            resolved.append(rows)
        return resolved

    def _replace_columns(
        self, field: str, names: tuple[str, ...], values: FloatArray
    ) -> FloatArray:
        """Return the last values, replaced by ``values`` for the named joints."""
        source, column = self._column_map(names)
        rows = self._last_rows(field, values.shape[:-1])
        rows[..., column] = values[..., source]
        return rows

    def _held_rows(self, field: str, shape: tuple[int, ...]) -> FloatArray:
        """Return the last values for every sub-sample; the same array until they change."""
        rows = self._held.get(field)
        if rows is None or rows.shape[:-1] != shape:
            rows = self._last_rows(field, shape)
            rows.flags.writeable = False
            self._held[field] = rows
        return rows

    def _last_rows(self, field: str, shape: tuple[int, ...]) -> FloatArray:
        """Return a new array with the last values in every row."""
        rows: FloatArray = np.empty((*shape, len(self._names)))
        rows[:] = self._last[field]
        return rows

    def _column_map(self, names: tuple[str, ...]) -> tuple[IntArray, IntArray]:
        """Return the columns of the known names in ``names``, and in the robot's arrays."""
        if names not in self._columns:
            if len(self._columns) == _MAX_LAYOUTS:
                # A sender may use new names in every message: forget the old ones.
                self._columns.clear()
            known = [i for i, name in enumerate(names) if name in self._index]
            others = (name for name in names if name not in self._index)
            self.unknown_names.update(islice(others, _MAX_UNKNOWN - len(self.unknown_names)))
            self._columns[names] = (
                np.array(known, dtype=np.intp),
                np.array([self._index[names[i]] for i in known], dtype=np.intp),
            )
        return self._columns[names]
