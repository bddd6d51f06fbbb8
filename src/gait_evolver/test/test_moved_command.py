"""The old name of the command is refused with the new one."""

from importlib.metadata import entry_points
from pathlib import Path
import subprocess

SCRIPT = Path(__file__).resolve().parents[1] / 'scripts' / 'gait'


def test_the_old_name_of_the_command_is_refused_with_the_new_one():
    done = subprocess.run([SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, '')
    assert done.stderr.endswith('it is now: ros2 run gait_tools gait\n')
    assert done.stderr.count('\n') == 1


def test_one_package_alone_registers_the_command():
    (command,) = entry_points(group='console_scripts', name='gait')
    assert command.value.startswith('gait_tools.')
