# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files are opened by ``gait_core.files`` alone, which bounds what is read; exceptions say why."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

OPENING = {
    'ElementTree.parse',
    'Image.open',
    'json.load',
    'minidom.parse',
    'np.fromfile',
    'np.genfromtxt',
    'np.load',
    'np.loadtxt',
    'np.save',
    'np.savetxt',
    'open',
    'os.open',
    'pickle.load',
    'shutil.copy',
    'shutil.copyfile',
    'shutil.copytree',
    'yaml.full_load',
    'yaml.load',
    'yaml.safe_load',
    'yaml.unsafe_load',
}
METHODS = {'open', 'read_bytes', 'read_text', 'write_bytes', 'write_text'}

OWN_FILES = 'a file of the package itself'
TEMPORARY = 'a file of a temporary folder that this process made'
ALLOWED = {
    'gait_core/files/access.py': 'the module that bounds it',
    'gait_core/processes/compiling.py': 'the lock of this user, beside the kernels',
    'gait_core/trial/fingerprint.py': '/proc/cpuinfo, which the kernel writes',
    'gait_core/processes/worker_policy.py': '/proc/PID/stat, which the kernel writes',
    'gait_evolver/benchmark.py': '/proc/PID/statm, which the kernel writes',
    'gait_evolver/evaluators/ray_driver.py': '/proc/PID/stat, which the kernel writes',
    'gait_evolver/evaluators/ray_process.py': TEMPORARY,
    'gait_evolver/evaluators/ray_worker.py': TEMPORARY,
    'gait_evolver/evaluators/shipping.py': TEMPORARY,
    'gait_tools/checks/acceptance.py': 'logs that the check has just made',
    'gait_tools/cli.py': '/dev/null in place of a closed stream',
    'gait_studies/bishop2008/rank_squared.py': 'a ledger of members, no file',
    'gait_evolver/optimizers/ranking.py': 'a ledger of members, no file',
    'gait_tools/study/tasks.py': 'appends lines to what it has read within bounds',
    'gait_tools/report/page.py': OWN_FILES,
    'gait_evolver/run/files.py': 'appends to what was read within bounds; the lock of a run',
    'gait_evolver/run/store.py': 'appends to a table that is written anew where a run goes on',
    'gait_studies/cafarelli2017/strides/published.py': OWN_FILES,
    'gait_studies/bishop2008/log.py': 'numbers of lines that were read within bounds',
    'gait_tools/checks/workers.py': 'logs that the check has just made, and /proc',
    'gait_tools/study/page.py': '/proc/cpuinfo, which the kernel writes',
    'gait_ros/checks/flood_client.py': 'files of the temporary folder of a check; /proc/PID/statm',
    'gait_ros/hardware/node.py': 'writes a file that must not be there yet',
    'gait_ros/graph/launch_control.py': TEMPORARY,
    'gait_ros/graph/rviz_layouts.py': TEMPORARY,
    'gait_ros/graph/processes.py': TEMPORARY,
    'sim_bridge/engines/bullet/client.py': '/dev/null in place of a chatty library',
}


def product_files():
    """Return the Python files of the packages that are no tests and no helpers of tests."""
    return sorted(
        file
        for file in (*ROOT.glob('src/*/*/**/*.py'), *ROOT.glob('launch/**/*.py'))
        if not {'test', 'testing'} & set(file.parts) and file.name != 'setup.py'
    )


def name_of(file):
    """Return a file's path from its package on."""
    parts = file.relative_to(ROOT).parts
    return '/'.join(parts[2:] if parts[0] == 'src' else parts)


def openings(source):
    """Return the lines of a module that open a file, with the function that they call."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            method = isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
            if called in OPENING or method:
                found.append((node.lineno, called))
    return found


FILES = {name_of(file): file for file in product_files()}


def test_only_one_module_opens_files():
    found = {name: openings(file.read_text(encoding='utf-8')) for name, file in FILES.items()}
    opening = {name: calls for name, calls in found.items() if calls}
    others = {name: calls for name, calls in opening.items() if name not in ALLOWED}
    assert not others, (
        f'they open files themselves (line, call): {others}; use gait_core.files, which refuses '
        'pipes, devices and files without end'
    )
    # Studies can be removed.
    there = [name for name in ALLOWED if (ROOT / 'src' / name.split('/')[0]).is_dir()]
    assert sorted(there) == sorted(opening), 'an exception that nothing needs any more'


@pytest.mark.parametrize(
    'call', ["open('a')", "Path('a').read_text()", 'np.load(a)', 'yaml.safe_load(a)', 'p.open()']
)
def test_an_opening_is_found(call):
    assert openings(f'x = 1\nf({call})\n') == [(2, call.rpartition('(')[0])]
