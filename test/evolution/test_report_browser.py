# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The report in a headless browser: it draws, fits the screen in both themes, and asks no one."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
import json
import os
from pathlib import Path
import shutil
import subprocess
import time

import pytest

from gait_core.testing.doubles import InProcessEvaluator
from gait_core.testing.workspace import workspace
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.loop import Evolution
from gait_evolver.plan import resolve_experiment
from gait_evolver.run.store import RunStore
from gait_tools.report.build import build_report, load_subject

BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')
_PATIENCE = 60.0

EXPERIMENT = {
    'robot': 'legged_box',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}, 'frequency': None},
    'duration': 2.0,
    'fitness': {'distance': 1.0},
    'population': 6,
    'generations': 3,
}


class Tab:
    """One page of a headless browser, over its debugging protocol."""

    def __init__(self, folder: Path) -> None:
        connect = pytest.importorskip('websockets.sync.client').connect
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            pytest.skip('no Chromium on this machine')
        self._process = subprocess.Popen(
            [
                browser,
                '--headless=new',
                '--no-sandbox',
                '--use-angle=swiftshader',
                '--enable-unsafe-swiftshader',
                '--remote-debugging-port=0',
                f'--user-data-dir={folder}',
                'about:blank',
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, 'HOME': str(folder)},
        )
        port, path = self._waited(folder / 'DevToolsActivePort').split()
        self._open = ExitStack()
        self._socket = self._open.enter_context(
            connect(f'ws://127.0.0.1:{port}{path}', max_size=None)
        )
        self._count = 0
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self._call('Target.createTarget', url='about:blank')['targetId']
        self._session = None
        self._session = self._call('Target.attachToTarget', targetId=target, flatten=True)[
            'sessionId'
        ]
        for domain in ('Page', 'Network', 'Runtime'):
            self._call(f'{domain}.enable')
        self._call('Performance.enable')

    @staticmethod
    def _waited(file: Path) -> str:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if file.exists() and len(file.read_text().split()) == 2:
                return file.read_text()
            time.sleep(0.05)
        pytest.skip('the browser does not start here')

    def _call(self, method: str, **params):
        self._count += 1
        message = {'id': self._count, 'method': method, 'params': params}
        if getattr(self, '_session', None):
            message['sessionId'] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=_PATIENCE))
            if answer.get('method') == 'Network.requestWillBeSent':
                self.requests.append(answer['params']['request']['url'])
            if answer.get('method') == 'Runtime.exceptionThrown':
                self.errors.append(str(answer['params']))
            if answer.get('id') == self._count:
                assert 'error' not in answer, answer
                return answer['result']

    def value(self, expression: str):
        found = self._call('Runtime.evaluate', expression=expression, returnByValue=True)
        return found['result'].get('value')

    def open(self, page: Path, width: int, scheme: str) -> None:
        self._call(
            'Emulation.setDeviceMetricsOverride',
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.prefer(scheme)
        self.requests.clear()
        self._call('Page.navigate', url=page.as_uri())
        end = time.monotonic() + _PATIENCE
        while self.value('document.documentElement.dataset.ready') != 'yes':
            assert time.monotonic() < end, self.errors
            time.sleep(0.05)

    def busy(self) -> float:
        """Return the processor time of the process that runs the page, all threads [s]."""
        found = self._call('Performance.getMetrics')['metrics']
        return {one['name']: one['value'] for one in found}['ProcessTime']

    def prefer(self, scheme: str) -> None:
        feature = {'name': 'prefers-color-scheme', 'value': scheme}
        self._call('Emulation.setEmulatedMedia', features=[feature])

    def draw_all(self) -> None:
        """Scroll to the end, so that every chart comes near the screen."""
        end = time.monotonic() + _PATIENCE
        undrawn = 'document.querySelectorAll("[data-chart]:not([data-drawn])").length'
        at = 0
        while self.value(undrawn):
            assert time.monotonic() < end, 'charts that are not drawn'
            self.value(f'window.scrollTo(0, {at})')
            at += 500
            time.sleep(0.05)

    def bright(self) -> bool:
        """Whether charts are written in dark letters on a light page."""
        shades = [
            self.value(f'Number({colour}.match(/\\d+/)[0])')
            for colour in (
                'getComputedStyle(document.body).backgroundColor',
                'getComputedStyle(document.querySelector(".xtick text")).fill',
            )
        ]
        return shades[0] > shades[1]

    def close(self) -> None:
        self._open.close()
        self._process.terminate()
        self._process.wait(10.0)


@pytest.fixture(scope='module')
def tab(tmp_path_factory):
    tab = Tab(tmp_path_factory.mktemp('browser'))
    yield tab
    tab.close()


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    with workspace(tmp_path_factory.mktemp('workspace')):
        folder = tmp_path_factory.mktemp('report') / 'run'
        store = RunStore.create(
            folder, resolve_experiment(rebuild_experiment(EXPERIMENT, 'small', {}))
        )
        Evolution(store, InProcessEvaluator()).run()
        store.close()
        file = folder / 'report.html'
        file.write_text(build_report(load_subject(folder)).html())
        yield file


@pytest.fixture(scope='module')
def long_page(page):
    """Return the page of a run of 200 generations of 20."""
    subject = load_subject(page.parent)
    row = subject.generations[0][0]
    generations = [
        [replace(row, generation=g, individual=i, fitness=g + 0.1 * i) for i in range(20)]
        for g in range(200)
    ]
    file = page.with_name('long.html')
    file.write_text(build_report(replace(subject, generations=generations)).html())
    return file


@pytest.mark.parametrize(('width', 'scheme'), [(1280, 'light'), (390, 'dark')])
def test_the_page_draws_and_fits(tab, page, width, scheme):
    tab.open(page, width, scheme)
    # From the start of the navigation to the drawn player, by the browser's own clock; drawing
    # without a graphics processor, on a busy machine.
    assert tab.value('performance.now()') < 30_000.0
    tab.draw_all()
    assert tab.value('document.documentElement.scrollWidth') <= width
    assert tab.value('document.querySelectorAll(".js-plotly-plot canvas").length') > 0
    wide = 'Math.max(...[...document.querySelectorAll(".svg-container")].map(e => e.offsetWidth))'
    assert 0 < tab.value(wide) < width
    assert tab.bright() == (scheme == 'light')
    tab.prefer('dark' if scheme == 'light' else 'light')
    assert tab.bright() == (scheme == 'dark')
    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith(('file:', 'data:', 'blob:'))] == []


def test_200_generations_open_in_3_seconds(tab, long_page):
    assert long_page.stat().st_size < 10e6
    before = tab.busy()
    tab.open(long_page, 1280, 'light')
    # Processor time of the page's own process up to the drawn player: other work of the machine
    # does not count, nor does drawing without a graphics processor, which is another process.
    spent = tab.busy() - before
    assert 0.0 < spent < 3.0, f'{spent:.2f} s'
    assert tab.errors == []


def test_the_player_plays(tab, page):
    tab.open(page, 1280, 'light')
    tab.value('document.getElementById("play").click()')
    end = time.monotonic() + _PATIENCE
    while not tab.value('Number(document.getElementById("frame").value)'):
        assert time.monotonic() < end, 'it stands still'
        time.sleep(0.05)
    assert tab.errors == []
