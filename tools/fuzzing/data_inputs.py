# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of data files: meshes, archives, runs and bags, changed in their bytes and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
import hashlib
import io
import json
from random import Random
import struct
from typing import Any
import zipfile

import numpy as np
import yaml

from fuzzing.attacks import attacks_on
from fuzzing.inputs import ANY, PIPE, Attack, Input, Site, single
from fuzzing.schema_changes import ChangeMaker, Schema, changes
from fuzzing.xml_inputs import mesh_input

_CORNERS = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
_FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
_FACETS = [[number for corner in face for number in _CORNERS[corner]] for face in _FACES]
_STL = bytes(80) + struct.pack('<I', 4)
_STL += b''.join(struct.pack('<12fH', 0, 0, 1, *facet, 0) for facet in _FACETS)
_OBJ = ''.join(f'v {x} {y} {z}\n' for x, y, z in _CORNERS)
_OBJ += ''.join(f'f {a + 1} {b + 1} {c + 1}\n' for a, b, c in _FACES)
_WORDS = ('nan', 'inf', '1e300', '-1', '9' * 400, 'x', '', '99999999999', '"', '\0')
_RUN_COMMANDS = (
    ('report', 'run', '--out', 'r.html', '--json'),
    ('replay', 'run', '--json'),
    ('evolve', '--run-dir', 'run', '--resume', '--workers', '1', '--json'),
)
_OTHER_FILES = (b'', b'[]', PIPE, '/dev/zero')


def _damage(content: bytes, random: Random) -> bytes:
    """Return bytes with a part changed, left out, put in, repeated or cut off."""
    at, length = random.randrange(len(content)), random.choice((1, 1, 2, 8, 100))
    noise = random.randbytes(length)
    return random.choice(
        (
            content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :],
            content[:at] + noise + content[at + length :],
            content[:at] + content[at + length :],
            content[:at] + noise + content[at:],
            content[: at + length] + content[at:],
            content[:at] + b'\xff' * length + content[at + length :],
            content[:at],
        )
    )


def _replace_word(content: bytes, random: Random) -> bytes:
    """Return a text with one word replaced by NaN, infinity, no number or a huge number."""
    words = content.decode('latin1').split(' ')
    words[random.randrange(len(words))] = random.choice(_WORDS)
    return ' '.join(words).encode('latin1')


def _damage_sites(
    make: Callable[[Attack], Input], content: bytes, times: int, damage: Any = _damage
) -> dict[str, Site]:
    """Return a number of places at which bytes are damaged."""

    def change(random: Random) -> Input:
        """Return the input with damaged bytes."""
        new = damage(content, random)
        return make(Attack(change=f'damaged: {new[:40]!r}', content=new, expected=ANY))

    return {f'{damage.__name__} {i}': [change] for i in range(times)}


def mesh_sites() -> dict[str, Site]:
    """Return the changes of meshes; those of COLLADA are changes of XML."""
    found: dict[str, Site] = {}
    for kind, content in (('STL', _STL), ('OBJ', _OBJ.encode())):
        make = partial(mesh_input, 'mesh', kind.lower())
        sites = {
            **_damage_sites(make, content, 12),
            **_damage_sites(make, content, 6, _replace_word),
            **{
                each.change: single(make(each))
                for each in attacks_on(content.decode('latin1'), kind)
            },
        }
        found |= {f'{kind} {name}': site for name, site in sites.items()}
    huge = Attack(change='a huge count', content=bytes(80) + struct.pack('<I', 2**32 - 1))
    return {**found, 'huge': single(mesh_input('mesh', 'stl', huge))}


def folder_input(
    kind: str, files: Mapping[str, bytes], commands: Any, name: str, attack: Attack
) -> Input:
    """Return a folder of a kind with another content of one file."""
    return Input(
        kind=kind,
        change=f'{name}: {attack.change}',
        commands=commands,
        files={f'{kind}/{key}': value for key, value in files.items()}
        | {f'{kind}/{name}': attack.content},
        expected=attack.expected,
    )


def _file_sites(
    make: Callable[[str, Attack], Input], name: str, content: bytes
) -> dict[str, Site]:
    """Return the changes of one file of a folder: bytes, another file, keys."""
    sites = _damage_sites(partial(make, name), content, 4) if content else {}
    for other in _OTHER_FILES:
        sites[str(other)] = single(
            make(name, Attack(change=str(other), content=other, expected=ANY))
        )
    if name in ('run.yaml', 'checkpoint.json', 'metadata.yaml'):
        for key, makes in changes(Schema(kind=dict), yaml.safe_load(content)).items():
            sites[key] = [partial(_changed_data, make, name, each) for each in makes]
    return {f'{name} {key}': site for key, site in sites.items()}


def _changed_data(
    make: Callable[[str, Attack], Input], name: str, change: ChangeMaker, random: Random
) -> Input:
    made = change(random)
    dump = json.dumps if name.endswith('.json') else yaml.safe_dump
    return make(name, Attack(change=made.text, content=dump(made.data).encode(), expected=ANY))


def run_sites(run: Mapping[str, bytes]) -> dict[str, Site]:
    """Return the changes of a run folder, given by its files."""
    make = partial(folder_input, 'run', run, _RUN_COMMANDS)
    sites: dict[str, Site] = {}
    for name, content in run.items():
        sites |= _file_sites(make, name, content)
    for i in range(12):
        sites[f'sealed log {i}'] = [partial(_sealed_log, run)]
    state = json.loads(run['checkpoint.json'])
    for count in (10**9, 0, -1, state['generations'] + 1, 10**400):
        content = json.dumps({**state, 'generations': count}).encode()
        attack = Attack(change=f'generations {str(count)[:12]}', content=content)
        sites[attack.change] = single(make('checkpoint.json', attack))
    return sites


def _sealed_log(run: Mapping[str, bytes], random: Random) -> Input:
    """Return a run whose log has another cell or an empty line, and a hash that fits this."""
    lines = run['evaluations.csv'].decode().splitlines()
    at = random.randrange(len(lines))
    cells = lines[at].split(',')
    column = random.randrange(len(cells))
    cells[column] = random.choice(_WORDS)
    lines[at] = random.choice((','.join(cells), ','.join(cells), '', f'{lines[at]}\n'))
    log = ('\n'.join(lines) + '\n').encode()
    state = json.loads(run['checkpoint.json'])
    state |= {'log_bytes': len(log), 'log_sha256': hashlib.sha256(log).hexdigest()}
    sealed = {**run, 'checkpoint.json': json.dumps(state).encode()}
    change = f'sealed: cell {column} of line {at}: {cells[column][:20]!r}'
    attack = Attack(change=change, content=log, expected=ANY)
    return folder_input('run', sealed, _RUN_COMMANDS, 'evaluations.csv', attack)


def bag_sites(bag: Mapping[str, bytes]) -> dict[str, Site]:
    """Return the changes of a bag, given by its files."""
    make = partial(folder_input, 'bag', bag, (('replay', 'bag', '--json'),))
    sites: dict[str, Site] = {}
    for name, content in bag.items():
        sites |= _file_sites(make, name, content)
    return sites


def archive_sites(champion: bytes, weights: str, archive: bytes) -> dict[str, Site]:
    """Return the changes of the archive of weights that a champion names."""

    def make(attack: Attack) -> Input:
        """Return the champion with another archive."""
        return Input(
            kind='archive',
            change=attack.change,
            commands=(('replay', 'c.yaml', '--json'),),
            files={'c.yaml': champion, weights: attack.content},
            expected=attack.expected,
        )

    attacks: Mapping[str, bytes | str] = {
        'empty': b'',
        'pipe': PIPE,
        'endless': '/dev/zero',
        'code': _pack_code(),
        'one array': np.lib.format.magic(1, 0),
        'no arrays': _pack(),
        'a bomb': _pack(w=np.zeros(3 * 10**8, dtype=np.uint8)),
        'nan': _pack(w=np.full(3, np.nan)),
    }
    return {
        **_damage_sites(make, archive, 12),
        **{name: single(make(Attack(change=name, content=new))) for name, new in attacks.items()},
    }


def _pack(**arrays: np.ndarray[Any, Any]) -> bytes:
    """Return an archive of arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _pack_code() -> bytes:
    """Return an archive whose array is a pickle that writes the marker when it is loaded."""
    array, archive = io.BytesIO(), io.BytesIO()
    header = {'descr': '|O', 'fortran_order': False, 'shape': (1,)}
    np.lib.format.write_array_header_1_0(array, header)
    with zipfile.ZipFile(archive, 'w') as file:
        file.writestr('w.npy', array.getvalue() + b"cbuiltins\nopen\n(S'executed'\nS'w'\ntR.")
    return archive.getvalue()
