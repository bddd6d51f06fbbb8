"""The commands of the how-to pages run as printed, in order, in an empty directory."""

import os
from pathlib import Path
import re
import subprocess

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r'^```bash\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_PAGES = ('add_a_robot.md', 'add_a_controller.md')


@pytest.mark.parametrize('page', _PAGES)
def test_the_commands_of_a_page_succeed(page, tmp_path):
    blocks = _BLOCK.findall((_ROOT / 'doc' / page).read_text())
    assert len(blocks) >= 3

    ran = subprocess.run(
        ['bash', '-euo', 'pipefail', '-c', ''.join(blocks)],
        cwd=tmp_path,
        env={**os.environ, 'PATH': f'{_ROOT}:{os.environ["PATH"]}'},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert '"status": "ok"' in ran.stdout
