# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Studies: verdicts, resuming, the table, and the command."""

from __future__ import annotations

import json

import pytest

from gait_core.errors import ConfigurationError, RunStopped
from gait_core.testing.doubles import register_temporarily
from gait_core.testing.workspace import workspace
from gait_evolver.run.store import RunStore
from gait_tools import cli
from gait_tools.study.definition import (
    Study,
    StudyPart,
    StudyRow,
    count_verdicts,
    row_at_least,
    row_at_most,
    row_between,
    row_info,
    row_near,
    row_p_value,
    run_study,
    skipped_row,
    study_as_json,
)
from gait_tools.study.page import study_page
from gait_tools.study.session import StudySession


def quiet(part, rows):
    """Listen without a word."""


@pytest.fixture
def session(tmp_path):
    made = StudySession.create(tmp_path / 'run', 'made_up', quick=False, seed=4, workers=1)
    yield made
    made.close()


def study(*measures, **options):
    parts = tuple(
        StudyPart(name=f'part_{number}', measure=measure, **options)
        for number, measure in enumerate(measures)
    )
    return Study(name='made_up', title='A made-up study.', source='nobody', parts=parts)


@pytest.mark.parametrize(
    ('row', 'verdict'),
    [
        (row_near('a', 'a', 1.1, 1.0, 0.2), 'pass'),
        (row_near('a', 'a', 0.7, 1.0, 0.2), 'fail'),
        (row_near('a', 'a', None, 1.0, 0.2), 'fail'),
        (row_near('a', 'a', float('nan'), 1.0, 0.2), 'fail'),
        (row_at_least('a', 'a', 2.0, 2.0), 'pass'),
        (row_at_least('a', 'a', 1.9, 2.0), 'fail'),
        (row_at_most('a', 'a', 2.0, 2.0), 'pass'),
        (row_at_most('a', 'a', float('nan'), 2.0), 'fail'),
        (row_between('a', 'a', 2.0, 1.0, 2.0), 'pass'),
        (row_between('a', 'a', 2.1, 1.0, 2.0), 'fail'),
        (row_between('a', 'a', 0.9, 1.0, 2.0), 'fail'),
        (row_between('a', 'a', None, 1.0, 2.0), 'fail'),
        (skipped_row('a', 'a', 'no engine'), 'skip'),
        (row_info('a', 'a', 2.0), 'info'),
        (row_info('a', 'a', None), 'info'),
        (row_p_value('a', 'a', 0.25, 0.05, 0.001), 'pass'),
        (row_p_value('a', 'a', 0.01, 0.05, 0.001), 'fail'),
        (row_p_value('a', 'a', 0.25, 0.05, 0.25), 'info'),
        (row_at_least('a', 'a', 2.0, 2.0).differ_if_failed(True, 'cause', 'p.png'), 'pass'),
        (row_at_least('a', 'a', 1.0, 2.0).differ_if_failed(True, 'cause', 'p.png'), 'differs'),
        (row_at_least('a', 'a', 1.0, 2.0).differ_if_failed(False, 'cause', 'p.png'), 'fail'),
    ],
)
def test_verdicts(row, verdict):
    assert row.verdict == verdict


def test_a_row_that_differs_says_why_and_shows_it():
    with pytest.raises(ValueError, match='without a cause and a picture'):
        StudyRow(id='a', what='a', verdict='differs', note='cause')
    row = row_at_most('a', 'a', 3.0, 2.0, note='run alone')
    differing = row.differ_if_failed(True, 'it slips', 'slip.png')
    assert (differing.note, differing.picture) == ('run alone; it slips', 'slip.png')
    assert row.differ_if_failed(False, 'it slips', 'slip.png') == row


def test_every_verdict_is_counted_apart(session):
    rows = [
        row_near('a', 'a', 1.0, 1.0, 0.0),
        row_near('b', 'b', 2.0, 1.0, 0.0),
        *(row_near(f'c{i}', 'c', 2.0, 1.0, 0.0).differ_if_failed(True, 'x', 'p') for i in '1234'),
        skipped_row('d', 'd', 'no engine'),
        row_info('e', 'e', 3.0),
        row_info('f', 'f', None),
    ]
    found = run_study(study(lambda session: rows), session, quiet)
    assert found == rows
    counts = {'passed': 1, 'failed': 1, 'differs': 4, 'skipped': 1, 'info': 2}
    assert count_verdicts(found) == counts
    as_json = study_as_json(study(), session, found)
    assert {name: as_json[name] for name in counts} == counts


def test_finished_parts_are_not_measured_again(session):
    calls = []

    def first(session):
        calls.append('first')
        return [row_near('one', 'one', 1.0 / 3.0, 0.3333, 0.1, 'm')]

    def second(session):
        calls.append('second')
        if calls.count('second') == 1:
            raise KeyboardInterrupt
        return [row_at_least('two', 'two', session.derive_seed(1) * 1.0, 0.0)]

    made = study(first, second)
    with pytest.raises(KeyboardInterrupt):
        run_study(made, session, quiet)
    resumed = StudySession.resume(session.folder, 'made_up', workers=1)
    rows = run_study(made, resumed, quiet)
    assert calls == ['first', 'second', 'second']
    assert (resumed.seed, resumed.quick) == (4, False)
    assert rows == [*first(session), *second(session)]
    assert run_study(made, resumed, quiet) == rows


def test_the_page_of_a_resumed_study_has_the_time_of_every_run(session):
    session._began -= 600.0
    session.close()
    resumed = StudySession.resume(session.folder, 'made_up', workers=1)
    resumed._began -= 1200.0
    assert '; 30 min.' in study_page(study(), resumed, [])
    file = session.folder / 'study.json'
    file.write_text(file.read_text().replace('"seconds": ', '"seconds": NaN, "s": '))
    with pytest.raises(ConfigurationError, match='seconds is nan, expected a number'):
        StudySession.resume(session.folder, 'made_up', workers=1)


def test_quick_leaves_out_what_says_so(tmp_path):
    session = StudySession.create(tmp_path / 'run', 'made_up', quick=True, seed=1, workers=1)
    made = study(lambda session: [], skipped_when_quick='takes an hour')
    rows = run_study(made, session, quiet)
    assert [(row.verdict, row.note) for row in rows] == [('skip', 'takes an hour')]


def test_a_value_that_is_no_number_is_null_and_fails(session):
    made = study(lambda session: [row_at_least('a', 'a', float('nan'), 0.0)])
    row = run_study(made, session, quiet)[0]
    assert (row.measured, row.verdict) == (None, 'fail')
    assert run_study(made, session, quiet)[0] == row


def test_folders_of_other_runs_are_refused(session, tmp_path):
    with pytest.raises(ConfigurationError, match='holds a study already'):
        StudySession.create(session.folder, 'made_up', quick=False, seed=4, workers=1)
    with pytest.raises(ConfigurationError, match="a run of 'made_up', not of 'other'"):
        StudySession.resume(session.folder, 'other', workers=1)
    with pytest.raises(ConfigurationError, match='holds no study'):
        StudySession.resume(tmp_path / 'none', 'made_up', workers=1)
    (session.folder / 'study.json').write_text('{')
    with pytest.raises(ConfigurationError, match='is not JSON'):
        StudySession.resume(session.folder, 'made_up', workers=1)


def test_the_page_names_command_seed_and_every_row(session):
    row = row_near('one', 'a | b', 0.31, 0.3, 0.1, 'm', note='level')
    made = study(lambda session: [row, row_info('two', 'time', 7.0, 's')])
    rows = run_study(made, session, quiet)
    page = study_page(made, session, rows)
    assert '`./gait study made_up --seed 4`' in page
    assert r'| one | a \| b | 0.3 m | 0.31 m | +-0.1 | pass | level |' in page
    assert '| two | time |  | 7 s |  | info |  |' in page
    assert '1 passed, 0 failed, 0 differs, 0 skipped, 1 info.' in page


def test_the_command_prints_the_object_and_fails_with_a_row(tmp_path, capsys):
    good = study(lambda session: [row_near('one', 'one', 1.0, 1.0, 0.0), row_info('2', '2', 3.0)])
    bad = study(lambda session: [row_near('one', 'one', 2.0, 1.0, 0.0)])
    with register_temporarily('studies', good=lambda: good, bad=lambda: bad):
        assert cli.main(['study', 'good', '--json', '--run-dir', str(tmp_path / 'good')]) == 0
        values = json.loads(capsys.readouterr().out)
        assert (values['study'], values['quick'], values['seed']) == ('made_up', False, 1)
        assert (values['passed'], values['failed'], values['info']) == (1, 0, 1)
        assert set(values['rows'][0]) >= {
            'id',
            'what',
            'unit',
            'published',
            'measured',
            'tolerance',
            'verdict',
            'note',
        }
        assert (tmp_path / 'good' / 'made_up.md').read_text().startswith('# Study made_up')
        assert cli.main(['study', 'bad', '--quick', '--run-dir', str(tmp_path / 'bad')]) == 1
        printed = capsys.readouterr().out
        assert 'fail    one' in printed
        assert '0 passed, 1 failed, 0 differs, 0 skipped, 0 info\n' in printed
        assert cli.main(['study', 'good', '--resume']) == 2
        assert '--resume needs --run-dir' in capsys.readouterr().err
        folder = str(tmp_path / 'good')
        assert cli.main(['study', 'good', '--resume', '--run-dir', folder, '--seed', '3']) == 2
        assert cli.main(['study', 'god', '--run-dir', str(tmp_path / 'x')]) == 2
        assert "unknown study 'god'" in capsys.readouterr().err


def test_json_form_holds_plain_numbers_only(session):
    made = study(lambda session: [row_near('one', 'one', 1.0, 1.0, 0.0)])
    rows = run_study(made, session, quiet)
    assert json.loads(json.dumps(study_as_json(made, session, rows), allow_nan=False))


SMALL = (
    'robot: legged_box\n'
    'genes: {amplitude: {upper: 0.5}}\n'
    'optimizer: {settings: {population: 3}}\n'
    'duration: 0.2\nfitness: {distance: 1.0}\n'
)


def side_by_side(folder, experiment, seeds, workers=2):
    """Return evolutions of some seeds side by side, and the second one alone."""
    file = folder / 'small.yaml'
    file.write_text(experiment)
    wanted = {f'trial_{seed}': (str(file), {'seed': seed}) for seed in range(seeds)}
    session = StudySession.create(folder / 'run', 'made_up', quick=False, seed=4, workers=workers)
    try:
        return session.evolve_in_parallel(wanted), session.evolve('alone', *wanted['trial_1'])
    finally:
        session.close()


def test_evolutions_side_by_side_are_those_of_one_after_the_other(tmp_path):
    with workspace(tmp_path):
        found, alone = side_by_side(tmp_path, SMALL + 'generations: 2\n', 3)
    log = alone.folder / 'evaluations.csv'
    assert log.read_text() == (found[1].folder / 'evaluations.csv').read_text()
    assert [one.plan.experiment.seed for one in found] == [0, 1, 2]
    assert len({one.rows[0].values['amplitude'] for one in found}) == 3


def test_evolutions_side_by_side_stop_together_and_go_on(tmp_path):
    pytest.importorskip('gait_studies')
    # No legged box has the nodes of this term: every trial of it fails.
    bad = SMALL.replace('distance', 'korbel2013_forward') + 'generations: 2\n'
    (tmp_path / 'bad.yaml').write_text(bad)
    (tmp_path / 'good.yaml').write_text(SMALL + 'generations: 100000\n')
    with workspace(tmp_path):
        session = StudySession.create(tmp_path / 'run', 'made_up', quick=False, seed=4, workers=2)
        wanted = {name: (str(tmp_path / f'{name}.yaml'), {}) for name in ('good', 'bad')}
        with pytest.raises(RunStopped, match="contact node 't1_a'"):
            session.evolve_in_parallel(dict(reversed(wanted.items())))
        session.close()
        # Its lock is free and what it recorded is whole: it could go on.
        store, rows = RunStore.open_run(tmp_path / 'run/runs/good')
        store.close()
        assert all(len(generation) in (1, 3) for generation in rows)
