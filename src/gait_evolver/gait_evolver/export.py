"""A recorded trial in the formats of other tools: CSV, and rosbag2 with MCAP inside."""

from __future__ import annotations

from collections.abc import Iterator
import csv
import io
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.champion import write_atomically
from gait_core.errors import ConfigurationError
from gait_core.metrics import contact_zmp
from gait_core.rollout import Rollout

_VERSION: Literal[8, 9] = 9
"""Of the bag's metadata: what Jazzy writes, and every later release reads."""

_FRAME = 'odom'


def write_trajectory(path: Path, rollout: Rollout) -> None:
    """
    Write what the joints were told as CSV: ``time_s``, then a column per target [rad or m].

    A row holds from its time on for a control period. The numbers are whole: reading them back
    gives the targets to the last bit.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(('time_s', *rollout.robot.target_names))
    for time, row in zip(rollout.time[:-1], rollout.target_positions, strict=True):
        writer.writerow(repr(float(value)) for value in (time, *row))
    try:
        write_atomically(path, text.getvalue())
    except OSError as error:
        raise ConfigurationError(f'trajectory {path}: {error.strerror}') from error


def write_bag(folder: Path, rollout: Rollout) -> None:
    """
    Write a trial as a new rosbag2 directory, with its messages as the live graph sends them.

    Topics are ``/clock``, ``/joint_states``, ``/odom``, ``/tf``, ``/zmp`` while it is defined, and
    ``/joint_trajectory`` with the targets of each control period. Stamps begin one control period
    after zero, which means no time to ROS.

    Raises
    ------
    ConfigurationError
        If rosbags is not installed, or the folder exists or cannot be made.

    """
    try:
        from rosbags.rosbag2 import StoragePlugin, Writer, WriterError
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise ConfigurationError(f'a bag needs the library rosbags: {error}') from error
    store = get_typestore(Stores.ROS2_JAZZY)
    try:
        with Writer(folder, version=_VERSION, storage_plugin=StoragePlugin.MCAP) as writer:
            connections: dict[str, Any] = {}
            for topic, kind, stamp, message in _Messages(store.types, rollout).all():
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=store)
                writer.write(connections[topic], stamp, store.serialize_cdr(message, kind))
    except (OSError, WriterError) as error:
        raise ConfigurationError(f'bag {folder}: {error}') from error


class _Messages:
    """The messages of a trial, in order of time."""

    def __init__(self, types: Any, rollout: Rollout) -> None:
        self._types = types
        self._rollout = rollout
        self._zmp = contact_zmp(rollout)

    def all(self) -> Iterator[tuple[str, str, int, Any]]:
        """Yield topic, type, stamp [ns] and message."""
        rollout = self._rollout
        for tick in range(rollout.ticks + 1):
            stamp = round((tick + 1) * rollout.dt * 1e9)
            yield self._of('/clock', 'rosgraph_msgs/msg/Clock', stamp, clock=self._time(stamp))
            yield self._of(
                '/joint_states',
                'sensor_msgs/msg/JointState',
                stamp,
                header=self._header(stamp, ''),
                name=list(rollout.robot.joint_names),
                position=rollout.joint_positions[tick],
                velocity=rollout.joint_velocities[tick],
                effort=rollout.joint_efforts[tick],
            )
            yield self._odometry(tick, stamp)
            yield self._transforms(tick, stamp)
            if self._zmp.defined[tick]:
                yield self._of(
                    '/zmp',
                    'geometry_msgs/msg/PointStamped',
                    stamp,
                    header=self._header(stamp, _FRAME),
                    point=self._vector(self._zmp.points[tick], 'Point'),
                )
            if tick < rollout.ticks:
                yield self._trajectory(tick, stamp)

    def _of(self, topic: str, kind: str, stamp: int, **fields: Any) -> tuple[str, str, int, Any]:
        return topic, kind, stamp, self._types[kind](**fields)

    def _time(self, stamp: int, kind: str = 'Time') -> Any:
        seconds, nanoseconds = divmod(stamp, 10**9)
        return self._types[f'builtin_interfaces/msg/{kind}'](sec=seconds, nanosec=nanoseconds)

    def _header(self, stamp: int, frame: str) -> Any:
        return self._types['std_msgs/msg/Header'](stamp=self._time(stamp), frame_id=frame)

    def _vector(self, values: FloatArray, kind: str = 'Vector3') -> Any:
        x, y, z = (float(value) for value in values)
        return self._types[f'geometry_msgs/msg/{kind}'](x=x, y=y, z=z)

    def _quaternion(self, values: FloatArray) -> Any:
        x, y, z, w = (float(value) for value in values)
        return self._types['geometry_msgs/msg/Quaternion'](x=x, y=y, z=z, w=w)

    def _odometry(self, tick: int, stamp: int) -> tuple[str, str, int, Any]:
        pose, twist = (
            array[tick, 0] for array in (self._rollout.body_poses, self._rollout.body_twists)
        )
        turn = _matrix(pose[3:])
        geometry = self._types
        return self._of(
            '/odom',
            'nav_msgs/msg/Odometry',
            stamp,
            header=self._header(stamp, _FRAME),
            child_frame_id=self._rollout.robot.roots[0],
            pose=geometry['geometry_msgs/msg/PoseWithCovariance'](
                pose=geometry['geometry_msgs/msg/Pose'](
                    position=self._vector(pose[:3], 'Point'),
                    orientation=self._quaternion(pose[3:]),
                ),
                covariance=np.zeros(36),
            ),
            twist=geometry['geometry_msgs/msg/TwistWithCovariance'](
                # REP 105: a twist is in the frame of the child.
                twist=geometry['geometry_msgs/msg/Twist'](
                    linear=self._vector(turn.T @ twist[:3]),
                    angular=self._vector(turn.T @ twist[3:]),
                ),
                covariance=np.zeros(36),
            ),
        )

    def _transforms(self, tick: int, stamp: int) -> tuple[str, str, int, Any]:
        transforms = [
            self._types['geometry_msgs/msg/TransformStamped'](
                header=self._header(stamp, _FRAME),
                child_frame_id=name,
                transform=self._types['geometry_msgs/msg/Transform'](
                    translation=self._vector(pose[:3]), rotation=self._quaternion(pose[3:])
                ),
            )
            for name, pose in zip(
                self._rollout.robot.roots, self._rollout.body_poses[tick], strict=True
            )
        ]
        return self._of('/tf', 'tf2_msgs/msg/TFMessage', stamp, transforms=transforms)

    def _trajectory(self, tick: int, stamp: int) -> tuple[str, str, int, Any]:
        rollout, none = self._rollout, np.zeros(0)
        point = self._types['trajectory_msgs/msg/JointTrajectoryPoint'](
            positions=rollout.target_positions[tick],
            velocities=rollout.target_velocities[tick],
            accelerations=none,
            effort=none,
            time_from_start=self._time(round(rollout.dt * 1e9), 'Duration'),
        )
        return self._of(
            '/joint_trajectory',
            'trajectory_msgs/msg/JointTrajectory',
            stamp,
            # A stamp of zero means at once: a bag is played at any time.
            header=self._header(0, ''),
            joint_names=list(rollout.robot.target_names),
            points=[point],
        )


def _matrix(quaternion: FloatArray) -> FloatArray:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_quat(quaternion).as_matrix())
