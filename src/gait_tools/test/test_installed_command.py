# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""An installed package puts the command on the PATH, and its completion into the shell."""

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

from gait_evolver import __version__

PACKAGE = Path(__file__).resolve().parents[1]


@pytest.fixture(scope='module')
def prefix(tmp_path_factory):
    """Return the prefix into which setup.py installs its data files."""
    folder = tmp_path_factory.mktemp('prefix')
    command = [sys.executable, 'setup.py', '-q', 'install_data', '--install-dir', str(folder)]
    subprocess.run(command, cwd=PACKAGE, check=True, timeout=60)
    return folder


def test_the_command_is_in_the_folder_that_a_workspace_adds_to_the_path(prefix):
    command = prefix / 'bin' / 'gait'
    assert os.access(command, os.X_OK)
    done = subprocess.run(
        [sys.executable, str(command), '--version'], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, f'gait {__version__}\n')


def test_a_sourced_workspace_sources_the_completion(prefix):
    hooks = json.loads((PACKAGE / 'colcon.pkg').read_text())['hooks']
    assert hooks and all((prefix / hook).is_file() for hook in hooks)
    # colcon writes this file itself: a link of ours made every build but the first fail.
    assert not (prefix / 'share' / 'gait_tools' / 'package.dsv').exists()
