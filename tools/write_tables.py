# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Generator of the tables and reference pages in READMEs and doc/.

`make format` calls it; a test fails if a page differs from its output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
import sys

import command_page
import interface_page
import parameter_page
import registered_page

from gait_core.testing.documents import renew_tables

ROOT = Path(__file__).resolve().parents[1]
PAGES: Mapping[str, Callable[[], str]] = {
    'doc/command.md': command_page.page,
    'doc/interfaces.md': interface_page.page,
    'doc/parameters.md': parameter_page.page,
    'doc/registered.md': registered_page.page,
}
"""Pages that are generated completely."""


def main() -> int:
    """Write every generated page and table, and print the files that changed."""
    for path in sorted([*ROOT.glob('*.md'), *ROOT.glob('*/*.md'), *ROOT.glob('src/*/*.md')]):
        _write(path, renew_tables(path.read_text(encoding='utf-8'), path.parent))
    for name, page in PAGES.items():
        _write(ROOT / name, page())
    return 0


def _write(path: Path, text: str) -> None:
    if not path.is_file() or text != path.read_text(encoding='utf-8'):
        path.write_text(text, encoding='utf-8')
        print(path.relative_to(ROOT))


if __name__ == '__main__':
    sys.exit(main())
