# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evaluator ``ray`` without a Ray: useless clusters in one line, and overdue trials."""

from __future__ import annotations

from collections import deque
import socket
import socketserver
import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip('ray', reason="extra 'ray' is not installed: make setup EXTRAS=ray")

from ray.exceptions import ActorUnavailableError, RayError

from gait_core.errors import ConfigurationError, NoWorkers
from gait_core.testing.doubles import spec_for_test
from gait_core.testing.workspace import workspace
from gait_evolver.evaluators import ray as evaluator_module
from gait_evolver.evaluators import ray_actors, ray_process
from gait_evolver.evaluators.ray import RayEvaluator
from gait_evolver.evaluators.ray_process import check_cluster
from gait_evolver.evaluators.ray_state import RayWorker, TrialBatch

UNREACHED = 'its process or its machine cannot be reached', False


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp('cluster')
    with workspace(root):
        yield root


@pytest.mark.parametrize(
    ('address', 'message'),
    [
        ('127.0.0.1', 'is not HOST:PORT'),
        ('127.0.0.1:99999', 'is not HOST:PORT'),
        ('127.0.0.1:1', 'no Ray cluster answers at 127.0.0.1:1: Connection refused'),
    ],
)
def test_a_wrong_address_is_one_line(address, message):
    with pytest.raises(ConfigurationError, match=message):
        RayEvaluator(address=address)


def test_a_missing_token_and_what_is_no_ray_are_named(tmp_path, monkeypatch):
    token = tmp_path / 'token'
    for name in ('RAY_AUTH_MODE', 'RAY_AUTH_TOKEN', 'RAY_USE_TLS'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('RAY_AUTH_TOKEN_PATH', str(token))
    monkeypatch.setattr(ray_process, '_PROBE_TIMEOUT', 0.5)
    with socket.create_server(('127.0.0.1', 0)) as server:
        address = f'127.0.0.1:{server.getsockname()[1]}'
        with pytest.raises(ConfigurationError, match=f'no token .* of its head to {token}'):
            check_cluster(address)
        token.write_text('secret')
        with pytest.raises(ConfigurationError, match=f'answers at {address} is no head of a Ray'):
            check_cluster(address)

    class Answer(socketserver.BaseRequestHandler):
        def handle(self):
            # A frame of settings with one of them, by which a server of HTTP/2 begins.
            self.request.sendall(bytes([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]))

    with socketserver.TCPServer(('127.0.0.1', 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        check_cluster(f'127.0.0.1:{server.server_address[1]}')
        server.shutdown()


@pytest.mark.parametrize(
    ('error', 'reason'),
    [
        (
            ActorUnavailableError('RpcError: RPC error: Socket closed rpc_code: 14', None),
            UNREACHED,
        ),
        (
            RayError(
                'The actor died.\nThe actor is dead because its worker process has died. Worker '
                'exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a '
                'connection error code 2. End of file. Some common causes include: ...'
            ),
            ('its worker process has died', True),
        ),
        (
            RayError('The actor is dead because its node has died. Node Id: 2f'),
            ('its node has died. Node Id: 2f', False),
        ),
    ],
)
def test_the_loss_of_a_worker_is_told_in_few_words(error, reason):
    assert ray_actors._describe_loss(error) == reason


def test_each_overdue_trial_is_begun_again_on_an_idle_worker_but_none_a_third_time(folder):
    evaluator, sent, specs = RayEvaluator(workers=5), [], [spec_for_test(seed=i) for i in range(2)]
    evaluator._batch = TrialBatch(0, specs, deque())
    for number in range(5):
        trial = (0, number) if number < 2 else None
        began = time.monotonic() - 100.0 + number
        evaluator._workers[number] = RayWorker('host/1', True, trial=trial, began=began)
        evaluator._speeds.record(str(number), specs[0].ticks, 1.0)
    evaluator._dispatch(SimpleNamespace(send=lambda *message: sent.append(message)))
    assert sorted(trial for _, _, trial, *_ in sent) == [(0, 0), (0, 1)]
    evaluator._dispatch(SimpleNamespace(send=lambda *message: sent.append(message)))
    assert len(sent) == 2


class ScriptedRay:
    """Process that answers by a script; an empty batch of messages ends it."""

    script = ()

    def __init__(self, workers, address, log):
        self.batches = iter(self.script)
        self.log = log

    def send(self, *message):
        """Drop a message."""

    def last_line(self):
        """Return the last line of the log."""
        return 'Ray said this'

    def close(self):
        """Do nothing."""

    def read(self, timeout):
        """Return the next messages of the script."""
        messages = next(self.batches)
        if not messages:
            raise EOFError
        return messages


UP, STARTED = [('up', 1)], [('started', 0, 'host/1')]
REFUSED = [('checked', 0, "unknown controller 'plugin'")]


@pytest.mark.parametrize(
    ('script', 'error', 'message'),
    [
        ([[('refused', 'RuntimeError: x')]], ConfigurationError, 'cluster at a:1 refuses: Run'),
        ([[('refused', 'ConnectionError: x')]], ConfigurationError, 'no head of a Ray cluster'),
        ([[]], ConfigurationError, 'no node of the Ray cluster at a:1; make it one by `ray start'),
        ([UP, []], NoWorkers, 'cluster at a:1 ended: Ray said this'),
        ([UP, [('head', 'no answer')]], NoWorkers, 'the head of .* is gone: no answer'),
        ([UP, STARTED, REFUSED], ConfigurationError, "host/1 is not used: unknown controller 'p"),
    ],
)
def test_a_cluster_that_is_of_no_use_ends_a_run_in_one_line(
    folder, monkeypatch, script, error, message
):
    monkeypatch.setattr(ScriptedRay, 'script', script)
    monkeypatch.setattr(evaluator_module, 'RayProcess', ScriptedRay)
    monkeypatch.setattr(evaluator_module, 'check_cluster', lambda address: None)
    evaluator, said = RayEvaluator(workers=1, address='a:1'), []
    with pytest.raises(error, match=message):
        evaluator.evaluate([spec_for_test()], lost=lambda index, reason: said.append(reason))
    evaluator = RayEvaluator(workers=3, address='a:1')
    monkeypatch.setattr(ScriptedRay, 'script', [UP, []])
    with pytest.raises(NoWorkers):
        evaluator.evaluate([spec_for_test()], lost=lambda index, reason: said.append(reason))
    assert 'has room for 1 of 3 workers; the others start when a node joins' in said[-1]
