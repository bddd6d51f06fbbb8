# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nothing waits in a loop for a clock that stands still while the loop runs."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Of the wall or of the machine: they go on by themselves.
STEADY = ('_steady.now', 'datetime.now')


def waits(tree: ast.AST) -> list[int]:
    """Return the lines of loops that ask a node's clock for the time."""
    return [
        loop.lineno
        for loop in ast.walk(tree)
        if isinstance(loop, (ast.While, ast.AsyncFor))
        for call in ast.walk(loop)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(('.now', '_now', 'get_clock'))
        and not ast.unparse(call.func).endswith(STEADY)
    ]


def test_no_callback_waits_for_simulated_time():
    sources = [*ROOT.glob('src/*/*/**/*.py'), *ROOT.glob('launch/*.py')]
    nodes = [path for path in sources if 'rclpy' in path.read_text(encoding='utf-8')]
    assert len(nodes) > 10
    found = {path.name: waits(ast.parse(path.read_text(encoding='utf-8'))) for path in nodes}
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    ('source', 'lines'),
    [
        ('while self.get_clock().now() < end:\n    pass', True),
        ('while busy:\n    late = self._now() > end', True),
        ('while self._steady.now() < end:\n    pass', False),
        ('now = self.get_clock().now()\nwhile busy:\n    pass', False),
    ],
)
def test_such_a_wait_is_recognised(source, lines):
    assert bool(waits(ast.parse(source))) == lines
