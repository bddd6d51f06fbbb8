# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of a fuzzer: files and commands, with the answer that is expected of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random

REFUSED = 'refused'
"""Expected: status 2 and one line."""
ACCEPTED = 'accepted'
"""Expected: status 0 and another content than that of the base, if there is one to compare."""
NAMED = 'named'
"""Expected: a refusal, or an output that names the mistake."""
ANY = 'any'
"""Expected: a refusal in one line, or status 0 or 1; no traceback, signal, hang or code."""

PIPE = 'pipe'
"""Content of a file that stands for a pipe that nobody writes to."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """
    Input of the fuzzer.

    Attributes
    ----------
    kind : str
        Kind of the file or argument, such as ``robot.yaml``.
    change : str
        What differs from a valid input.
    commands : sequence of words of ``gait``
        They run one after the other in a folder with the files, until one is refused or fails.
    files : mapping of str to bytes or PIPE
        Content by relative path.
    expected : str
        REFUSED, ACCEPTED, NAMED or ANY.
    name : str
        For NAMED: the word that the answer must contain.
    unchanged : str
        For ACCEPTED: what the last command prints for the valid input; it must print another.

    """

    kind: str
    change: str
    commands: Sequence[Sequence[str]]
    files: Mapping[str, bytes | str] = field(default_factory=dict)
    expected: str = ANY
    name: str = ''
    unchanged: str = ''


@dataclass(frozen=True, kw_only=True)
class Attack:
    """Content of a file, the change in words, and the answer that it must get."""

    change: str
    content: bytes | str
    expected: str = REFUSED
    name: str = ''


Change = Callable[[Random], Input]
"""A way to change a valid input, with random details."""
Site = Sequence[Change]
"""Changes of one place of a valid input: a key, an attribute, an option."""


def single(case: Input) -> Site:
    """Return the place of one input without random details."""
    return [lambda random: case]


def draw_inputs(kinds: Mapping[str, Mapping[str, Site]], seed: int) -> Iterator[Input]:
    """
    Yield inputs without end: every place once in a random order, then every place again.

    Each round takes another change of a place, so that all of them come in turn.
    """
    random = Random(seed)
    sites = [list(site) for places in kinds.values() for site in places.values() if site]
    for site in sites:
        random.shuffle(site)
    turn = 0
    while True:
        random.shuffle(sites)
        for site in sites:
            # Places with a single change are worth no second look before all others had one.
            yield site[turn % len(site)](random)
        turn += 1


def take_inputs(kinds: Mapping[str, Mapping[str, Site]], seed: int, count: int) -> list[Input]:
    """Return the first inputs of a seed."""
    return list(islice(draw_inputs(kinds, seed), count))
