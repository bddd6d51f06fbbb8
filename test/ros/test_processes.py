# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nodes as processes: signals at any moment, mistakes as one line, nothing left behind."""

from importlib.metadata import entry_points
import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rclpy')

from gait_core.errors import ConfigurationError
from gait_core.trial.scene import Scene
from gait_core.trial.spec import TrialSpec
from gait_interfaces.msg import WorkerStatus
from gait_interfaces.srv import RunTrial
from gait_ros.messages.conversions import to_spec
from gait_ros.nodes.qos import STREAM_QOS
from gait_ros.trials.session import TrialSession, run_ros_trial
from gait_ros.trials.worker_client import WorkerLost

NODES = ['sim_bridge.node', 'gait_ros.live.node']


def spec_of(box, **changes):
    return TrialSpec(
        scene=Scene(robot=box, engine='kinematic'),
        controller='wave',
        **{'duration': 0.5, **changes},
    )


def up(graph, name):
    return graph.until(lambda: name in graph.client.get_node_names(), 20.0)


def is_port_report(line):
    """
    Tell whether Fast DDS reports a port in shared memory that another run has locked.

    It takes the next port then.
    """
    return 'RTPS_TRANSPORT_SHM' in line


def assert_clean(process):
    code, output = process.end()
    assert code == 0, output
    output = '\n'.join(line for line in output.splitlines() if not is_port_report(line))
    assert 'Traceback' not in output and 'rror' not in output, output


@pytest.mark.parametrize('first', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('module', NODES)
def test_two_signals_end_a_node_with_0_and_no_traceback(graph, start_process, box, module, first):
    process = start_process(
        module, node='victim', robot=box, **({'mode': 'fast'} if 'bridge' in module else {})
    )
    up(graph, 'victim')
    time.sleep(0.2)
    process.popen.send_signal(first)
    time.sleep(0.02)
    process.popen.send_signal(signal.SIGINT)
    assert_clean(process)


# Compiling takes half a minute where no kernel of the machine is there yet.
SLOW = """
import ctypes
import hashlib
import sys
import time

from rclpy.node import Node

from gait_core.processes import liveness
from gait_ros.nodes.run import run_node
from gait_ros.nodes.stop import install_stop_flag


def compile():
    print('is being made', flush=True)
    if sys.argv[2] == 'spin':
        # Native code of LLVM, which begins with the signal.
        liveness.set_activity(liveness.COMPILING)
        wait_for_signal()
        hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)
    if sys.argv[2] == 'compiler':
        ctypes.CFUNCTYPE(None)(wait_for_signal)()
        raise RuntimeError('no compiled object yet')
    if sys.argv[2] == 'destructor':
        Destroyed()
    while True:
        time.sleep(0.01)


class Destroyed:
    def __del__(self):
        wait_for_signal()


# Called from C, as LLVM calls what is written in Python, and the interpreter destructors.
def wait_for_signal():
    end = time.monotonic() + 5.0
    while time.monotonic() < end and not install_stop_flag():
        time.sleep(0.01)


class Made(Node):
    def __init__(self):
        super().__init__('slow')
        if sys.argv[1] == 'made':
            compile()
        self.engine = None

    def destroy_node(self):
        assert self.engine is None
        super().destroy_node()

    def start(self):
        if sys.argv[1] == 'started':
            compile()
        self.create_timer(0.01, compile)


sys.exit(run_node(Made, []))
"""


@pytest.mark.parametrize(
    ('number', 'moment', 'within'),
    [
        (signal.SIGINT, 'made', 'python'),
        (signal.SIGTERM, 'started', 'python'),
        (signal.SIGTERM, 'made', 'compiler'),
        (signal.SIGINT, 'started', 'destructor'),
        (signal.SIGINT, 'spins', 'spin'),
    ],
)
def test_a_signal_ends_a_node_that_is_made_or_compiles(number, moment, within):
    process = subprocess.Popen(
        [sys.executable, '-c', SLOW, moment, within],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        first = next(line for line in process.stdout if not is_port_report(line))
        assert first == 'is being made\n'
        process.send_signal(number)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20.0)
    finally:
        process.kill()
    output = [line for line in output.splitlines() if not is_port_report(line)]
    assert process.returncode == 0 and not output, output


def test_a_signal_ends_a_node_that_imports_modules_at_once(tmp_path):
    # Native code, which no handler of a signal interrupts, as that of LLVM.
    (tmp_path / 'slow_module.py').write_text(
        'import hashlib\n'
        "print('imports', flush=True)\n"
        "hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)\n"
    )
    code = "from gait_ros.nodes.executable import run_module; run_module('slow_module')"
    process = subprocess.Popen(
        [sys.executable, '-c', code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, 'PYTHONPATH': f'{tmp_path}{os.pathsep}{os.environ["PYTHONPATH"]}'},
    )
    try:
        assert process.stdout.readline() == 'imports\n'
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20.0)
    finally:
        process.kill()
    assert process.returncode == 0 and not output, output


# Calls executables of nodes, and their modules as ``python -m`` does, without what they start.
STARTS = """
import importlib, runpy, sys
from gait_ros.nodes import executable

started = []
executable.run_module = lambda name, args=None: started.append(name)
for entry in sys.argv[1:]:
    module, _, function = entry.partition(':')
    getattr(importlib.import_module(module), function)()
    try:
        runpy.run_module(started[-1], run_name='__main__')
    except SystemExit:
        pass
print(*started)
print(*sys.modules)
"""


def test_nodes_import_nothing_slow_before_they_catch_signals():
    entries = [
        entry.value
        for entry in entry_points(group='console_scripts')
        if entry.name.endswith('_node')
    ]
    done = subprocess.run(
        [sys.executable, '-c', STARTS, *entries],
        capture_output=True,
        text=True,
        check=True,
        timeout=60.0,
    )
    started, imported = (line.split() for line in done.stdout.splitlines())
    assert len(started[::2]) == 7 and started[::2] == started[1::2]
    assert not {'numpy', 'numba', 'rclpy', 'yaml'} & set(imported)


def test_a_signal_in_mid_trial_ends_the_bridge_with_0(graph, start_process, box):
    process = start_process('sim_bridge.node', node='victim', mode='lockstep', publish_clock=False)
    beats = []
    graph.client.create_subscription(
        WorkerStatus, '/victim/worker_status', beats.append, STREAM_QOS
    )
    graph.start_call(
        RunTrial, '/victim/run_trial', trial_id='t', spec=to_spec(spec_of(box, duration=2e4))
    )
    graph.until(lambda: any(beat.tick > 0 for beat in beats), 20.0)
    process.popen.send_signal(signal.SIGINT)
    process.popen.send_signal(signal.SIGTERM)
    assert_clean(process)


@pytest.mark.parametrize(
    ('module', 'parameters', 'words'),
    [
        ('sim_bridge.node', {'robot': 'guro'}, "unknown robot 'guro'"),
        ('sim_bridge.node', {'mod': 'fast'}, "did you mean 'mode'"),
        ('gait_ros.live.node', {'robot': 'guroo', 'controller': 'trott'}, "'trott'"),
        ('gait_evolver.node', {'evaluater': 'ros'}, "did you mean 'evaluator'"),
        ('gait_evolver.node', {'evaluator': 'rso'}, "did you mean 'ros'"),
        ('gait_evolver.node', {'experiment': 'guro_quick'}, "did you mean 'guroo_quick'"),
    ],
)
def test_a_mistake_ends_a_node_with_2_and_one_line(start_process, module, parameters, words):
    code, output = start_process(module, **parameters).end()
    lines = [line for line in output.splitlines() if '[ERROR]' not in line]
    assert code == 2 and len(lines) == 1 and words in lines[0], output


def test_words_that_no_parameter_is_and_bad_names_are_refused():
    for words, expected in (
        (
            ['robot:=guroo'],
            "unknown argument 'robot:=guroo'; nearest valid: --ros-args -p robot:=guroo",
        ),
        (['--ros-args', '--', 'guroo'], "unknown argument 'guroo'"),
        (
            ['--ros-args', '-p', 'robot:=guroo', '-p', 'lockstep:=true', '-p', 'bridge:=bad name'],
            'bad name',
        ),
    ):
        run = subprocess.run(
            [sys.executable, '-m', 'gait_ros.live.node', *words], capture_output=True, text=True
        )
        lines = [line for line in run.stderr.splitlines() if '[ERROR]' not in line]
        assert run.returncode == 2 and len(lines) == 1 and expected in lines[0], run.stderr


def test_a_session_refuses_what_its_nodes_refuse(box):
    with pytest.raises(ConfigurationError, match="did you mean 'bullet'"):
        run_ros_trial(
            TrialSpec(scene=Scene(robot=box, engine='bulet'), controller='wave', duration=0.5)
        )


def test_a_session_is_for_one_controller(box):
    spec = spec_of(box)
    with TrialSession(spec) as session:
        assert session.run(spec).result.status == 'ok'
        other = spec_of(box, parameters={'amplitude': 0.1})
        with pytest.raises(ConfigurationError, match='another robot or controller'):
            session.run(other)


def test_nothing_is_left_when_the_parent_is_killed(box):
    code = (
        'import sys, time\n'
        'from gait_core.trial.scene import Scene\n'
        'from gait_core.trial.spec import TrialSpec\n'
        'from gait_ros.trials.session import TrialSession\n'
        f'spec = TrialSpec(scene=Scene(robot={box!r}, engine="kinematic"), controller="wave")\n'
        'with TrialSession(spec) as session:\n'
        '    print(*session.pids.values(), flush=True)\n'
        '    time.sleep(60)\n'
    )
    parent = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True)
    try:
        children = [int(word) for word in parent.stdout.readline().split()]
        assert len(children) == 2
        for child in children:
            os.kill(child, 0)
    finally:
        parent.kill()
        parent.communicate()
    deadline = time.monotonic() + 10.0
    while any(_runs(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_runs(child) for child in children)


def _runs(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def test_without_a_place_for_its_log_ros_is_refused_in_one_line():
    places = ('HOME', 'ROS_HOME', 'ROS_LOG_DIR')
    environment = {name: value for name, value in os.environ.items() if name not in places}
    done = subprocess.run(
        [sys.executable, '-m', 'gait_tools.cli', 'walk', 'guroo', '--ros', '--json'],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.returncode, done.stdout) == (2, '')
    # The rcutils of Jazzy writes a block of its own before, which begins and ends so.
    block = re.compile(r'^>>> \[rcutils.*?^<<<$', re.MULTILINE | re.DOTALL)
    lines = [line for line in block.sub('', done.stderr).splitlines() if line]
    lines = [line for line in lines if not line.endswith('takes its place')]
    assert len(lines) == 1 and lines[0].startswith('gait: ROS 2 does not start: ')


@pytest.mark.parametrize(
    ('command', 'start'),
    [
        (['gait_tools.cli', 'walk', 'guroo', '--ros'], 'gait: ROS 2 does not start: '),
        (['gait_ros.hardware.node', '--ros-args', '--enclave', '/robot'], 'node: '),
    ],
)
def test_nodes_without_their_keys_are_refused_in_one_line(command, start, tmp_path):
    (tmp_path / 'enclaves/robot').mkdir(parents=True)
    security = {
        'ROS_SECURITY_KEYSTORE': str(tmp_path),
        'ROS_SECURITY_ENABLE': 'true',
        'ROS_SECURITY_STRATEGY': 'Enforce',
    }
    done = subprocess.run(
        [sys.executable, '-m', *command],
        capture_output=True,
        text=True,
        env={**os.environ, **security},
    )
    assert done.returncode == 2
    assert 'Traceback' not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(start), done.stderr


def test_a_bridge_that_is_lost_ends_a_walk_over_ros_with_one_line(monkeypatch, capsys):
    from gait_tools.cli import main

    def lost(*_, **__):
        raise WorkerLost('/sim_bridge is lost: no heartbeat for 5 s')

    monkeypatch.setattr('gait_ros.trials.session.TrialSession.__enter__', lost)
    assert main(['walk', 'guroo', '--seconds', '1', '--ros']) == 2
    said = capsys.readouterr()
    assert said.err.splitlines() == ['gait: /sim_bridge is lost: no heartbeat for 5 s']
    assert not said.out
