# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Attacks of ``attacks.yaml`` on valid files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from fuzzing.inputs import PIPE, REFUSED, Attack

_FOLDER = Path(__file__).parent
_ATTACKS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (_FOLDER / 'attacks.yaml').read_text(encoding='utf-8')
)
_EVERY_FILE = (
    Attack(change='a pipe', content=PIPE),
    Attack(change='an endless file', content='/dev/zero'),
    Attack(change='no text', content=bytes(range(256))),
)


def read_valid(name: str) -> str:
    """Return the text of a valid file."""
    return (_FOLDER / 'valid' / name).read_text(encoding='utf-8')


def attacks_on(text: str, *kinds: str) -> Iterator[Attack]:
    """Yield the attacks on a valid file, by kinds of ``attacks.yaml``; those on any file first."""
    yield from _EVERY_FILE
    for entry in (entry for kind in kinds for entry in _ATTACKS[kind]):
        texts = entry['by'] if 'replace' in entry else entry['text']
        for new in texts if isinstance(texts, list) else [texts]:
            content = new * entry.get('times', 1)
            if 'replace' in entry:
                if entry['replace'] not in text:
                    raise ValueError(f'{kinds}: the valid file has no {entry["replace"]!r}')
                content = text.replace(entry['replace'], content, 1)
            yield Attack(
                change=' '.join(new.split())[:60],
                content=content.encode(),
                expected=entry.get('expected', REFUSED),
                name=entry.get('name', ''),
            )
