# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages of lidars and depth cameras (REP-103, REP-117, REP-118)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
import math
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2, PointField
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from gait_core.arrays import FloatArray
from gait_core.robot.range_sensor import DepthCamera, Lidar, RangeSensor
from gait_core.sensors.ranging import column_azimuths, sensor_rays
from gait_ros.messages.conversions import BUILDER

SCAN_TOPIC, POINTS_TOPIC = 'scan', 'points'
IMAGE_TOPIC, INFO_TOPIC = 'depth/image_rect', 'depth/camera_info'
_FLOAT_SIZE = 4


def sensor_topics(sensor: RangeSensor) -> dict[str, Any]:
    """Return the message types of a sensor by topic."""
    if isinstance(sensor, DepthCamera):
        kinds = {IMAGE_TOPIC: Image, INFO_TOPIC: CameraInfo}
    else:
        kinds = {SCAN_TOPIC: LaserScan} if sensor.rows == 1 else {POINTS_TOPIC: PointCloud2}
    return {f'{sensor.name}/{name}': kind for name, kind in kinds.items()}


def reading_messages(stamp: Time, sensor: RangeSensor, reading: FloatArray) -> dict[str, Any]:
    """
    Return the messages of a reading by topic.

    Parameters
    ----------
    stamp : Time
    sensor : RangeSensor
    reading : (rows, columns) array [m]
        Result of ``RangeReader.read``.

    """
    header = Header(stamp=stamp, frame_id=sensor.reading_frame)
    if isinstance(sensor, DepthCamera):
        messages = (depth_image(header, reading), camera_info(header, sensor))
    elif isinstance(sensor, Lidar) and sensor.rows == 1:
        messages = (laser_scan(header, sensor, reading[0]),)
    else:
        messages = (point_cloud(header, sensor, reading),)
    return dict(zip(sensor_topics(sensor), messages, strict=True))


def laser_scan(header: Header, sensor: Lidar, ranges: FloatArray) -> LaserScan:
    """Return a plane scan whose rays are all cast at the stamp."""
    angle = column_azimuths(sensor)
    return LaserScan(
        header=header,
        angle_min=float(angle[0]),
        angle_max=float(angle[-1]),
        angle_increment=float(angle[1] - angle[0]) if len(angle) > 1 else 0.0,
        time_increment=0.0,
        scan_time=1.0 / sensor.rate,
        range_min=sensor.range[0],
        range_max=sensor.range[1],
        ranges=array('f', ranges.astype(np.float32).tobytes()),
    )


def point_cloud(header: Header, sensor: RangeSensor, ranges: FloatArray) -> PointCloud2:
    """Return the points row by row in the frame of the sensor; NaN for a ray without a hit."""
    hits = np.where(np.isfinite(ranges), ranges, math.nan)
    points = (sensor_rays(sensor).directions * hits[..., None]).astype('<f4')
    rows, columns = ranges.shape
    return PointCloud2(
        header=header,
        height=rows,
        width=columns,
        fields=[
            PointField(name=name, offset=_FLOAT_SIZE * i, datatype=PointField.FLOAT32, count=1)
            for i, name in enumerate('xyz')
        ],
        is_bigendian=False,
        point_step=3 * _FLOAT_SIZE,
        row_step=3 * _FLOAT_SIZE * columns,
        data=array('B', points.tobytes()),
        is_dense=False,
    )


def depth_image(header: Header, depth: FloatArray) -> Image:
    """Return depths [m] as 32FC1: minus infinity if too near, infinity if too far (REP-117)."""
    rows, columns = depth.shape
    return Image(
        header=header,
        height=rows,
        width=columns,
        encoding='32FC1',
        is_bigendian=0,
        step=_FLOAT_SIZE * columns,
        data=array('B', depth.astype('<f4').tobytes()),
    )


def camera_info(header: Header, sensor: DepthCamera) -> CameraInfo:
    """Return the projection from the optical frame to pixels, without distortion."""
    focal = sensor.focal_length
    u, v = 0.5 * (sensor.columns - 1), 0.5 * (sensor.rows - 1)
    return CameraInfo(
        header=header,
        height=sensor.rows,
        width=sensor.columns,
        distortion_model='plumb_bob',
        d=[0.0] * 5,
        k=[focal, 0.0, u, 0.0, focal, v, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[focal, 0.0, u, 0.0, 0.0, focal, v, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def sensor_transforms(stamp: Time, sensors: Iterable[RangeSensor]) -> TFMessage:
    """Return the static transforms from links to the frames of their sensors."""
    frames = (
        (parent, frame, np.concatenate((xyz, Rotation.from_euler('xyz', rpy).as_quat())))
        for sensor in sensors
        for frame, (parent, xyz, rpy) in sensor.frames.items()
    )
    message: TFMessage = BUILDER.transforms(stamp, frames)
    return message
