"""The heading that controllers hold is the yaw of turns about fixed axes (REP-103)."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.attitude import yaw_of

ANGLE = st.floats(-3.1, 3.1)


@given(roll=ANGLE, pitch=st.floats(-1.5, 1.5), yaw=ANGLE)
def test_yaw_is_that_of_the_rotation_and_of_the_opposite_quaternion(roll, pitch, yaw):
    quaternion = Rotation.from_euler('xyz', (roll, pitch, yaw)).as_quat()
    np.testing.assert_allclose([yaw_of(quaternion), yaw_of(-quaternion)], yaw, atol=1e-12)
