# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Verdicts of studies on made-up numbers: each can fail, and none differs without its cause."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import ttest_ind

from gait_core.testing.skips import need_engine
from gait_evolver.run.log import TrialRow
from gait_studies.cafarelli2017.comparisons import late_cause, mean_row, singles_row
from gait_studies.cafarelli2017.runs import measure_higher_rates
from gait_studies.cafarelli2017.strides.published_sweeps import sweep_rows
from gait_studies.korbel2013 import search
from gait_studies.korbel2013.evolution import result_rows
from gait_studies.mckenna1990 import processor_time
from gait_studies.mckenna1990.reflexes import gain_row, no_worse_row
from gait_studies.mckenna1990.walks import reversed_row, slippery_row, sticky_ratio_row
from gait_studies.pike2003.search import contact_cause, transfer_cause
from gait_tools.study.definition import row_at_most
from gait_tools.study.session import StudySession


def verdicts(rows):
    return {row.id: row.verdict for row in rows}


def crawl(number, distance):
    """Return the row of a gait that goes as far [in] and straight ahead."""
    ways = {'travel': distance, 'forward': distance, 'twist': 0.0, 'lateral': 0.0}
    return TrialRow(
        generation=number,
        individual=0,
        id=number,
        repeat=0,
        engine='cables',
        parents=(),
        seed=1,
        status='ok',
        fitness=distance,
        ticks=750,
        trial_hash='',
        values={},
        terms={f'korbel2013_{name}': way for name, way in ways.items()},
        metrics={},
    )


def spine_rows(distances, history, quick=False):
    """Return the rows of ten equal evolutions whose best gaits go as far [in], in turn."""
    generations = [[crawl(number, way)] for number, way in enumerate(distances)]
    evolution = SimpleNamespace(
        generations=generations, rows=[row for rows in generations for row in rows]
    )
    gain = 100.0 * (max(distances) / distances[0] - 1.0)
    return result_rows([evolution] * 10, [np.array(history)] * 10, np.full(10, gain), quick)


def test_searches_of_a_spine_that_gain_one_percent_fail_without_an_untrue_note():
    rows = spine_rows([4.95, 5.0], [4.0, 4.04])
    assert verdicts(rows) == {
        'check_28_gain': 'fail',
        'check_28_distance': 'fail',
        'best_distance': 'fail',
        'penalties': 'pass',
    }
    assert not any('go on' in row.note for row in rows)


def test_searches_of_a_spine_beyond_the_range_differ_only_while_they_still_rise():
    far = [6.6, 14.5, 31.0]
    rows = spine_rows(far, np.linspace(3.0, 25.0, 300))
    assert verdicts(rows) == {
        'check_28_gain': 'differs',
        'check_28_distance': 'differs',
        'best_distance': 'pass',
        'penalties': 'pass',
    }
    assert 'pass 14.34 inches after a median of 2 trials' in rows[0].note
    stalled = verdicts(spine_rows(far, np.full(300, 25.0)))
    assert (stalled['check_28_gain'], stalled['check_28_distance']) == ('fail', 'fail')
    # From better random gaits than those of the thesis, the distance says nothing on the search.
    lucky = verdicts(spine_rows([13.0, 31.0, 50.0], np.linspace(3.0, 25.0, 300)))
    assert lucky['check_28_distance'] == 'fail'
    shown = spine_rows(far, np.linspace(3.0, 25.0, 300), quick=True)
    assert [row.verdict for row in shown] == ['info', 'info', 'info', 'pass']


@pytest.mark.physics
def test_the_row_of_the_fitness_of_a_spine_is_that_of_the_experiment(tmp_path, monkeypatch):
    need_engine('cables')
    session = StudySession.create(tmp_path / 'run', 'korbel2013', quick=True, seed=1, workers=1)
    assert [row.verdict for row in search.measure_fitness(session)] == ['pass']
    published = search.load_plan
    changes = {'fitness': {'korbel2013_twist': -5.0}}
    monkeypatch.setattr(search, 'load_plan', lambda name: published(name, changes))
    (row,) = search.measure_fitness(session)
    assert (row.verdict, row.measured) == ('fail', pytest.approx(9.0))
    session.close()


def test_scores_that_rank_acceptance_do_not_excuse_a_worse_best():
    searched, accepted = np.array([0.4, 0.5, 0.6, 0.7]), np.array([0.9, 1.0, 1.1, 1.2])
    worse = row_at_most('check_28_search', 'score', 0.9, 0.7)
    assert worse.differ_if_failed(*transfer_cause(searched, accepted), 'p.png').verdict == 'fail'
    unlike = transfer_cause(searched, accepted[::-1])
    assert worse.differ_if_failed(*unlike, 'p.png').verdict == 'differs'
    assert 'rank correlation -1.00' in unlike[1]
    # Nothing is known on the rank of two walks that stand.
    assert not transfer_cause(searched, np.array([0.9, 1.0, np.inf, np.inf]))[0]


def test_contact_decides_on_two_scores_only_if_their_smooth_difference_is_small():
    changes = np.ones(100)
    changes[:20] = 10.0
    landings = np.where(np.arange(100) < 20, 1.0, 50.0)
    is_cause, text = contact_cause((0.7, 1.4), (0.4, 0.5), changes, landings)
    assert is_cause
    assert '86% of the difference comes from faster changes' in text and '71% of the score' in text
    assert not contact_cause((0.7, 1.4), (0.4, 1.0), changes, landings)[0]
    assert not contact_cause((0.7, 1.4), (0.4, 0.5), np.ones(100), landings)[0]


def runs(finished, fell, reason=''):
    """Return results of walks on steps: first those that finish."""
    ok = [{'status': 'ok', 'time': 1.0, 'way': 0.05, 'reason': ''}] * finished
    return ok + [{'status': 'fell', 'time': 0.4, 'way': 0.02, 'reason': reason}] * fell


def test_the_gain_by_reflexes_passes_differs_and_fails():
    off, tilt = runs(10, 10), 'the base tilts by 1.01 rad, more than 1.00'
    assert gain_row({'off': off, 'all': runs(20, 0)}).verdict == 'pass'
    assert gain_row({'off': off, 'all': runs(11, 9, tilt)}).verdict == 'differs'
    assert gain_row({'off': off, 'all': runs(11, 9, 'the base is too low')}).verdict == 'fail'
    # No walk falls: there is no cause to be measured.
    assert gain_row({'off': runs(20, 0), 'all': runs(20, 0)}).verdict == 'fail'


def test_two_seeds_cannot_fail_a_sign_test_and_are_shown_only():
    assert no_worse_row('push', {'off': runs(2, 0), 'all': runs(0, 2)}).verdict == 'info'
    assert no_worse_row('push', {'off': runs(20, 0), 'all': runs(10, 10)}).verdict == 'fail'
    assert no_worse_row('push', {'off': runs(20, 0), 'all': runs(19, 1)}).verdict == 'pass'


def test_walks_of_the_roach_differ_by_what_they_did():
    assert sticky_ratio_row(8.0, 5.5, '').verdict == 'pass'
    assert sticky_ratio_row(8.0, 7.8, '').verdict == 'differs'
    assert sticky_ratio_row(5.6, 5.4, '').verdict == 'fail'
    assert sticky_ratio_row(30.0, 7.0, '').verdict == 'fail'
    assert reversed_row(1.0, 6.5, 0.5, 2.0).verdict == 'pass'
    assert reversed_row(3.8, 6.5, -0.9, 94.0).verdict == 'differs'
    assert reversed_row(3.8, 6.5, 2.6, 94.0).verdict == 'fail'
    assert reversed_row(3.8, 6.5, -2.6, 3.0).verdict == 'fail'
    assert slippery_row(1.0, 6.5, 'ok', tips_over=False).verdict == 'pass'
    assert slippery_row(4.0, 6.5, 'fell', tips_over=True).verdict == 'differs'
    assert slippery_row(4.0, 6.5, 'ok', tips_over=False).verdict == 'fail'


def test_no_study_fails_by_the_speed_of_the_machine(monkeypatch, tmp_path):
    monkeypatch.setattr(processor_time, '_processor_time', lambda spec: 1e6 * spec.duration)
    rows = processor_time.measure_processor_time(SimpleNamespace(quick=True))
    assert {row.verdict for row in rows} <= {'info', 'skip'}
    assert all(row.measured == pytest.approx(1e6) for row in rows if row.verdict == 'info')


def spread(mean, deviation, number=10):
    """Return values with a mean and a sample deviation."""
    values = np.arange(number) - 0.5 * (number - 1)
    return mean + deviation * values / np.std(values, ddof=1)


def test_a_mean_is_compared_by_the_test_of_welch_with_both_deviations():
    ours = spread(0.2, 0.01)
    for shift in (0.0, 0.02, 0.05, 0.06, 0.08):
        printed = spread(0.2 + shift, 0.04)
        p_value = ttest_ind(ours, printed, equal_var=False).pvalue
        row = mean_row('a', 'a', ours, printed.mean(), 0.04)
        assert row.verdict == ('pass' if p_value >= 0.001 else 'fail')
        assert f'p = {p_value:.2g}' in row.note
    # Without a printed deviation, ours stands for it.
    p_value = ttest_ind(ours, spread(0.21, 0.01), equal_var=False).pvalue
    assert f'p = {p_value:.2g}' in mean_row('a', 'a', ours, 0.21, None).note


def test_means_far_off_table_6_4_differ_with_their_cause_or_fail():
    printed = {row.value: row for row in sweep_rows('table_6_4')}
    rows = {
        rate: mean_row('a', 'a', spread(*ours), printed[rate].printed, printed[rate].deviation)
        for rate, ours in {0.03: (0.6969, 0.008164), 0.05: (0.6883, 0.003032)}.items()
    }
    assert [row.verdict for row in rows.values()] == ['fail', 'fail']
    means = np.array([0.6817, 0.6969, 0.7129, 0.734, 0.76, 0.78])
    late = late_cause(means, printed[0.03].printed, ordered=True)
    assert rows[0.03].differ_if_failed(*late, 'p.png').verdict == 'differs'
    assert 'needs 500 generations' in late[1]
    for others, ordered in ((means, False), (means - 0.1, True), (means + 0.1, True)):
        cause = late_cause(others, printed[0.03].printed, ordered)
        assert rows[0.03].differ_if_failed(*cause, 'p.png').verdict == 'fail'


def test_three_single_runs_cannot_fail_by_rank_and_ten_can():
    printed = spread(0.3, 0.01)
    assert singles_row('a', 'a', printed[:3] + 1.0, printed).verdict == 'info'
    assert singles_row('a', 'a', printed + 1.0, printed).verdict == 'fail'
    assert singles_row('a', 'a', printed + 1e-4, printed).verdict == 'pass'


@pytest.mark.parametrize(('largest', 'verdict'), [(0.446, 'pass'), (1.2, 'fail')])
def test_section_6_7_is_one_row_of_an_order(largest, verdict):
    def run_tasks(name, function, tasks):
        values = np.linspace(0.1, largest, len(tasks))
        return {key: [{'fitness': value}] for key, value in zip(tasks, values, strict=True)}

    (row,) = measure_higher_rates(SimpleNamespace(run_tasks=run_tasks))
    assert (row.id, row.verdict) == ('section_6_7', verdict)
