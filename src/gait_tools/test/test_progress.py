# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The bar of a terminal and the lines of a log."""

import io

import pytest

from gait_evolver.loop import EvolutionProgress
from gait_tools.progress import make_progress_display


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_log_gets_one_plain_line_per_generation_with_rate_and_time_left():
    stream = io.StringIO()
    display = make_progress_display(stream)
    progress = EvolutionProgress(generations=3, trials_total=2)
    display(progress)
    for generation, left in ((1, 7322.4), (2, 3661.2)):
        progress.trials_done = 1
        display(progress)
        progress.generation, progress.evaluations = generation, 2 * generation
        progress.rate, progress.time_left = 0.125, left
        display(progress)
    display.close()
    assert stream.getvalue().splitlines() == [
        'generation 1/3  2 trials  best none  0.12 trials/s  2:02:02 left',
        'generation 2/3  4 trials  best none  0.12 trials/s  1:01:01 left',
    ]


def test_a_run_that_was_only_read_shows_no_rate():
    stream = io.StringIO()
    make_progress_display(stream)(EvolutionProgress(generations=3, generation=3, evaluations=9))
    assert stream.getvalue() == 'generation 3/3  9 trials  best none\n'


@pytest.mark.parametrize('done', [0, 1])
def test_a_terminal_gets_a_bar_with_rate_and_time_left(done):
    stream = Terminal()
    display = make_progress_display(stream)
    display(
        EvolutionProgress(generations=4, generation=2, trials_total=2, trials_done=done, rate=3.5)
    )
    display.close()
    shown = stream.getvalue()
    assert f'{2 + done / 2:.1f}/4 generations' in shown
    assert '3.50 trials/s' in shown and '<' in shown
