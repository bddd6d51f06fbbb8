# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The report page: whole, self-contained, and true to the log and the record."""

from __future__ import annotations

import base64
import csv
from dataclasses import replace
import hashlib
import json
import re
import shutil

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.metrics import trial_metrics
from gait_core.testing.doubles import InProcessEvaluator, make_rollout
from gait_core.testing.free_bodies import tied_boxes
from gait_core.testing.workspace import workspace
from gait_core.trial.champion import read_champion
from gait_core.trial.loop import run_loop
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.loop import Evolution
from gait_evolver.plan import resolve_experiment
from gait_evolver.run.files import format_csv
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import RunStore, read_generations, read_run
from gait_tools import cli
from gait_tools.report import charts
from gait_tools.report.build import build_report, load_subject
from gait_tools.report.replay import _hull, replay_data

EXPERIMENT = {
    'description': 'A <b>box</b> & its legs.',
    'robot': 'legged_box',
    'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}, 'frequency': None},
    'duration': 1.0,
    'fitness': {'distance': 1.0},
    'gates': {'speed': 0.9, 'airborne': 0.5},
    'optimizer': {'settings': {'elites': 1}},
    'population': 6,
    'generations': 4,
    'repeats': 2,
    'seed': 5,
    'constraints': {'height_mean_m': {'at_most': 100.0}, 'survival': {'at_least': 0.5}},
    'measures': ['stance_fraction.leg0', 'tilt_max_rad'],
}


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    with workspace(tmp_path_factory.mktemp('workspace')):
        folder = tmp_path_factory.mktemp('run') / 'first run'
        store = RunStore.create(
            folder, resolve_experiment(rebuild_experiment(EXPERIMENT, 'small', {}))
        )
        Evolution(store, InProcessEvaluator()).run()
        store.close()
        yield folder


@pytest.fixture(scope='module')
def html(run):
    return build_report(load_subject(run)).html()


@pytest.fixture(scope='module')
def data(html):
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', html)
    return json.loads(found[1])


@pytest.fixture(scope='module')
def rollout(run):
    return run_loop(read_champion(run / 'champion.yaml').spec).rollout()


def floats(text, *shape):
    return np.frombuffer(base64.b64decode(text), dtype='<f4').reshape(shape)


# The page


def test_it_needs_nothing_from_outside(html):
    library = html.index('<script>', html.index('id="data"'))
    own = html[:library] + html[html.rindex('<script>') :]
    assert not re.search(r'(src|href)="(?!data:,")', own)
    assert 'http' not in re.sub(r'<pre>.*?</pre>', '', own, flags=re.DOTALL)
    assert not re.search(r'@import|url\(|fetch\(|XMLHttpRequest', own)
    assert len(html.encode()) < 10e6


def test_it_has_every_section_and_escapes_what_users_write(html):
    for title in (
        'The best gait',
        'Fitness',
        'Spread over the repeats',
        'Parameters',
        'Gait diagram',
        'Zero-moment point',
        'Energy',
        'How trials ended, and the validity gates',
        'Repeat it',
    ):
        assert f'<h2>{title}</h2>' in html
    assert 'A &lt;b&gt;box&lt;/b&gt; &amp; its legs.' in html
    assert 'equal to its record to the last bit' in html


def test_the_command_repeats_the_run(run, html, tmp_path, monkeypatch):
    command = re.search(r'<pre id="evolve">(.*?)</pre>', html)[1].replace('&#x27;', "'")
    assert f"gait evolve '{run}'/experiment.yaml --generations 4" in command
    again = resolve_experiment(
        rebuild_experiment(
            __import__('yaml').safe_load((run / 'experiment.yaml').read_text()), 'x', {}
        )
    )
    store = RunStore.create(tmp_path / 'again', again)
    Evolution(store, InProcessEvaluator()).run()
    store.close()
    logs = [(folder / 'evaluations.csv').read_bytes() for folder in (run, tmp_path / 'again')]
    assert logs[0] == logs[1]


def test_a_champion_alone_has_a_page_without_its_search(run):
    page = build_report(load_subject(run / 'champion.yaml'))
    text = ''.join(page.body)
    assert page.replay is not None and 'Gait diagram' in text
    assert '<h2>Fitness</h2>' not in text and 'gait evolve' not in text


def test_the_command_writes_it_beside_the_run(run, capsys):
    assert cli.main(['report', str(run), '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['report'] == str(run / 'report.html')
    assert (run / 'report.html').stat().st_size == found['bytes']


@pytest.mark.parametrize('flag', ['--out', '--markdown'])
@pytest.mark.parametrize('name', ['evaluations.csv', 'champion.yaml', 'index.html'])
def test_it_replaces_its_own_output_only(tmp_path, run, capsys, flag, name):
    file = tmp_path / name
    file.write_text('<!DOCTYPE html>\n<html>mine</html>\n')
    before = file.read_bytes()
    other = file.with_suffix('.html' if flag == '--out' else '.md')
    other = other.with_stem('index_2') if other == file else other
    assert cli.main(['report', str(run), '--card', flag, str(file)]) == 2
    error = capsys.readouterr().err
    assert error.count('\n') == 1 and str(file) in error and f"nearest valid: '{other}'" in error
    assert file.read_bytes() == before


def test_an_earlier_page_is_replaced(tmp_path, run):
    for _ in range(2):
        assert cli.main(['report', str(run), '--out', str(tmp_path / 'a page'), '--json']) == 0


def test_mistakes_are_one_line(tmp_path, run, capsys):
    (tmp_path / 'empty').mkdir()
    for words, message in (
        ([str(tmp_path / 'empty')], 'is not a run directory'),
        ([str(tmp_path / 'none.yaml')], 'No such file'),
        ([str(run), '--out', str(tmp_path / 'no' / 'x.html')], 'does not exist'),
        ([str(run), '--out', str(tmp_path / 'empty')], "empty' is a folder"),
    ):
        assert cli.main(['report', *words]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count('\n') == 1


# The charts


def test_the_fitness_chart_ends_at_the_champion(run, data):
    best = data['charts'][0]['traces'][-1]
    assert best['name'] == 'best so far'
    assert best['y'] == sorted(best['y']) and len(best['y']) == 4
    assert best['y'][-1] == pytest.approx(read_champion(run / 'champion.yaml').fitness, rel=1e-4)


def test_the_parameters_end_at_the_champion(run, data):
    champion = read_champion(run / 'champion.yaml')
    generations = read_generations(run)
    found = charts.parameter_charts(
        generations, {'amplitude': 'rad', 'frequency': 'Hz'}, read_run(run)[1]
    )
    for chart in found:
        assert chart['traces'][-1]['y'][-1] == pytest.approx(
            champion.spec.parameters[chart['title']], rel=1e-4
        )
    low, high = found[0]['traces'][:2]
    assert all(a <= b for a, b in zip(low['y'], high['y'], strict=True))


def test_constraints_and_measures_have_tables(html):
    assert re.search(r'height_mean_m</td><td[^>]*>at most 100</td><td[^>]*>(\d+) of \1<', html)
    assert re.search(r'survival</td><td[^>]*>at least 0.5</td>', html)
    assert re.search(r'stance_fraction.leg0</td>(<td[^>]*>(0|1|0\.\d+)</td>){3}', html)


def test_outcomes_count_every_trial_of_the_log(run, html):
    generations = read_generations(run)
    chart = charts.outcome_chart(generations)
    counts = {trace['name']: sum(trace['y']) for trace in chart['traces']}
    rows = [row for rows in generations for row in rows]
    assert sum(counts.values()) == len(rows)
    assert counts == {s: sum(row.status == s for row in rows) for s in counts}
    # The limit of speed was set so low that some gaits exceed it.
    assert counts['invalid:speed'] > 0
    cells = re.findall('<td[^>]*>(.*?)</td>', html)
    for status, count in counts.items():
        at = cells.index(status)
        assert cells[at + 1 : at + 3] == [str(count), f'{count / len(rows):.1%}']


def test_energy_ends_at_the_metric(rollout):
    chart = charts.energy_chart(rollout)
    positive, signed = (trace['y'][-1] for trace in chart['traces'])
    assert signed == pytest.approx(trial_metrics(rollout)['energy_signed_j'], rel=1e-4)
    # Positive power summed over the joints, then over time: the same as joint by joint.
    assert positive == pytest.approx(trial_metrics(rollout)['energy_j'], rel=1e-4)


def test_bars_of_the_gait_diagram_are_the_stances(rollout):
    chart = charts.gait_chart(rollout)
    assert [trace['name'] for trace in chart['traces']] == [leg.name for leg in rollout.robot.legs]
    ends = [b + x for t in chart['traces'] for b, x in zip(t['base'], t['x'], strict=True)]
    assert max(ends) <= rollout.ticks * rollout.dt + rollout.dt + 1e-9


def test_margins_are_shown_for_as_long_as_the_robot_stands_on_an_area(rollout):
    chart = charts.margin_chart(rollout)
    metrics = trial_metrics(rollout)
    shares, middles = np.array(chart['traces'][0]['y']), np.array(chart['traces'][0]['x'])
    assert shares.sum() == pytest.approx(100.0 * metrics['support_area_fraction'], abs=0.1)
    assert middles @ shares / shares.sum() == pytest.approx(
        1e3 * metrics['zmp_margin_mean_m'], abs=chart['traces'][0]['width']
    )


@pytest.mark.parametrize('count', [1, 2, 7, 25, 200, 5000])
def test_generations_have_whole_ticks_and_few(count):
    step = charts._integer_axis(count)['dtick']
    assert step >= 1 and step == int(step) and count / step <= 10


# The replay


def test_the_player_shows_the_recorded_poses(rollout):
    found = replay_data(rollout)
    poses = floats(found['poses'], found['frames'], found['links'], 7)
    every = round(found['period'] / rollout.dt)
    frames = link_poses(rollout.robot, rollout.joint_positions, rollout.body_poses)[::every]
    assert len(frames) == found['frames']
    np.testing.assert_allclose(poses[..., :3], frames[..., :3, 3], atol=1e-5)
    x, y, z, w = np.moveaxis(poses[..., 3:].astype(float), -1, 0)
    # Third diagonal element of the rotation that the quaternion stands for.
    np.testing.assert_allclose(1.0 - 2.0 * (x * x + y * y), frames[..., 2, 2], atol=1e-5)
    vertices = floats(found['vertices'], -1, 3)
    assert len(vertices) == len(found['link'])
    assert np.max(found['faces']) < len(vertices)
    assert len(found['leg']) == len(found['faces'][0])


def test_a_hull_is_closed_and_faces_outwards():
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], dtype=float)
    for points, radius, volume in ((corners, 0.0, 6.0), (np.zeros((1, 3)), 1.0, None)):
        vertices, faces = _hull(points, radius)
        a, b, c = (vertices[faces[:, i]] for i in range(3))
        # The volume by the divergence theorem: positive where faces look outwards.
        found = np.einsum('fi,fi->', a, np.cross(b, c)) / 6.0
        if volume is not None:
            assert found == pytest.approx(volume)
        assert 0.0 < found < 4.0 / 3.0 * np.pi + 6.0
        edges = {tuple(sorted((f[i], f[(i + 1) % 3]))) for f in faces for i in range(3)}
        assert len(vertices) - len(edges) + len(faces) == 2


def test_force_elements_are_drawn_between_their_ends(rollout):
    robot = tied_boxes()
    poses = np.tile(np.array([0.0, 0, 1, 0, 0, 0, 1]), (rollout.ticks + 1, len(robot.roots), 1))
    tied = make_rollout(
        robot,
        rollout.spec,
        rollout.ticks,
        body_poses=poses,
    )
    found = replay_data(tied)
    element = robot.force_elements[0]
    np.testing.assert_allclose(
        floats(found['elements'], -1, 3)[:2], [element.point_a, element.point_b], rtol=1e-6
    )
    assert len(found['element_link']) == 2 * len(robot.force_elements)


# Long runs


def test_200_generations_stay_small(run):
    template = read_generations(run)[0]
    generations = [
        [
            replace(row, generation=g, individual=i, repeat=0, fitness=float(g + i))
            for i, row in enumerate([*template] * 4)
        ]
        for g in range(200)
    ]
    subject = replace(load_subject(run), generations=generations)
    assert isinstance(generations[0][0], TrialRow)
    html = build_report(subject).html()
    assert len(html.encode()) < 10e6


def test_a_run_without_a_generation_is_refused(run, tmp_path):
    store = RunStore.create(
        tmp_path / 'new', resolve_experiment(rebuild_experiment(EXPERIMENT, 'new', {}))
    )
    store.close()
    with pytest.raises(ConfigurationError, match='no generation is finished yet'):
        load_subject(tmp_path / 'new')


@pytest.mark.parametrize(
    ('line', 'old', 'new', 'message'),
    [
        (0, 'gait.amplitude', 'gait.amplitud', "the column 'gait.amplitude' is missing"),
        (0, 'term.distance', 'term.distanc', "the column 'term.distance' is missing"),
        (1, '', '', 'line 2 was changed: it lacks the value of a gene'),
    ],
)
def test_a_log_without_what_its_experiment_needs_is_refused(
    run, tmp_path, line, old, new, message
):
    folder = tmp_path / 'copy'
    shutil.copytree(run, folder)
    with (folder / 'evaluations.csv').open(newline='') as file:
        table = list(csv.reader(file))
    table[line][table[0].index(old or 'gait.amplitude')] = new
    log = format_csv(table).encode()
    (folder / 'evaluations.csv').write_bytes(log)
    state = json.loads((folder / 'checkpoint.json').read_text())
    state |= {'log_bytes': len(log), 'log_sha256': hashlib.sha256(log).hexdigest()}
    (folder / 'checkpoint.json').write_text(json.dumps(state))
    with pytest.raises(ConfigurationError, match=message):
        load_subject(folder)
