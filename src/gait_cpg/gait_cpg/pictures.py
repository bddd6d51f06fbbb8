"""The picture of the oscillators in the documentation: ``python -m gait_cpg.pictures FILE``."""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_cpg.gaits import gait, leg_lags
from gait_cpg.matsuoka_parameters import MatsuokaParams
from gait_cpg.oscillators import (
    HopfOscillators,
    LinearOscillators,
    OscillatorNetwork,
    PhaseOscillators,
    VanDerPolOscillators,
    coupling_to_lags,
)

_SEED = 3
_STEP = 0.001
_SPAN = 3.0
_FEET = np.array([[x, y, 0.0] for x in (0.1, -0.1) for y in (0.05, -0.05)])


def networks() -> dict[str, tuple[OscillatorNetwork, FloatArray]]:
    """Return one network of every coupled model, on its way from random phases to the walk."""
    phase = np.random.default_rng(_SEED).uniform(-np.pi, np.pi, 4)
    coupling = coupling_to_lags(leg_lags(gait('walk'), _FEET), 4.0)
    one, pace = np.ones(4), np.full(4, 1.5)
    phases = PhaseOscillators(
        frequency=pace, target_amplitude=one, amplitude_gain=8.0 * one, coupling=coupling
    )
    hopf = HopfOscillators(
        frequency=pace, size_squared=one, convergence=5.0 * one, coupling=coupling
    )
    van_der_pol = VanDerPolOscillators(
        frequency=pace, damping=20.0 * one, half_amplitude=0.5 * one, coupling=coupling
    )
    linear = LinearOscillators(frequency=pace, coupling=coupling)
    return {
        'amplitude-phase, from rest': (phases, phases.at_rest(phase)),
        'Hopf': (hopf, 0.3 * hopf.at_phases(phase)),
        'van der Pol, epsilon 0.53': (van_der_pol, van_der_pol.at_phases(phase)),
        'linear': (linear, linear.at_phases(phase)),
    }


def draw_oscillators(path: Path) -> None:
    """Draw the reference network of Matsuoka's neurons and one network of each other model."""
    # Figures of their own canvas: no display, and no state shared with the user's pyplot.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 6.4), layout='constrained')
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(3, 2)
    _draw_reference(figure.add_subplot(grid[0, :]))
    for place, (name, (network, state)) in enumerate(networks().items()):
        axes = figure.add_subplot(grid[1 + place // 2, place % 2])
        signals = network.euler(state, _STEP, round(_SPAN / _STEP)).signals
        axes.plot(_STEP * np.arange(1, len(signals) + 1), signals, linewidth=1.0)
        axes.set(xlim=(0.0, _SPAN), xlabel='time [s]' if place > 1 else '')
        axes.set_title(name, fontsize='small')
    figure.savefig(path, dpi=80)


def _draw_reference(axes: Any) -> None:
    params = MatsuokaParams()
    network = params.network(4)
    signals = network.euler(network.start(), params.step, round(15.0 / params.step)).signals
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
