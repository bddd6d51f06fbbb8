# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every registered optimiser keeps the contract of ``gait.optimizers``."""

from __future__ import annotations

from contextlib import suppress
import hashlib
import json
import os
from pathlib import Path
import random
import subprocess
import sys

import numpy as np
import pytest

from gait_core import registry
from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError, NotInstalled, ProtocolError
from gait_core.parameters.declaration import Parameters, declared_parameters
from gait_core.testing.skips import need_optimizer
from gait_cpg.perceptron.layout import PerceptronLayout

OPTIMIZERS = registry.names('optimizers')
INSTALLED = []
for _name in OPTIMIZERS:
    with suppress(NotInstalled):
        registry.optimizer(_name)
        INSTALLED.append(_name)
DIMENSION, GENERATIONS = 6, 4
SHAPES = PerceptronLayout(perceptrons=17, memory=134, channels=35, outputs=16)
"""The smallest network of the spider that every optimiser of networks can search."""
PATTERN_SHAPES = PerceptronLayout(perceptrons=145, memory=134, channels=35, outputs=16)
"""The smallest network of the pattern `omnidirectional`."""
ALGORITHMS = [
    *((name, {}) for name in INSTALLED),
    *(
        (name, {info.name: choice})
        for name in INSTALLED
        for info in declared_parameters(registry.optimizer(name).Settings)
        for choice in info.choices
        if choice != info.default
    ),
    ('genetic', {'reevaluate': True}),
    ('cma_es', {'restarts': 3, 'tolerance': 0.1}),
]
"""Every optimiser, also with every other choice of algorithm."""


def made(name, seed=3, **settings):
    cls = need_optimizer(name)
    if cls.searches_arrays:
        if settings.get('pattern') == 'omnidirectional':
            return cls(dimension=0, seed=seed, shapes=PATTERN_SHAPES, population=4, **settings)
        return cls(dimension=0, seed=seed, shapes=SHAPES, **settings)
    dimension = 48 if settings.get('domain') == 'stride' else DIMENSION
    return cls(dimension=dimension, seed=seed, **settings)


def fitness(candidate):
    """Return a fitness that depends on the genes of a candidate."""
    weights = sum(float(array[0, :5].sum()) for array in candidate.arrays.values())
    return -float(np.sum((candidate.values - 0.7) ** 2)) - weights


def told(candidates):
    return [
        Evaluation(id=one.id, status='ok', objectives=np.array([fitness(one)]))
        for one in candidates
    ]


def content(candidates):
    return [
        (one.id, one.parents, one.values.tobytes(), *(a.tobytes() for a in one.arrays.values()))
        for one in candidates
    ]


@pytest.mark.parametrize('name', OPTIMIZERS)
def test_its_settings_are_declared_and_held(name):
    cls = need_optimizer(name)
    assert issubclass(cls.Settings, Parameters)
    assert all(info.doc.endswith('.') for info in declared_parameters(cls.Settings))
    with pytest.raises(ConfigurationError, match='populaton'):
        made(name, populaton=4)


@pytest.mark.parametrize('name', OPTIMIZERS)
def test_what_it_asks_for_is_in_the_cube_or_of_the_shapes(name):
    optimizer = made(name)
    values = 0 if type(optimizer).searches_arrays else DIMENSION
    shapes = dict(SHAPES) if type(optimizer).searches_arrays else {}
    known = set()
    for _ in range(GENERATIONS):
        candidates = optimizer.ask()
        ids = [one.id for one in candidates]
        assert len(set(ids)) == len(ids)
        for one in candidates:
            assert one.values.shape == (values,)
            assert ((one.values >= 0.0) & (one.values <= 1.0)).all()
            assert {key: array.shape for key, array in one.arrays.items()} == shapes
            assert all(array.dtype == np.float32 for array in one.arrays.values())
            assert set(one.parents) <= known
            assert not any(array.flags.writeable for array in one.arrays.values())
            assert not (values and one.values.flags.writeable)
        known |= set(ids)
        optimizer.tell(told(candidates))
    assert optimizer.stop() == ''


@pytest.mark.parametrize('name', OPTIMIZERS)
def test_it_answers_every_question_of_the_contract(name):
    optimizer = made(name)
    optimizer.tell(told(optimizer.ask()))
    assert isinstance(optimizer.keeps_fitness, bool)
    assert isinstance(optimizer.reevaluates, bool)
    assert optimizer.pareto_front().ndim == 2


@pytest.mark.parametrize('name', OPTIMIZERS)
def test_asks_and_tells_take_turns(name):
    optimizer = made(name)
    with pytest.raises(ProtocolError, match='tell was called before ask'):
        optimizer.tell([])
    candidates = optimizer.ask()
    with pytest.raises(ProtocolError, match='ask was called twice'):
        optimizer.ask()
    with pytest.raises(ProtocolError, match='evaluations have ids'):
        optimizer.tell(told(candidates)[1:])


@pytest.mark.parametrize('name', OPTIMIZERS)
def test_replayed_tells_restore_it_and_the_seed_alone_decides(name):
    np.random.seed(1)  # noqa: NPY002 - the state that must stay untouched
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    original, log, asked = made(name), [], []
    for _ in range(GENERATIONS):
        asked.append(original.ask())
        log.append(told(asked[-1]))
        original.tell(log[-1])
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    rebuilt = made(name)
    for candidates, evaluations in zip(asked, log, strict=True):
        assert content(rebuilt.ask()) == content(candidates)
        rebuilt.tell(evaluations[::-1])
    assert content(rebuilt.ask()) == content(original.ask())
    assert content(made(name, seed=4).ask()) != content(asked[0])


@pytest.mark.parametrize('name', OPTIMIZERS)
def test_it_survives_trials_none_of_which_can_win(name):
    optimizer = made(name)
    for _ in range(GENERATIONS):
        candidates = optimizer.ask()
        assert all(np.isfinite(one.values).all() for one in candidates)
        assert all(np.isfinite(a).all() for one in candidates for a in one.arrays.values())
        optimizer.tell(
            [Evaluation(id=one.id, status='diverged', objectives=None) for one in candidates]
        )


@pytest.mark.parametrize('name', [n for n in INSTALLED if registry.optimizer(n).searches_arrays])
def test_one_that_searches_arrays_refuses_parameters_and_other_shapes(name):
    cls = registry.optimizer(name)
    with pytest.raises(ConfigurationError, match='not genes'):
        cls(dimension=2, seed=1, shapes=SHAPES)
    with pytest.raises(ConfigurationError, match='layers of perceptrons'):
        cls(dimension=0, seed=1, shapes={'gains': (3, 3)})


def mixed(candidates):
    """Return evaluations of a generation: some failed, some that violate a constraint."""
    return [
        Evaluation(id=one.id, status='diverged', objectives=None)
        if i % 3 == 1
        else Evaluation(
            id=one.id,
            status='ok',
            objectives=np.array([fitness(one)]),
            constraints={'width': 0.5 if i % 4 else -0.1},
        )
        for i, one in enumerate(candidates)
    ]


def digest(candidates):
    found = hashlib.sha256()
    for identity, parents, *arrays in content(candidates):
        found.update(f'{identity} {parents}'.encode() + b''.join(arrays))
    return found.hexdigest()


def digests(name, settings, generations):
    """Return a digest of what each generation asks for; some candidates fail."""
    optimizer, found = made(name, **settings), []
    for _ in range(generations):
        candidates = optimizer.ask()
        found.append(digest(candidates))
        optimizer.tell(mixed(candidates))
    return found


def print_continued(seed):
    """Poison the global generators, and print the digests of all algorithms after a replay."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - what no optimiser may draw from
    print(json.dumps([digests(name, settings, 10) for name, settings in ALGORITHMS]))


def test_a_fresh_process_with_other_global_seeds_asks_for_the_same():
    np.random.seed(2)  # noqa: NPY002
    whole = [digests(name, settings, 10) for name, settings in ALGORITHMS]
    assert all(len(set(one)) == 10 for one in whole)
    folder = str(Path(__file__).parent)
    child = subprocess.run(
        [sys.executable, '-c', 'import test_optimizers; test_optimizers.print_continued(77)'],
        cwd=folder,
        env={**os.environ, 'PYTHONHASHSEED': '5', 'PYTHONPATH': join_paths(folder)},
        text=True,
        capture_output=True,
        timeout=300,
        check=True,
    )
    for algorithm, before, after in zip(ALGORITHMS, whole, json.loads(child.stdout), strict=True):
        assert after == before, algorithm


def join_paths(folder):
    return os.pathsep.join([folder, os.environ.get('PYTHONPATH', '')])
