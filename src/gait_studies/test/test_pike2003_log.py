# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The log files of the published search."""

from __future__ import annotations

import pytest

from gait_core.errors import ConfigurationError
from gait_evolver.run.log import TrialRow
from gait_studies.pike2003.log import read_variables, write_scores, write_variables

VALUES = {
    'hip_move_deg': 23.228656,
    'knee_bend_deg': 22.2723735,
    'ankle_place_deg': 39.2501717,
    'ankle_move_deg': 16.4476997,
}


def row(fitness, **changes):
    return TrialRow(
        generation=0,
        individual=0,
        id=0,
        repeat=0,
        engine='bullet',
        parents=(),
        seed=1,
        status='ok',
        fitness=fitness,
        ticks=240,
        trial_hash='',
        terms={},
        metrics={},
        values={**VALUES, **changes},
    )


def test_scores_have_the_published_header_and_five_columns(tmp_path):
    file = tmp_path / 'scores.csv'
    write_scores(file, [row(-0.75), row(None, knee_bend_deg=20.0)])
    assert file.read_text() == (
        'scores, knee, ankle place, ankle move, hip move\n'
        '0.750000, 22.272373, 39.250172, 16.447701, 23.228657\n'
        '1000.000000, 20.000000, 39.250172, 16.447701, 23.228657\n'
    )


def test_variables_are_four_lines_that_read_back(tmp_path):
    file = tmp_path / 'nwgavars.cfg'
    write_variables(file, VALUES)
    assert len(file.read_text().splitlines()) == 4
    assert read_variables(file) == pytest.approx(VALUES, abs=2e-6)


@pytest.mark.parametrize(
    ('text', 'message'), [('1\n2\n3\n', 'has 3 values'), ('1\n2\n3\nx\n', 'is not a variables')]
)
def test_other_files_are_refused(tmp_path, text, message):
    file = tmp_path / 'wrong.cfg'
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        read_variables(file)
    with pytest.raises(ConfigurationError, match='No such file'):
        read_variables(tmp_path / 'none')


def test_a_run_of_other_genes_has_no_such_log(tmp_path):
    with pytest.raises(ConfigurationError, match="needs the gene 'knee_bend_deg'"):
        write_variables(tmp_path / 'a', {'step_size_deg': 20.0})
