# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A record on disk is read as the same rollout, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.measures.metrics import trial_metrics
from gait_core.parameters.plain_data import sha256_of
from gait_core.testing.doubles import spec_for_test
from gait_core.testing.workspace import workspace
from gait_core.trial.loop import run_loop
from gait_core.trial.record import read_record, rollout_arrays, write_record


@pytest.fixture
def loop(tmp_path):
    with workspace(tmp_path / 'workspace'):
        yield run_loop(spec_for_test())


def test_everything_comes_back(tmp_path, loop):
    rollout = loop.rollout()
    write_record(tmp_path / 'new' / 'record', rollout, loop.result())
    again, result = read_record(tmp_path / 'new' / 'record')
    assert result.trial_hash == loop.result().trial_hash
    assert sha256_of(again.spec) == sha256_of(rollout.spec)
    arrays = rollout_arrays(rollout)
    assert rollout_arrays(again).keys() == arrays.keys() and len(arrays) > 14
    for name, array in rollout_arrays(again).items():
        np.testing.assert_array_equal(array, arrays[name])
    assert trial_metrics(again) == trial_metrics(rollout)


def test_bad_folders_are_named(tmp_path, loop):
    with pytest.raises(ConfigurationError, match='No such file'):
        read_record(tmp_path)
    (tmp_path / 'file').write_text('')
    with pytest.raises(ConfigurationError, match='File exists'):
        write_record(tmp_path / 'file', loop.rollout(), loop.result())
    write_record(tmp_path / 'record', loop.rollout(), loop.result())
    (tmp_path / 'record' / 'rollout.npz').write_text('x')
    with pytest.raises(ConfigurationError, match='holds no record'):
        read_record(tmp_path / 'record')
