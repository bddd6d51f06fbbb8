# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Consecutive states of a trial as arrays with time first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ProtocolError
from gait_core.motion.observation import (
    ARRAY_FIELDS,
    NAME_FIELDS,
    Contacts,
    Imu,
    Observation,
    StateFields,
)

_IMU_FIELDS = tuple(field.name for field in fields(Imu))
_CONTACT_FIELDS = ('sole', 'points', 'forces', 'depths')


@dataclass(frozen=True, kw_only=True, eq=False)
class StateTape(StateFields, Sequence[Observation]):
    """
    T consecutive states, as arrays and as a sequence of observations.

    Arrays of the fields have an additional first axis of T; so have the arrays of ``imu``.

    Attributes
    ----------
    ticks : (T,) int array
    times : (T,) array [s]
    contacts : Contacts
        Contact points of all states, state after state.
    contact_counts : (T,) int array
        Number of contact points of each state.

    """

    ticks: IntArray
    times: FloatArray
    contact_counts: IntArray | None = None

    @classmethod
    def from_states(cls, states: Sequence[Observation]) -> StateTape:
        """
        Return the tape of a sequence of states; without states, an empty tape without fields.

        Raises
        ------
        ProtocolError
            If the states do not report the same fields.

        """
        if isinstance(states, cls):
            return states
        if not states:
            return cls(ticks=np.zeros(0, dtype=np.int64), times=np.zeros(0))
        first = states[0]
        values: dict[str, Any] = {name: _stack_field(states, name) for name in ARRAY_FIELDS}
        imus, contacts = _reported_values(states, 'imu'), _reported_values(states, 'contacts')
        if imus:
            values['imu'] = Imu(**{name: _stack_field(imus, name) for name in _IMU_FIELDS})
        if contacts:
            points = {
                name: np.concatenate([getattr(part, name) for part in contacts])
                for name in _CONTACT_FIELDS
            }
            values['contacts'] = Contacts(soles=contacts[0].soles, **points)
            values['contact_counts'] = np.array([len(part.sole) for part in contacts])
        return cls(
            ticks=np.array([state.tick for state in states]),
            times=np.array([state.time for state in states]),
            **{name: getattr(first, name) for name in NAME_FIELDS},
            **values,
        )

    @classmethod
    def concatenate(cls, tapes: Sequence[StateTape]) -> StateTape:
        """Return one tape made of consecutive tapes, at least one."""
        first = tapes[0]
        if len(tapes) == 1:
            return first
        values: dict[str, Any] = {
            name: _concatenate_field(tapes, name)
            for name in (*ARRAY_FIELDS, 'ticks', 'times', 'contact_counts')
        }
        imus, contacts = _reported_values(tapes, 'imu'), _reported_values(tapes, 'contacts')
        if imus:
            values['imu'] = Imu(**{name: _concatenate_field(imus, name) for name in _IMU_FIELDS})
        if contacts:
            points = {name: _concatenate_field(contacts, name) for name in _CONTACT_FIELDS}
            values['contacts'] = Contacts(soles=contacts[0].soles, **points)
        return cls(**{name: getattr(first, name) for name in NAME_FIELDS}, **values)

    def __len__(self) -> int:
        """Return T."""
        return len(self.ticks)

    @overload
    def __getitem__(self, index: int) -> Observation: ...
    @overload
    def __getitem__(self, index: slice) -> StateTape: ...
    def __getitem__(self, index: int | slice) -> Observation | StateTape:
        """Return a state, or the tape of a range of states, as views."""
        if isinstance(index, slice):
            return self._slice(*index.indices(len(self)))
        index = range(len(self))[index]
        part = self._slice(index, index + 1, 1)
        values: dict[str, Any] = {name: _first_row(getattr(part, name)) for name in ARRAY_FIELDS}
        return Observation(
            tick=int(part.ticks[0]),
            time=float(part.times[0]),
            imu=part.imu and Imu(**{name: getattr(part.imu, name)[0] for name in _IMU_FIELDS}),
            contacts=part.contacts,
            **{name: getattr(self, name) for name in NAME_FIELDS},
            **values,
        )

    def _slice(self, begin: int, end: int, step: int) -> StateTape:
        """Return the tape of the states from ``begin`` up to ``end``, as views."""
        if step != 1:
            raise ValueError(f'a slice of a tape has step {step}, expected 1')
        rows = slice(begin, end)
        values: dict[str, Any] = {}
        for name in (*ARRAY_FIELDS, 'ticks', 'times', 'contact_counts'):
            array = getattr(self, name)
            values[name] = None if array is None else array[rows]
        if self.imu is not None:
            values['imu'] = Imu(**{name: getattr(self.imu, name)[rows] for name in _IMU_FIELDS})
        if self.contacts is not None and self.contact_counts is not None:
            # Contact points are stored state after state: skip those of the states before.
            before = int(self.contact_counts[:begin].sum())
            points = slice(before, before + int(self.contact_counts[rows].sum()))
            values['contacts'] = Contacts(
                soles=self.contacts.soles,
                **{name: getattr(self.contacts, name)[points] for name in _CONTACT_FIELDS},
            )
        return StateTape(**{name: getattr(self, name) for name in NAME_FIELDS}, **values)


def _reported_values(owners: Sequence[Any], name: str) -> list[Any]:
    """Return the values of a field in all owners; an empty list if no owner has it."""
    values = [getattr(owner, name) for owner in owners]
    absent = sum(value is None for value in values)
    if 0 < absent < len(values):
        raise ProtocolError(
            f'{name} is reported at {len(values) - absent} of {len(values)} ticks, expected all '
            'or none'
        )
    return [] if absent else values


def _stack_field(owners: Sequence[Any], name: str) -> Any:
    """Return the arrays of a field in all owners, stacked along a new first axis."""
    values = _reported_values(owners, name)
    if not values:
        return None
    # Faster than np.stack for many small arrays.
    return np.concatenate(values).reshape(len(values), *values[0].shape)


def _concatenate_field(owners: Sequence[Any], name: str) -> Any:
    values = _reported_values(owners, name)
    return np.concatenate(values) if values else None


def _first_row(array: FloatArray | None) -> FloatArray | None:
    return None if array is None else array[0]
