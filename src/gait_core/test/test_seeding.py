# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.trial.seeding import MAX_SEED, check_seed, derived_seed

keys = st.lists(st.integers(0, 2**31), max_size=4).map(tuple)


@given(run=st.integers(0, MAX_SEED), key=keys)
def test_a_seed_depends_on_run_and_key_alone(run, key):
    seed = derived_seed(run, *key)
    derived_seed(run, *key, 1)
    assert derived_seed(run, *key) == seed
    assert 0 <= seed <= MAX_SEED


def test_no_two_of_many_items_share_a_seed():
    seeds = {
        derived_seed(run, generation, individual, repeat)
        for run in range(4)
        for generation in range(20)
        for individual in range(40)
        for repeat in range(3)
    }
    assert len(seeds) == 4 * 20 * 40 * 3


def test_a_shorter_key_is_another_item():
    assert len({derived_seed(1), derived_seed(1, 0), derived_seed(1, 0, 0)}) == 3


def test_streams_of_neighbouring_items_do_not_correlate():
    draws = np.array(
        [np.random.default_rng(derived_seed(7, 0, i)).normal(size=400) for i in range(30)]
    )
    correlation = np.corrcoef(draws)[np.triu_indices(30, k=1)]
    # 435 pairs of 400 independent draws: a standard deviation of 0.05, five of them at most.
    assert np.abs(correlation).max() < 0.25
    assert abs(correlation.mean()) < 0.01


@pytest.mark.parametrize('seed', [-1, MAX_SEED + 1, 1.0, True, '1', None])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(ConfigurationError, match='seed'):
        check_seed(seed)


def test_numpy_integers_are_seeds():
    assert type(check_seed(np.int64(5))) is int
