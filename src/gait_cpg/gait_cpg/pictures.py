# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Picture of the oscillators for the documentation: ``python -m gait_cpg.pictures FILE``."""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_cpg.gaits import find_gait, leg_lags
from gait_cpg.matsuoka.parameters import MatsuokaParams
from gait_cpg.oscillators import PhaseOscillators, coupling_to_lags

_SEED = 3
_STEP = 0.001
_DURATION = 3.0
_FEET = np.array([[x, y, 0.0] for x in (0.1, -0.1) for y in (0.05, -0.05)])


def walking_network() -> tuple[PhaseOscillators, FloatArray]:
    """Return four phase oscillators in a walk, and a state at rest with random phases."""
    phase = np.random.default_rng(_SEED).uniform(-np.pi, np.pi, 4)
    network = PhaseOscillators(
        frequency=np.full(4, 1.5),
        target_amplitude=np.ones(4),
        amplitude_gain=np.full(4, 8.0),
        coupling=coupling_to_lags(leg_lags(find_gait('walk'), _FEET), 4.0),
    )
    return network, network.rest_state(phase)


def draw_oscillators(path: Path) -> None:
    """Write a picture of the signals of a Matsuoka network and of phase oscillators to a file."""
    # A figure with its own canvas needs no display and leaves pyplot untouched.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.8), layout='constrained')
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1)
    _draw_reference(above)
    network, state = walking_network()
    signals = network.euler(state, _STEP, round(_DURATION / _STEP)).signals
    below.plot(_STEP * np.arange(1, len(signals) + 1), signals, linewidth=1.0)
    below.set(xlim=(0.0, _DURATION), xlabel='time [s]')
    below.set_title('Amplitude-phase: from rest at random phases to the walk', fontsize='small')
    figure.savefig(path, dpi=80)


def _draw_reference(axes: Any) -> None:
    """Draw the signals of the reference network of Matsuoka neurons."""
    params = MatsuokaParams()
    network = params.network(4)
    signals = network.euler(
        network.initial_state(), params.step, round(15.0 / params.step)
    ).signals
    time = params.step * np.arange(len(signals))
    for number, signal in enumerate(signals.T, 1):
        axes.plot(time, signal, linewidth=1.0, label=f'$S_{number}$')
    axes.axvspan(0.0, params.blanking, color='0.9')
    axes.text(0.5 * params.blanking, -0.27, 'blanked', ha='center', fontsize='small')
    axes.set(xlim=(0.0, 15.0), ylim=(-0.3, 0.42))
    axes.set_title('Matsuoka: reference network of four pairs', fontsize='small')
    axes.legend(loc='upper right', ncols=4, fontsize='small')


if __name__ == '__main__':
    draw_oscillators(Path(sys.argv[1]))
