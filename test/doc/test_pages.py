# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The commands of the pages in doc/ and of the READMEs run as printed, in a fresh shell."""

from dataclasses import fields
import os
from pathlib import Path
import re
import signal
import subprocess

import pytest
import yaml

from gait_core.testing.documents import table_rows
from gait_core.testing.domain import own_domain
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.scene import InitialState, Push, Scene, SensorModel, TerrainSpec
from gait_core.trial.spec import Command, TimedCommand
from gait_evolver.experiment import Experiment

_ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r'^```bash\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_ENTER = '. build/env.sh\n'
_ENTERED = ('VIRTUAL_ENV', 'GAIT_WORKSPACE', 'PYTHONPATH', 'AMENT_PREFIX_PATH', 'LD_LIBRARY_PATH')
"""Variables that build/env.sh sets, beside PATH."""
_PAGES = (
    'add_a_robot.md',
    'add_a_controller.md',
    'adopt.md',
    'tune.md',
    'evolve.md',
)
_INDEPENDENT = (
    'src/gait_core/README.md',
    'src/gait_evolver/README.md',
    'src/gait_interfaces/README.md',
    'src/gait_ros/README.md',
    'src/gait_tools/README.md',
    'src/sim_bridge/README.md',
    'doc/terrains.md',
)


def blocks(page):
    """Return the commands of a page that need no installed ROS."""
    found = _BLOCK.findall((_ROOT / page).read_text(encoding='utf-8'))
    return [block for block in found if not block.startswith('ros2 ')]


def fresh_environment():
    """Return the environment of a shell that has not sourced build/env.sh."""
    path = os.environ['PATH'].split(os.pathsep)
    outside = [part for part in path if _ROOT not in (Path(part), *Path(part).parents)]
    kept = {name: value for name, value in os.environ.items() if name not in _ENTERED}
    return {**kept, 'PATH': os.pathsep.join(outside), 'ROS_DOMAIN_ID': str(own_domain())}


def run_page(found, folder):
    """Run the first block of a page in the clone, the others in a folder; return their output."""
    enter, *others = found
    assert enter == _ENTER
    if not (_ROOT / 'build/env.sh').exists():
        pytest.skip('this clone has no build/env.sh: see make setup')
    return run(''.join((f'cd {_ROOT}\n', enter, f'cd {folder}\n', *others)), folder)


def run(commands, folder):
    """Run commands one after the other in a folder, and return their output."""
    if 'bullet' in commands:
        need_engine('bullet')
    if ' a1' in commands:
        need_robot('a1')
    log = folder / 'output.log'
    # A pipe would stay open as long as what a failed page has left in the background.
    with (
        log.open('wb') as output,
        subprocess.Popen(
            ['bash', '-euo', 'pipefail', '-c', commands],
            cwd=folder,
            env=fresh_environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.wait(timeout=400)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    printed = log.read_text(encoding='utf-8')
    assert process.returncode == 0, printed
    return printed


@pytest.mark.parametrize('page', _PAGES)
def test_the_commands_of_a_page_succeed(page, tmp_path):
    found = blocks(f'doc/{page}')
    assert len(found) > 3
    output = run_page(found, tmp_path)
    assert '"status": "ok"' in output
    if page == 'evolve.md':
        assert 'quick_trot: 3 generations' in output and '"equal": true' in output
    if page == 'tune.md':
        found = re.findall(r'^ +(\d\.\d) (\S+) (\S+) (\S+)$', output, re.MULTILINE)
        costs, tilts = ([float(row[column]) for row in found] for column in (2, 3))
        assert len(found) == 4 and costs == sorted(costs)
        assert tilts[:3] == sorted(tilts[:3], reverse=True) and tilts[3] < tilts[1]


def test_a_trial_in_lock_step_over_ros_has_the_hash_of_one_in_process(tmp_path):
    pytest.importorskip('rclpy')
    output = run_page(blocks('doc/time.md'), tmp_path)
    hashes = re.findall(r'"trial_hash": "(\w+)"', output)
    assert len(hashes) == 2 and hashes[0] == hashes[1]
    assert '"status": "ok"' in output


def test_the_commands_of_the_page_on_workers_run_trials_in_them(tmp_path):
    pytest.importorskip('rclpy')
    found = blocks('doc/workers.md')
    assert len(found) == 4
    assert 'ok True\n' in run_page(found, tmp_path)


def test_from_an_unknown_urdf_to_a_walk_it_takes_less_than_ten_commands():
    # That they succeed is the first test of this file.
    lines = [line for block in blocks('doc/adopt.md') for line in block.splitlines()]
    walks = next(n for n, line in enumerate(lines, 1) if line.startswith('gait walk'))
    assert any(line.startswith('gait adopt') for line in lines[:walks])
    assert walks < 10


def test_the_commands_of_the_page_on_hardware_say_what_it_promises(tmp_path):
    need_robot('a1')
    output = run_page(blocks('doc/hardware.md'), tmp_path)
    # 0.12 - 0.2.
    assert 'm1 reads -0.08' in output and 'and back 0.2' in output


def keys_of(cls):
    return {field.name for field in fields(cls)}


def test_the_pages_on_experiments_show_every_key_and_every_file_of_a_run(tmp_path):
    pages = ('experiments', 'runs', 'champions')
    commands = [block for page in pages for block in blocks(f'doc/{page}.md')]
    output = run_page(commands, tmp_path)
    assert '"equal": true' in output

    shown = yaml.safe_load((tmp_path / 'brisk.yaml').read_text(encoding='utf-8'))
    assert set(shown) == keys_of(Experiment)
    scene = shown['scene']
    assert set(scene) == keys_of(Scene) - {'robot'}
    for value, cls in (
        (scene['terrain'], TerrainSpec),
        (scene['initial'], InitialState),
        (scene['pushes'][0], Push),
        (scene['sensors'], SensorModel),
        (shown['script'][0], TimedCommand),
        (shown['script'][0]['command'], Command),
    ):
        assert set(value) == keys_of(cls)

    page = (_ROOT / 'doc' / 'runs.md').read_text(encoding='utf-8')
    listed = [row[0] for row in table_rows(page, 'File')]
    # A run that nothing went wrong in has no events and no trial that ended its workers.
    undisturbed = set(listed) - {'events.log', 'trial-3-2-0-bullet.yaml'}
    assert undisturbed == {path.name for path in (tmp_path / 'runs/brisk').iterdir()}


@pytest.mark.parametrize('page', _INDEPENDENT)
def test_the_commands_of_a_readme_succeed(page, tmp_path):
    if 'gait_interfaces' in page or 'gait_ros' in page:
        pytest.importorskip('rclpy')
    found = blocks(page)
    assert found
    # They run at the root of the clone; here, what they write stays out of it.
    for name in ('gait', 'build'):
        (tmp_path / name).symlink_to(_ROOT / name)
    run(''.join(found), tmp_path)
