# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Seeded sample of the mutants of an area, by the operators of Cosmic Ray."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
import random
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names
from mutation_areas import AREAS
from parso.python.tree import Name

ROOT = Path(__file__).resolve().parents[1]
# Changes within one group of operators; others, as of + to <<, fail with a type error.
_GROUPS = (
    {'Add', 'Sub', 'Mul', 'Div', 'FloorDiv', 'Mod', 'Pow'},
    {'BitAnd', 'BitOr', 'BitXor'},
    {'Lt', 'LtE', 'Gt', 'GtE', 'Eq', 'NotEq'},
    {'Is', 'IsNot'},
    {'In', 'NotIn'},
    {'USub', 'UAdd'},
)
_PAIRS = (
    'RELIABLE BEST_EFFORT',
    'VOLATILE TRANSIENT_LOCAL',
    'KEEP_LAST KEEP_ALL',
    'PUBLISHER_QOS STREAM_QOS',
    'min max',
    'minimum maximum',
    'lower upper',
    'sin cos',
    'all any',
    'inf nan',
)
_OTHER = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])}


class SwapName(Operator):  # type: ignore[misc]
    """Exchange of a name for its opposite, as ``min`` for ``max``; not an argument's name."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Yield the position of a name that has an opposite."""
        following = node.get_next_leaf() if isinstance(node, Name) else None
        if following is not None and node.value in _OTHER and following.value != '=':
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Return the opposite name."""
        return Name(_OTHER[node.value], node.start_pos, node.prefix)

    @classmethod
    def examples(cls) -> tuple[()]:
        """Return no examples."""
        return ()


class Mutant(NamedTuple):
    """Changed text of a module."""

    path: Path
    tests: tuple[str, ...]
    line: int
    operator: str
    text: str

    @property
    def compiles(self) -> bool:
        """True if the module has compiled kernels."""
        return 'numba' in self.text


def operators() -> Iterator[tuple[str, Any]]:
    """Yield names and instances of the operators without parameters that change a meaning."""
    yield 'SwapName', SwapName()
    for name in sorted(operator_names()):
        ends = name.split('_')[1:]
        are_alike = not ends or ends[0] == 'Delete' or any(set(ends) <= group for group in _GROUPS)
        kind = get_operator(name)
        if are_alike and not kind.arguments() and not name.endswith('NoOp'):
            yield name.removeprefix('core/'), kind()


def syntax_of(text: str) -> str:
    """Return the syntax tree of a module without its annotations, which are never evaluated."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ''  # As of the star before arguments, which Cosmic Ray takes for a product.
    for node in ast.walk(tree):
        for field in ('annotation', 'returns'):
            if hasattr(node, field):
                setattr(node, field, None)
    return ast.dump(tree)


def draw_mutants(area: str, seed: int, count: int) -> list[Mutant]:
    """Return a sample of an area: places drawn without repetition, then one change at each."""
    sites: dict[tuple[Any, ...], list[tuple[str, Any, int]]] = {}
    texts: dict[str, str] = {}
    changes = list(operators())
    for module in AREAS[area]:
        texts[module] = (ROOT / 'src' / module).read_text()
        nodes = list(ast_nodes(get_ast(texts[module])))
        for name, operator in changes:
            found = [place for node in nodes for place in operator.mutation_positions(node)]
            for occurrence, place in enumerate(found):
                key = module, place[0], name.partition('_')[0]
                sites.setdefault(key, []).append((name, operator, occurrence))
    generator = random.Random(f'{area} {seed}')
    mutants: list[Mutant] = []
    for key in generator.sample(sorted(sites), len(sites)):
        name, operator, occurrence = generator.choice(sites[key])
        module, (line, _), _ = key
        text = mutate_code(texts[module], operator, occurrence)
        if syntax_of(text) not in ('', syntax_of(texts[module])):
            tests = tuple(test for test in AREAS[area][module] if (ROOT / test).exists())
            mutants.append(Mutant(ROOT / 'src' / module, tests, line, name, text))
        if len(mutants) == count:
            break
    return mutants
