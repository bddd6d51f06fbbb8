# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lidars and depth cameras: rays, readings and what robot.yaml may say, without an engine."""

from dataclasses import replace
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation
from gait_core.parameters.schema import Location
from gait_core.robot.load import read_robot
from gait_core.robot.range_sensor import DepthCamera, Lidar, read_sensors
from gait_core.robot.urdf.writer import to_urdf
from gait_core.sensors.ranging import RangeReader, column_azimuths, select_sensors, sensor_rays
from gait_core.terrains.room import Room
from gait_core.testing.doubles import legged_box

DT = 0.02
BOX = legged_box()
BASE = BOX.roots[0]


class Plane:
    """The plane z = 0, to which rays have a closed form."""

    def cast(self, origin, directions, max_distance):
        down = np.minimum(directions[:, 2], -1e-12)
        far = np.where(directions[:, 2] < 0.0, origin[2] / -down, np.inf)
        return np.where(far <= max_distance, far, np.inf)


def reader(sensor, seed=0, dt=DT):
    return RangeReader(replace(BOX, sensors=(sensor,)), sensor, dt, seed)


def standing(height, roll=0.0, pitch=0.0, yaw=0.0, tick=0):
    turn = Rotation.from_euler('xyz', [roll, pitch, yaw]).as_quat()
    return Observation(
        tick=tick,
        time=tick * DT,
        joint_positions=BOX.joint_stance,
        body_poses=np.array([[1.0, -2.0, height, *turn]]),
    )


def test_a_beam_that_points_down_by_an_angle_reads_height_over_its_sine():
    tilt, height = 0.2, 0.5
    scan = Lidar(name='scan', link=BASE, columns=8, range=(0.1, 100.0))
    ranges = reader(scan).read(standing(height, pitch=tilt), Plane())[0]
    azimuth = column_azimuths(scan)
    np.testing.assert_allclose(azimuth, np.arange(-4, 4) * math.pi / 4.0)
    ahead = np.abs(azimuth) < math.pi / 2.0 - 1e-9
    expected = height / (np.cos(azimuth[ahead]) * math.sin(tilt))
    np.testing.assert_allclose(ranges[ahead], expected, rtol=1e-12)
    # Straight to the sides the beams are level, behind they point up.
    assert np.isinf(ranges[~ahead]).all() and (ranges[~ahead] > 0.0).all()


def test_rows_of_a_lidar_are_cones_about_its_axis():
    ring = Lidar(name='r', link=BASE, columns=12, rows=3, elevation=(-0.6, -0.2), range=(0.1, 9.0))
    ranges = reader(ring).read(standing(0.5, yaw=0.7), Plane())
    expected = 0.5 / np.sin([0.6, 0.4, 0.2])
    np.testing.assert_allclose(ranges, np.tile(expected[:, None], 12), rtol=1e-9)


def test_a_camera_that_looks_down_sees_ground_of_one_depth():
    camera = DepthCamera(name='c', link=BASE, rpy=(0.0, math.pi / 2.0, 0.0), range=(0.05, 5.0))
    depth = reader(camera).read(standing(0.4), Plane())
    assert depth.shape == (48, 64)
    np.testing.assert_allclose(depth, 0.4, rtol=1e-12)


def test_the_upper_left_pixel_is_seen_to_the_upper_left_and_back_projects():
    camera = DepthCamera(name='c', link=BASE, columns=5, rows=3, field_of_view=1.0)
    rays = sensor_rays(camera)
    x, y, z = rays.directions[0, 0]
    assert x > 0.0 and y > 0.0 and z > 0.0
    # In the optical frame (right, down, forward) a pixel is at depth * (column - cx) / focal.
    right, down = -y / x, -z / x
    assert right * camera.focal_length == pytest.approx(-2.0)
    assert down * camera.focal_length == pytest.approx(-1.0)
    # Its outermost rays lie half a pixel inside of the view.
    assert math.atan(2.5 / camera.focal_length) == pytest.approx(0.5)
    optical = Rotation.from_euler('xyz', camera.frames['c_optical_frame'][2]).as_matrix()
    np.testing.assert_allclose(optical @ [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(optical @ [1.0, 0.0, 0.0], [0.0, -1.0, 0.0], atol=1e-12)


def test_a_sensor_is_where_link_and_mount_put_it():
    scan = Lidar(name='s', link=BASE, xyz=(0.2, 0.0, 0.1), rpy=(0.0, 0.0, 0.3))
    place, turn = reader(scan).pose(standing(0.5, yaw=math.pi / 2.0))
    np.testing.assert_allclose(place, [1.0, -1.8, 0.6], atol=1e-12)
    np.testing.assert_allclose(
        turn, Rotation.from_euler('z', math.pi / 2.0 + 0.3).as_matrix(), atol=1e-12
    )


def test_what_is_too_near_and_too_far_is_told_apart():
    down = Lidar(name='d', link=BASE, rpy=(0.0, math.pi / 2.0, 0.0), columns=1, azimuth=(0.0, 1.0))
    heights = (0.05, 0.5, 20.0)
    readings = [reader(down).read(standing(h), Plane())[0, 0] for h in heights]
    assert readings == [-math.inf, pytest.approx(0.5), math.inf]


def test_noise_has_the_spread_that_is_given_and_follows_from_seed_and_reading():
    camera = DepthCamera(name='c', link=BASE, rpy=(0.0, math.pi / 2.0, 0.0), noise=0.01)
    noisy = reader(camera, seed=3)
    first, later = (noisy.read(standing(0.4, tick=tick), Plane()) for tick in (0, 10))
    error = np.concatenate([first, later]).ravel() - 0.4
    # Of 6144 draws: four standard errors.
    assert error.mean() == pytest.approx(0.0, abs=4.0 * 0.01 / math.sqrt(6144.0))
    assert error.std() == pytest.approx(0.01, rel=4.0 / math.sqrt(2.0 * 6144.0))
    again = reader(camera, seed=3).read(standing(0.4, tick=10), Plane())
    np.testing.assert_array_equal(again, later)
    other = reader(camera, seed=4).read(standing(0.4, tick=10), Plane())
    assert np.abs(other - later).min() > 0.0 or (other != later).mean() > 0.99


@pytest.mark.parametrize(('rate', 'ticks'), [(10.0, 5), (50.0, 1), (12.5, 4)])
def test_readings_come_at_the_rate(rate, ticks):
    due = [reader(Lidar(name='s', link=BASE, rate=rate)).is_due(tick) for tick in range(100)]
    assert np.flatnonzero(due).tolist() == list(range(0, 100, ticks))


def test_a_rate_between_the_ticks_is_met_in_the_mean():
    odd = reader(Lidar(name='s', link=BASE, rate=30.0))
    assert sum(map(odd.is_due, range(500))) == 300


def test_a_sensor_faster_than_the_control_is_refused():
    with pytest.raises(ConfigurationError, match='nearest valid: 50'):
        reader(Lidar(name='s', link=BASE, rate=60.0))


def test_sensors_are_chosen_by_name():
    scan, camera = Lidar(name='scan', link=BASE), DepthCamera(name='eye', link=BASE)
    robot = replace(BOX, sensors=(scan, camera))
    assert select_sensors(robot, '') == ()
    assert select_sensors(robot, 'all') == (scan, camera)
    assert select_sensors(robot, 'eye, scan') == (scan, camera)
    with pytest.raises(ConfigurationError, match="did you mean 'scan'"):
        select_sensors(robot, 'scam')
    with pytest.raises(ConfigurationError, match='has no range sensors'):
        select_sensors(BOX, 'scan')


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a robot whose robot.yaml declares sensors."""

    def make(*sensors):
        (tmp_path / 'box').mkdir(exist_ok=True)
        (tmp_path / 'box' / 'box.urdf').write_text(to_urdf(BOX))
        lines = ''.join(f'  - {{{sensor}}}\n' for sensor in sensors)
        (tmp_path / 'box' / 'robot.yaml').write_text(f'sensors:\n{lines}')
        return read_robot(tmp_path / 'box')

    return make


def test_robot_yaml_declares_sensors(read):
    robot = read(
        f'name: scan, kind: lidar, link: {BASE}, xyz: [0, 0, 0.1], rate: 5, range: [0.2, 8], '
        'noise: 0.02, azimuth: [-1, 1], elevation: [-0.1, 0.1], columns: 20, rows: 2',
        f'name: eye, kind: depth_camera, link: {BASE}, columns: 32, rows: 24, field_of_view: 0.9',
    )
    scan, eye = robot.sensors
    assert scan == Lidar(
        name='scan', link=BASE, xyz=(0.0, 0.0, 0.1), rate=5.0, range=(0.2, 8.0), noise=0.02,
        azimuth=(-1.0, 1.0), elevation=(-0.1, 0.1), columns=20, rows=2,
    )  # fmt: skip
    assert eye == DepthCamera(name='eye', link=BASE, columns=32, rows=24, field_of_view=0.9)
    assert scan.reading_frame == 'scan_link' and eye.frame == BASE
    assert set(eye.frames) == {'eye_optical_frame'}


@pytest.mark.parametrize(
    ('line', 'words'),
    [
        ('name: s, kind: lidr, link: {b}', "did you mean 'lidar'"),
        ('name: s, kind: lidar, link: {b}x', "unknown link '{b}x': did you mean '{b}'"),
        (
            'name: s, kind: lidar, link: {b}, field_of_view: 1',
            "unknown key 'sensors[0].field_of_view'",
        ),
        ('name: s, kind: lidar, link: {b}, rate: 0', 'must be positive'),
        ('name: s, kind: lidar, link: {b}, range: [2, 1]', 'range from 2 to 1'),
        ('name: s, kind: lidar, link: {b}, columns: 0', 'nearest valid: 1'),
        ('name: s, kind: lidar, link: {b}, columns: 2.5', 'expected a whole number'),
        ('name: s, kind: lidar, link: {b}, rows: 1000000', 'nearest valid: 100000'),
        ('name: s, kind: lidar, link: {b}, azimuth: [1, 0]', 'azimuths from 1 to 0'),
        ('name: s, kind: lidar, link: {b}, elevation: [0, 2]', 'beyond the vertical'),
        ('name: my-scan, kind: lidar, link: {b}', "nearest valid: 'my_scan'"),
        ('name: s, kind: lidar, link: {b}, noise: -1', 'must not be negative'),
        ('name: s, kind: depth_camera, link: {b}, field_of_view: 4', 'at most 2.98'),
        ('kind: lidar, link: {b}', 'sensors[0].name is missing'),
    ],
)
def test_a_sensor_that_is_none_is_named_in_a_line(read, line, words):
    with pytest.raises(ConfigurationError) as error:
        read(line.format(b=BASE))
    assert words.format(b=BASE) in str(error.value)
    said = str(error.value)
    assert 'robot.yaml, line 2, column ' in said and 'sensors[0]' in said and '\n' not in said


def test_a_name_or_frame_is_there_once(read):
    scan = f'name: s, kind: lidar, link: {BASE}'
    with pytest.raises(ConfigurationError, match="there is a sensor 's' already"):
        read(scan, scan)
    with pytest.raises(ConfigurationError, match="already that of link 's_link'"):
        entry = {'name': 's', 'kind': 'lidar', 'link': BASE, 'xyz': [1, 0, 0]}
        read_sensors([entry], [BASE, 's_link'], Location())


def test_boxes_of_a_room_stand_in_it_clear_of_the_walls_and_of_the_start():
    room = Room(length=8.0, width=6.0, box=0.4, height=0.5, cell=0.05)
    ground = room.build(3)
    x, y = np.meshgrid(np.linspace(-3.94, 3.94, 395), np.linspace(-2.94, 2.94, 295))
    high = ground.height(x, y) > 0.25
    # Each of at most 12 boxes has a top of 0.4 x 0.4 m and is half as high half a cell outside.
    assert 6.0 < high.sum() * 0.02**2 / 0.45**2 <= 12.1
    assert not high[np.hypot(x, y) < 1.0].any()
    assert np.all(ground.height([4.01, -4.01, 0.3], [0.0, 1.0, 3.01]) == 0.5)
    assert ground.hash != room.build(4).hash


def test_a_box_that_fits_into_no_square_is_refused():
    with pytest.raises(ConfigurationError, match='nearest valid: 0.8'):
        Room(box=1.0, spacing=1.0)
