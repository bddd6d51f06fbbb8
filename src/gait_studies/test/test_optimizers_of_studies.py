# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Optimisers of publications on functions with known optima; the rest is in test/conformance."""

import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.registry import load


def sphere(x):
    return -float(np.sum((x - 0.7) ** 2))


def test_posture_genetic_converges_to_the_stated_precision():
    # Uniform reset only: a gene's error falls with the number of its draws, no faster.
    for seed in range(5):
        optimizer = load('optimizers', 'posture_genetic')(
            dimension=6, seed=seed, population=40, mutation_probability=0.1
        )
        best, used = -np.inf, 0
        while used < 3000:
            told = [
                Evaluation(id=one.id, status='ok', objectives=np.array([sphere(one.values)]))
                for one in optimizer.ask()
            ]
            used += len(told)
            best = max([best, *(one.fitness for one in told)])
            optimizer.tell(told)
        assert best > -3e-2, seed


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'domain': 'stride'}, 'nearest valid: 48'),
        ({'domain': 'strid'}, "did you mean 'stride'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        load('optimizers', 'posture_genetic')(dimension=3, seed=0, **settings)
