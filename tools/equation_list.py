# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
List of the equations, tables and sections of publications that comments and docstrings name.

Prints a table per source with each named item, its file and its line. A mention without a source
belongs to the last source named before it in the same text, else to the first source of its
module, else to the publication in the name of its folder.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
import re
import sys
import tokenize

ROOT = Path(__file__).resolve().parents[1]
# The notice at the head of each file is no source.
SOURCE = re.compile(
    r'\b(?!Copyright )([A-Z][A-Za-zé]+)(?: et al\.| and [A-Z]\w+)?\s+\(?((?:19|20)\d\d)\b'
)
FOLDER = re.compile(r'/([a-z]+)((?:19|20)\d\d)/')
AUTHORS = {'mckenna': 'McKenna'}
NUMBER = r'(?:\(?\d+[a-z]?(?:\.\d+)*\)?|[A-Z](?:\.\d+)*\b)'
MENTION = re.compile(
    r'\b(?:(?:[Ee]q|[Ss]ec|[Ff]ig)s?\.|(?:[Ee]quation|[Ss]ection|[Cc]hapter|[Tt]able|[Ff]igure)s?|'
    rf'[Aa]ppendix|[Aa]ppendices) {NUMBER}(?:(?:,| and| to|, and) {NUMBER})*'
)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each docstring and block of comments of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.lineno, node.value.value
    block: list[str] = []
    last = 0
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type != tokenize.COMMENT:
                continue
            if block and token.start[0] > last + 1:
                yield last - len(block) + 1, '\n'.join(block)
                block = []
            block.append(token.string.lstrip('# '))
            last = token.start[0]
    if block:
        yield last - len(block) + 1, '\n'.join(block)


def mentions(path: Path) -> Iterator[tuple[str, str, int]]:
    """Yield source, named item and line of each mention in a module."""
    studied = FOLDER.search(path.as_posix())
    default = ''
    if studied:
        default = f'{AUTHORS.get(studied[1], studied[1].capitalize())} ({studied[2]})'
    for line, text in sorted(texts(path)):
        flat = text.replace('\n', ' ')
        sources = [(m.start(), f'{m[1]} ({m[2]})') for m in SOURCE.finditer(flat)]
        if not default and sources:
            default = sources[0][1]
        for match in MENTION.finditer(flat):
            before = [name for start, name in sources if start < match.start()]
            named = re.sub(r'\)$' if '(' not in match[0] else '$^', '', ' '.join(match[0].split()))
            yield (
                before[-1] if before else default or 'No source',
                named[0].lower() + named[1:],
                line + text.count('\n', 0, match.start()),
            )


def main() -> int:
    """Print a table per source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('author', nargs='?', default='', help='print the sources of that author')
    author = parser.parse_args().author.lower()
    rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(ROOT.glob('src/*/*/**/*.py')):
        if 'test' not in path.parts:
            for source, named, line in mentions(path):
                rows[source].append((named, f'{path.relative_to(ROOT)}:{line}'))
    for source in sorted(rows):
        if author in source.lower():
            print(f'## {source}\n\n| Named | At |\n|---|---|')
            print(*(f'| {named} | `{place}` |' for named, place in sorted(rows[source])), sep='\n')
            print()
    return 0


if __name__ == '__main__':
    sys.exit(main())
