# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The experiment on the stride of the hexapod in physics, short: it improves and resumes."""

import pytest

from gait_core.testing.doubles import InProcessEvaluator
from gait_core.testing.skips import need_engine
from gait_evolver.loop import Evolution
from gait_evolver.plan import load_plan
from gait_evolver.run.store import RunStore

pytestmark = pytest.mark.physics
SHORT = {'population': 6, 'duration': 3.0, 'generations': 3}


def test_it_improves_and_resumes_to_the_log_of_the_whole_run(tmp_path):
    need_engine('mujoco')
    whole = RunStore.create(tmp_path / 'whole', load_plan('cafarelli2017_flat', SHORT))
    progress = Evolution(whole, InProcessEvaluator()).run()
    whole.close()
    assert progress.best.fitness > progress.first_generation_best
    short = RunStore.create(
        tmp_path / 'cut',
        load_plan('cafarelli2017_flat', {**SHORT, 'generations': 1}),
    )
    Evolution(short, InProcessEvaluator()).run()
    short.close()
    resumed, rows = RunStore.open_run(tmp_path / 'cut', 3)
    Evolution(resumed, InProcessEvaluator(), rows).run()
    resumed.close()
    logs = [(tmp_path / name / 'evaluations.csv').read_bytes() for name in ('whole', 'cut')]
    assert logs[0] == logs[1]
