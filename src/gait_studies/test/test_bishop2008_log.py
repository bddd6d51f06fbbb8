# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The log of Bishop (2008) and the output of its post-processor, on lines made by hand."""

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_evolver.run.log import TrialRow
from gait_studies.bishop2008.log import log_lines, read_log, summarize_generations, write_log


def row(generation, member, fresh, x=0.0):
    terms = {'hits': 2.0, 'net': abs(x), 'x': x, 'y': -0.5 * x}
    return TrialRow(
        generation=generation,
        individual=member,
        id=member,
        repeat=0,
        engine='mujoco',
        parents=(),
        seed=0,
        status='ok',
        fitness=fresh,
        ticks=2000,
        trial_hash='',
        values={},
        terms={f'bishop2008_{name}': value for name, value in terms.items()},
        metrics={},
    )


@pytest.fixture
def lines():
    """Return two generations: member 0 scores 4 and then 1, the others 0 to 3."""
    first = [row(0, 0, 4.0, 2.0), *(row(0, i, i - 1.0) for i in range(1, 5))]
    second = [row(1, 0, 1.0, 0.4), *(row(1, i, i - 0.5, 1.0) for i in range(1, 5))]
    return log_lines([first, second], 0.25)


def test_a_line_has_seven_numbers_and_places_count_what_was_retained(lines):
    assert [part.shape for part in lines] == [(5, 7), (5, 7)]
    assert lines[0][0].tolist() == [0.0, 0.0, 2.0, 2.0, 2.0, -1.0, 4.0]
    # Member 4 has 3.5 + 0.75, member 3 2.5 + 0.5, member 0 1 + 1 like member 2's 1.5 + 0.25.
    assert lines[1][:, 6].tolist() == [3.5, 2.5, 1.0, 1.5, 0.5]
    assert lines[1][:, 1].tolist() == [0.75, 0.5, 1.0, 0.25, 0.0]


def test_the_post_processor_tells_fresh_scores(lines):
    told = summarize_generations(lines)
    assert told[:, 0].tolist() == [4.0, 3.5]
    assert told[:, 1] == pytest.approx([2.0, 1.8])
    assert told[:, 2].tolist() == [4.0, 4.0]
    assert told[:, 3:].tolist() == [[2.0, -1.0], [1.0, -0.5]]


def test_a_log_is_read_as_it_was_written(lines, tmp_path):
    write_log(tmp_path / 'run.log', lines)
    assert len((tmp_path / 'run.log').read_text().splitlines()) == 10
    for one, other in zip(read_log(tmp_path / 'run.log'), lines, strict=True):
        assert np.array_equal(one, other)


def test_another_file_is_no_log(tmp_path):
    (tmp_path / 'run.log').write_text('1 2 3\n')
    with pytest.raises(ConfigurationError, match='3 values per line'):
        read_log(tmp_path / 'run.log')
    with pytest.raises(ConfigurationError, match='none.log: No such file'):
        read_log(tmp_path / 'none.log')
