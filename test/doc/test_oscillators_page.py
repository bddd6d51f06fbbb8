# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page on oscillators: its example runs, its table is what the library computes."""

from pathlib import Path
import re
import subprocess
import sys

import numpy as np
import pytest

from gait_core.testing.documents import table_rows
from gait_cpg.oscillators import diagnose, neural_oscillators
from gait_cpg.pictures import draw_oscillators, walking_network

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'doc' / 'oscillators.md').read_text(encoding='utf-8')
STEP = 0.0005


@pytest.mark.parametrize('page', ['doc/oscillators.md', 'src/gait_cpg/README.md'])
def test_its_python_runs(page):
    found = re.findall(r'^```python\n(.*?)^```$', (ROOT / page).read_text('utf-8'), re.M | re.S)
    assert found
    for block in found:
        done = subprocess.run([sys.executable, '-c', block], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout


def third_harmonic(signal, frequency):
    cycles = int(len(signal) * STEP * frequency)
    sizes = np.abs(np.fft.rfft(signal[: round(cycles / frequency / STEP)]))
    return sizes[3 * cycles] / sizes[cycles]


def test_the_table_of_single_oscillators_is_computed():
    table = table_rows(TEXT, 'w')
    assert len(table) == 4
    for weight, tau, ratio, frequency, peak, third in table:
        network = neural_oscillators(
            [], 1, tau_a=float(tau), tau_ratio=float(ratio), pair_weight=float(weight)
        )
        signal = network.euler(network.initial_state(), STEP, 30000).signals[10000:, 0]
        found = diagnose(signal[:, None], STEP).frequency[0]
        if frequency == 'dies':
            assert np.abs(signal[-4000:]).max() == pytest.approx(float(peak.split()[0]), abs=5e-4)
            continue
        assert found == pytest.approx(float(frequency), abs=1e-4)
        assert np.abs(signal).max() == pytest.approx(float(peak), abs=1e-4)
        share = third_harmonic(signal, found)
        if third.startswith('below'):
            assert share < 0.001
        else:
            assert share == pytest.approx(float(third.split()[0]) / 100.0, abs=0.005)


def test_its_picture_is_drawn(tmp_path):
    draw_oscillators(tmp_path / 'oscillators.png')
    assert (tmp_path / 'oscillators.png').read_bytes().startswith(b'\x89PNG')
    network, state = walking_network()
    signals = network.euler(state, 0.001, 3000).signals
    assert diagnose(signals[2000:], 0.001).verdict == 'alive'
