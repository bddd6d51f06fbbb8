# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reference page of messages, services and actions, from definitions and the page of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import re

from gait_core.testing.documents import node_sections, table_rows

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'src' / 'gait_interfaces'
KINDS = {'msg': 'Messages', 'srv': 'Services', 'action': 'Actions'}
_PARTS = {
    'msg': ('',),
    'srv': ('Request', 'Answer'),
    'action': ('Goal', 'Result', 'Feedback'),
}
_LINE = re.compile(r'(?P<type>[\w/]+(?:\[[^\]]*\])?) +(?P<name>\w+)(?P<rest>.*)')
_HEAD = """\
<!-- Written by tools/write_tables.py from src/gait_interfaces; a test compares. -->

# Messages, services, actions

Each type of `gait_interfaces`: its fields with meaning, unit, frame and special values, and the
nodes that use it. Units are SI; frames follow REP-103 and REP-105. An optional number is an array
of at most one element. Topics of standard types are in [nodes.md](nodes.md).

With an installed ROS, `ros2 interface show gait_interfaces/msg/FootContacts` prints a definition;
without, `python -c "from gait_interfaces.msg import FootContacts; print(FootContacts())"` prints
its fields.
"""


@dataclass(frozen=True)
class Field:
    """Field or constant of a definition, with the text of its comments."""

    type: str
    name: str
    value: str
    text: str


@dataclass(frozen=True)
class Definition:
    """A message, service or action."""

    kind: str
    name: str
    text: str
    parts: tuple[tuple[Field, ...], ...]

    @property
    def full(self) -> str:
        """Full name in ROS, ``package/kind/name``."""
        return f'gait_interfaces/{self.kind}/{self.name}'


def definitions() -> tuple[Definition, ...]:
    """Return every definition of the package, by kind and name."""
    return tuple(
        _read(kind, path) for kind in KINDS for path in sorted((PACKAGE / kind).glob(f'*.{kind}'))
    )


def _read(kind: str, path: Path) -> Definition:
    text = path.read_text(encoding='utf-8')
    head = re.match(r'(?:#.*\n)*', text)
    assert head is not None
    words = _joined(head[0].splitlines())
    parts = re.split('^---\n', text[head.end() :], flags=re.MULTILINE)
    return Definition(kind, path.stem, words, tuple(tuple(_fields(part)) for part in parts))


def _fields(part: str) -> Iterator[Field]:
    """Yield fields with their comments, on the same line and directly above."""
    above: list[str] = []
    for line in part.splitlines():
        if not line.strip():
            above = []
        elif line.startswith('#'):
            above.append(line)
        else:
            code, _, comment = line.partition('#')
            found = _LINE.fullmatch(code.strip())
            if found is None:
                raise ValueError(f'no field: {line}')
            own = comment.strip()
            text = ' '.join(filter(None, (_joined(above), own)))
            value = found['rest'].strip()
            yield Field(found['type'], found['name'], value, text)
            above = []


def _joined(lines: list[str]) -> str:
    return ' '.join(line.lstrip('# ') for line in lines)


@dataclass(frozen=True)
class Use:
    """Use of a type by a node under a name, as publisher, subscriber or server."""

    node: str
    verb: str
    name: str
    kind: str


def uses() -> tuple[Use, ...]:
    """Return each topic, service and action of each node, from the page of nodes."""
    return tuple(
        Use(node, verb, name, kind)
        for node, section in node_sections(ROOT).items()
        for heading, verb in (
            ('Publishes', 'publishes'),
            ('Subscribes to', 'subscribes to'),
            ('Service', 'serves'),
            ('Action', 'serves'),
        )
        for name, kind, _ in table_rows(section, heading)
    )


def page() -> str:
    """Return the page."""
    every, used = definitions(), uses()
    holders = _holders(every)
    lines = [_HEAD, *_contents(every)]
    for kind, heading in KINDS.items():
        lines.append(f'## {heading}\n')
        for definition in every:
            if definition.kind == kind:
                own = [use for use in used if use.kind == definition.full]
                lines += _section(definition, own, holders.get(definition.name, []))
    return '\n'.join(lines)


def _contents(every: tuple[Definition, ...]) -> Iterator[str]:
    for kind, heading in KINDS.items():
        names = [
            f'[{definition.name}](#{definition.name.lower()})'
            for definition in every
            if definition.kind == kind
        ]
        yield f'- {heading}: {", ".join(names)}'
    yield ''


def _holders(every: tuple[Definition, ...]) -> dict[str, list[Definition]]:
    found: dict[str, list[Definition]] = {}
    for definition in every:
        for base in {field.type.partition('[')[0] for part in definition.parts for field in part}:
            found.setdefault(base, []).append(definition)
    return found


def _section(definition: Definition, own: list[Use], holders: list[Definition]) -> Iterator[str]:
    """Yield the lines on one definition: its text, the nodes that use it and its fields."""
    yield f'### {definition.name}\n'
    yield f'{definition.text}\n'
    who = [f'[{use.node}](nodes.md#the-node-{use.node}) {use.verb} `{use.name}`' for use in own]
    where = [f'[{holder.name}](#{holder.name.lower()})' for holder in holders]
    if who:
        yield f'`{definition.full}`: {", ".join(who)}.\n'
    else:
        yield f'`{definition.full}`, part of {", ".join(where)}.\n'
    for heading, part in zip(_PARTS[definition.kind], definition.parts, strict=True):
        if heading:
            yield f'{heading}{":" if part else ": nothing."}\n'
        if part:
            yield _table(part)


def _table(part: tuple[Field, ...]) -> str:
    """Return a table of fields and constants with their defaults."""
    lines = ['| Field | Type | Meaning |', '|---|---|---|']
    for field in part:
        is_constant = field.value.startswith('=')
        name = f'{field.name} {field.value}' if is_constant else field.name
        default = f'. Default: {field.value}' if field.value and not is_constant else ''
        base = field.type.partition('[')[0]
        kind = f'`{field.type}`'
        if (PACKAGE / 'msg' / f'{base}.msg').is_file():
            kind = f'[{kind}](#{base.lower()})'
        text = field.text.replace('|', r'\|')
        lines.append(f'| `{name}` | {kind} | {text}{default} |')
    return '\n'.join(lines) + '\n'
