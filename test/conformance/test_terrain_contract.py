"""Every registered terrain keeps the contract of ``gait.terrains``."""

import numpy as np
import pytest

from gait_core import registry
from gait_core.parameters import Parameters


@pytest.mark.parametrize('name', registry.names('terrains'))
def test_every_registered_terrain_keeps_the_contract(name):
    assert issubclass(registry.load('terrains', name), Parameters)
    a, b = (registry.load('terrains', name)().build(7) for _ in range(2))
    assert a.hash == b.hash and len(a.hash) == 64
    x, y = np.random.default_rng(0).uniform(-3.0, 3.0, (2, 20))
    np.testing.assert_array_equal(a.height(x, y), b.height(x, y))
    assert np.isfinite(a.height(x, y)).all()
    np.testing.assert_allclose(np.linalg.norm(a.normal(x, y), axis=-1), 1.0)
    if a.heightfield is not None:
        assert a.heightfield.contains(x, y).all()
