"""
Write the tables of the READMEs and of doc/ that are made from the code.

`make format` calls it; a test fails where a page differs from what this would write.
"""

from __future__ import annotations

from pathlib import Path
import sys

from gait_core.testing_documents import renewed

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Renew every page that has such a table, and name those that changed."""
    for path in sorted([*ROOT.glob('*.md'), *ROOT.glob('*/*.md'), *ROOT.glob('src/*/*.md')]):
        text = path.read_text(encoding='utf-8')
        new = renewed(text, path.parent)
        if new != text:
            path.write_text(new, encoding='utf-8')
            print(path.relative_to(ROOT))
    return 0


if __name__ == '__main__':
    sys.exit(main())
