# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Progress display of an evolution: a bar in a terminal, else a line per generation."""

from __future__ import annotations

import sys
from typing import Any, Protocol, TextIO

from gait_evolver.loop import EvolutionProgress


class ProgressDisplay(Protocol):
    """Listener of an evolution that shows its progress."""

    def __call__(self, progress: EvolutionProgress) -> None:
        """Show the progress."""

    def note(self, text: str) -> None:
        """Print a line without damage to the display."""

    def close(self) -> None:
        """End the display."""


def make_progress_display(stream: TextIO | None = None) -> ProgressDisplay:
    """Return a bar if the stream (default: standard error) is a terminal, else plain lines."""
    chosen = stream or sys.stderr
    return _BarDisplay(chosen) if chosen.isatty() else _LineDisplay(chosen)


def _format_best(progress: EvolutionProgress) -> str:
    return 'none' if progress.best is None else f'{progress.best.fitness:.4f}'


def _format_rate(progress: EvolutionProgress) -> str:
    """Return the rate and the time left, once they are known."""
    if progress.time_left is None:
        return ''
    minutes, seconds = divmod(round(progress.time_left), 60)
    hours, minutes = divmod(minutes, 60)
    return f'  {progress.rate:.2f} trials/s  {hours}:{minutes:02d}:{seconds:02d} left'


class _LineDisplay:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = 0

    def __call__(self, progress: EvolutionProgress) -> None:
        if progress.generation == self._shown:
            return
        self._shown = progress.generation
        print(
            f'generation {progress.generation}/{progress.generations}  '
            f'{progress.evaluations} trials  best {_format_best(progress)}'
            f'{_format_rate(progress)}',
            file=self._stream,
            flush=True,
        )

    def note(self, text: str) -> None:
        """Print a line."""
        print(f'gait: {text}', file=self._stream, flush=True)

    def close(self) -> None:
        """Do nothing."""


class _BarDisplay:
    """Bar over the run in generations and fractions of them."""

    def __init__(self, stream: TextIO) -> None:
        from tqdm import tqdm

        self._stream = stream
        layout = '{l_bar}{bar}| {n:.1f}/{total} generations [{elapsed}<{remaining}{postfix}]'
        self._bar: Any = tqdm(
            file=stream, unit='gen', dynamic_ncols=True, smoothing=0.0, bar_format=layout
        )

    def __call__(self, progress: EvolutionProgress) -> None:
        under_way = progress.generation < progress.generations and progress.trials_total
        share = progress.trials_done / progress.trials_total if under_way else 0.0
        # A finished generation is in `generation` already: its trials must not count again.
        if progress.trials_done == progress.trials_total:
            share = 0.0
        self._bar.total = progress.generations
        self._bar.n = max(self._bar.n, progress.generation + share)
        self._bar.set_postfix_str(
            f'best {_format_best(progress)}, {progress.rate:.2f} trials/s', refresh=False
        )
        self._bar.refresh()

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.write(f'gait: {text}', file=self._stream)

    def close(self) -> None:
        """End the bar's line."""
        self._bar.close()
