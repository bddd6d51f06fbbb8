"""MuJoCo's one callback per process: only states of the engine are driven, and by its own."""

import numpy as np
import pytest

from gait_core.errors import ConfigurationError, ProtocolError
from gait_core.scene import Scene
from gait_core.testing import legged_box
from gait_core.testing_robots import applied

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
from sim_bridge.engines.mujoco import MujocoEngine
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_layout import check_layout, layout

pytestmark = pytest.mark.physics
SCENE = Scene(robot='x', physics_step=0.002)


@pytest.fixture
def engine():
    """Return an engine with a box on legs."""
    made = MujocoEngine(lambda name, draw: legged_box())
    yield made
    made.close()


@pytest.fixture
def callback_of_another():
    """Hold MuJoCo's control callback, as another part of the process might; give it back."""
    held = mj.get_mjcb_control()
    mj.set_mjcb_control(lambda model, data: None)
    yield
    mj.set_mjcb_control(None)
    mj.set_mjcb_control(held)


def test_the_callback_leaves_models_of_others_alone(engine):
    engine.reset(SCENE, 0)
    model = mj.MjModel.from_xml_string(
        '<mujoco><size nuserdata="40"/><worldbody><body><freejoint/><geom size="1"/></body>'
        '</worldbody></mujoco>'
    )
    data = mj.MjData(model)
    data.userdata[:] = numbers = np.linspace(-1.0, 1.0, 40)
    mj.mj_step(model, data, 10)
    np.testing.assert_array_equal(data.userdata, numbers)
    assert data.qvel[2] == pytest.approx(-9.81 * 10 * model.opt.timestep)


def test_a_callback_of_another_is_refused_and_not_replaced(engine, callback_of_another):
    other = mj.get_mjcb_control()
    with pytest.raises(ConfigurationError, match='control callback, which another part'):
        engine.reset(SCENE, 0)
    assert mj.get_mjcb_control() is other


def test_a_callback_that_is_replaced_during_a_trial_is_noticed(engine, request):
    engine.reset(SCENE, 0)
    request.getfixturevalue('callback_of_another')
    with pytest.raises(ProtocolError, match='control callback ran in 0 of 10 steps'):
        engine.step(applied(engine.robot))


def test_a_structure_that_lies_elsewhere_is_refused():
    model = mj.MjModel.from_xml_string('<mujoco/>')
    found = layout('mjData', ('qpos', 'nefc'))
    check_layout(found, mj.MjData(model))
    with pytest.raises(ConfigurationError, match='another mjData than'):
        layout('mjData', ('no_such_field',))
    moved = np.dtype(
        {'names': ['nefc'], 'formats': ['i8'], 'offsets': [8], 'itemsize': found.itemsize}
    )
    with pytest.raises(ConfigurationError, match="keeps 'nefc' elsewhere"):
        check_layout(moved, mj.MjData(model))


def test_a_sensor_callback_that_is_gone_is_noticed(engine):
    engine.reset(SCENE, 0)
    held = mj.get_mjcb_sensor()
    mj.set_mjcb_sensor(None)
    try:
        with pytest.raises(ProtocolError, match='sensor callback ran in 0 of 10 steps'):
            engine.step(applied(engine.robot))
    finally:
        mj.set_mjcb_sensor(held)
