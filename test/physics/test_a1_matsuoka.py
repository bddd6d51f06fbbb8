# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The a1 trots on neural oscillators that are coupled by inhibition alone."""

from functools import cache

import numpy as np
import pytest

from gait_core.measures.metrics import trial_gait_diagram
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.scene import Scene
from gait_core.trial.spec import OK, TrialSpec
from gait_cpg.matsuoka.controller import MatsuokaController
from gait_cpg.oscillators import neural_oscillators

need_engine('bullet')
pytestmark = pytest.mark.physics


def trotted_params():
    return make_parameters(MatsuokaController.Params, MatsuokaController.presets['alternating'])


@cache
def trotted():
    robot = load_robot('a1')
    spec = TrialSpec(
        scene=Scene(
            robot='a1', engine_options=robot.defaults['engines']['bullet'],
            **robot.defaults['scene']),
        controller='matsuoka',
        parameters=MatsuokaController.presets['alternating'],
        duration=6.0,
    )  # fmt: skip
    return run_loop(spec)


def test_it_goes_forward_on_its_feet():
    assert trotted().status == OK
    poses = trotted().rollout().body_poses[:, 0]
    x, y = poses[-1, :2] - poses[0, :2]
    assert x > 0.8
    assert abs(y) < 0.3 * x
    # The base's z axis stays within 0.25 rad of the vertical.
    assert np.min(1.0 - 2.0 * (poses[:, 3] ** 2 + poses[:, 4] ** 2)) > np.cos(0.25)


def test_the_feet_of_a_pair_land_in_turn_at_the_rhythm_of_the_oscillators():
    diagram = trial_gait_diagram(trotted().rollout())
    robot = load_robot('a1')
    lags = np.array([diagram.phase_lag[leg.name] for leg in robot.legs]) / (2.0 * np.pi)
    # Front and rear pair; which of the two comes first the pitch of the body decides.
    np.testing.assert_allclose(np.diff(lags)[[0, 2]], 0.5, atol=0.1)
    params = trotted_params()
    pair = neural_oscillators(
        [], 1, tau_a=params.tau_a, pair_weight=params.pair_weight + params.inhibition
    )
    rhythm = [diagram.stride_frequency[leg.name] for leg in robot.legs[:3]]
    np.testing.assert_allclose(rhythm, pair.expected_frequency()[0], rtol=0.05)
