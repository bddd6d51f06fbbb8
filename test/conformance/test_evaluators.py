# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every registered evaluator keeps the contract of ``gait.evaluators``."""

from __future__ import annotations

from dataclasses import replace
import os

import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError, NotInstalled
from gait_core.testing.domain import own_domain
from gait_core.testing.doubles import spec_for_test
from gait_core.testing.workspace import workspace
from gait_core.trial.loop import run_trial

EVALUATORS = [
    pytest.param(name, marks=[pytest.mark.ros] if name == 'ros' else [])
    for name in registry.names('evaluators')
]


@pytest.fixture(params=EVALUATORS)
def evaluator_class(request):
    """Return each class in turn; one whose library is absent is skipped by name."""
    if request.param == 'ros':
        os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
        own_domain()
    try:
        return registry.evaluator(request.param)
    except NotInstalled as error:
        pytest.skip(str(error))


def test_results_are_those_of_this_process_in_the_order_of_the_specs(evaluator_class, tmp_path):
    with workspace(tmp_path):
        specs = [spec_for_test(parameters={'amplitude': 0.1 * i}, seed=i) for i in range(1, 4)]
        expected = [run_trial(spec) for spec in specs]
        evaluator, ended = evaluator_class(workers=1), []
        try:
            results = evaluator.evaluate(specs, lambda index, result: ended.append(index))
        finally:
            evaluator.close()
    assert [replace(one, wall_time=0.0) for one in results] == [
        replace(one, wall_time=0.0) for one in expected
    ]
    assert sorted(ended) == [0, 1, 2]
    assert 0.0 < evaluator.workload.busy <= evaluator.workload.offered
    assert evaluator.lost_workers == evaluator.workload.lost_trials == 0
    assert isinstance(evaluator.worker_names, tuple)


def test_a_negative_number_of_workers_is_refused(evaluator_class):
    with pytest.raises(ConfigurationError, match='workers is -1'):
        evaluator_class(workers=-1)
