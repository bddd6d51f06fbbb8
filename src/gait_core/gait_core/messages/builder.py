# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
ROS messages of states, commands and targets, with the message types of any library.

Live nodes use the classes of rclpy, bags those of rosbags: both get the same numbers from here,
exact to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import BoolArray, FloatArray
from gait_core.kinematics.base_frames import ODOM, base_frame_name, base_transforms
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.kinematics.sole_contacts import sole_pressure_centres
from gait_core.measures.metrics import MIN_ZMP_LOAD_SHARE
from gait_core.measures.stability import (
    DEFINED,
    UNDEFINED,
    centre_of_pressure,
    support_margin,
    support_polygon,
)
from gait_core.measures.work_meter import WorkMeter
from gait_core.motion.observation import (
    ARRAY_FIELDS,
    OBSERVABLE_FIELDS,
    Contacts,
    Imu,
    Observation,
)
from gait_core.motion.targets import JointTargets
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import SensorModel
from gait_core.trial.spec import Command

OBSERVATION = 'gait_interfaces/msg/Observation'
JOINT_STATE = 'sensor_msgs/msg/JointState'
IMU = 'sensor_msgs/msg/Imu'
ODOMETRY = 'nav_msgs/msg/Odometry'
TRANSFORMS = 'tf2_msgs/msg/TFMessage'
FOOT_CONTACTS = 'gait_interfaces/msg/FootContacts'
STABILITY = 'gait_interfaces/msg/Stability'
ENERGY = 'gait_interfaces/msg/Energy'
POINT = 'geometry_msgs/msg/PointStamped'
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'

OBSERVED_ARRAYS = tuple(name for name in ARRAY_FIELDS if name in OBSERVABLE_FIELDS)
"""Arrays of an observation that its message carries, by the same names."""

POINT_FIELDS = {'position': 'positions', 'velocity': 'velocities', 'effort': 'effort'}
"""Quantities of targets, each with its field in the points of a trajectory."""

_EMPTY = np.zeros(0)


class MessageBuilder:
    """
    Builder of messages of given types.

    Parameters
    ----------
    types : mapping of str to class
        By full name, e.g. ``std_msgs/msg/Header``; constructed with every field by keyword.
    sequence : callable
        Converts an (n,) array to the value of a field of n numbers or truth values.

    """

    def __init__(self, types: Mapping[str, Any], sequence: Callable[[Any], Any]) -> None:
        self._types, self._sequence = types, sequence

    def time(self, nanoseconds: int, kind: str = 'Time') -> Any:
        """Return a Time, or a Duration, of nanoseconds."""
        seconds, rest = divmod(nanoseconds, 10**9)
        return self._types[f'builtin_interfaces/msg/{kind}'](sec=seconds, nanosec=rest)

    def header(self, stamp: Any, frame: str = '') -> Any:
        """Return a header."""
        return self._types['std_msgs/msg/Header'](stamp=stamp, frame_id=frame)

    def point(self, values: Any) -> Any:
        """Return x, y and z [m] as a Point."""
        return self._geometry('Point', 'xyz', values)

    def _vector(self, values: Any) -> Any:
        return self._geometry('Vector3', 'xyz', values)

    def _quaternion(self, values: Any) -> Any:
        return self._geometry('Quaternion', 'xyzw', values)

    def _geometry(self, kind: str, axes: str, values: Any) -> Any:
        numbers = map(float, values)
        return self._types[f'geometry_msgs/msg/{kind}'](**dict(zip(axes, numbers, strict=True)))

    def quantities(self, values: Mapping[str, float]) -> list[Any]:
        """Return a mapping of names to numbers as messages, in its order."""
        kind = self._types['gait_interfaces/msg/Quantity']
        return [kind(name=name, value=float(value), unit='') for name, value in values.items()]

    def command(self, command: Command) -> Any:
        """Return a Command message."""
        return self._types['gait_interfaces/msg/Command'](
            velocity=np.array(command.velocity, dtype=np.float64),
            set_points=self.quantities(command.set_points),
        )

    def observation(self, observation: Observation) -> Any:
        """Return an Observation message; the bits of ``given`` mark the fields present."""
        kind = self._types[OBSERVATION]
        given, arrays = 0, dict.fromkeys((*OBSERVED_ARRAYS, 'imu'), _EMPTY)
        for name in OBSERVED_ARRAYS:
            value = getattr(observation, name)
            if value is not None:
                given |= getattr(kind, name.upper())
                arrays[name] = value.reshape(-1)
        imu, contacts = observation.imu, observation.contacts
        if imu is not None:
            given |= kind.IMU
            arrays['imu'] = np.concatenate(
                (imu.orientation, imu.angular_velocity, imu.linear_acceleration)
            )
        if contacts is None:
            contacts = Contacts(soles=())
        else:
            given |= kind.CONTACTS
        return kind(
            tick=observation.tick,
            time=float(observation.time),
            given=given,
            joint_names=list(observation.joint_names),
            body_names=list(observation.body_names),
            element_names=list(observation.element_names),
            soles=list(contacts.soles),
            contact_soles=self._sequence(contacts.sole.astype(np.int64, copy=False)),
            contact_points=self._sequence(contacts.points.reshape(-1)),
            contact_forces=self._sequence(contacts.forces.reshape(-1)),
            contact_depths=self._sequence(contacts.depths),
            **{name: self._sequence(array) for name, array in arrays.items()},
        )

    def joint_state(self, stamp: Any, observation: Observation) -> Any:
        """Return joints, then force elements; quantities that are not measured stay empty."""
        names = list(observation.joint_names)
        positions, velocities, efforts = (
            observation.joint_positions,
            observation.joint_velocities,
            observation.joint_efforts,
        )
        if observation.element_lengths is not None and positions is not None:
            names += observation.element_names
            positions = np.concatenate((positions, observation.element_lengths))
            # Elements report no rate: a shorter array would not say whose rates it holds.
            velocities = None
            if efforts is not None and observation.element_forces is not None:
                efforts = np.concatenate((efforts, observation.element_forces))
        arrays = {'position': positions, 'velocity': velocities, 'effort': efforts}
        for field, values in arrays.items():
            if values is None or len(values) != len(names) or not np.isfinite(values).all():
                arrays[field] = _EMPTY
        return self._types[JOINT_STATE](
            header=self.header(stamp),
            name=names,
            **{field: self._sequence(values) for field, values in arrays.items()},
        )

    def odometry(self, stamp: Any, true: Observation, robot: RobotModel) -> Any:
        """Return the base's true pose, and its twist in its own frame (REP-105)."""
        assert true.body_poses is not None and true.body_twists is not None
        pose, twist = true.body_poses[0], true.body_twists[0]
        rotation = Rotation.from_quat(pose[3:]).as_matrix()
        types = self._types
        return types[ODOMETRY](
            header=self.header(stamp, ODOM),
            child_frame_id=base_frame_name(robot),
            pose=types['geometry_msgs/msg/PoseWithCovariance'](
                pose=types['geometry_msgs/msg/Pose'](
                    position=self.point(pose[:3]), orientation=self._quaternion(pose[3:])
                ),
                covariance=np.zeros(36),
            ),
            twist=types['geometry_msgs/msg/TwistWithCovariance'](
                twist=types['geometry_msgs/msg/Twist'](
                    linear=self._vector(twist[:3] @ rotation),
                    angular=self._vector(twist[3:] @ rotation),
                ),
                covariance=np.zeros(36),
            ),
        )

    def imu(self, stamp: Any, reading: Imu, robot: RobotModel, sensors: SensorModel) -> Any:
        """
        Return a reading of the IMU in the frame of its link (REP-145).

        Covariances are those of the sensor noise; without noise all zeros, which means unknown.
        """
        covariances = [np.eye(3).ravel() * variance for variance in sensors.imu_variances]
        return self._types[IMU](
            header=self.header(stamp, robot.imu_link or robot.roots[0]),
            orientation=self._quaternion(reading.orientation),
            orientation_covariance=covariances[0],
            angular_velocity=self._vector(reading.angular_velocity),
            angular_velocity_covariance=covariances[1],
            linear_acceleration=self._vector(reading.linear_acceleration),
            linear_acceleration_covariance=covariances[2],
        )

    def robot_transforms(
        self, stamp: Any, true: Observation, robot: RobotModel, links: bool
    ) -> Any:
        """
        Return odom -> base_link -> root link, or odom -> every root, and base_footprint.

        With ``links`` also odom -> link for every other link, for use without
        robot_state_publisher.
        """
        assert true.body_poses is not None
        frames = list(base_transforms(robot, true.joint_positions, true.body_poses))
        return self.transforms(stamp, [*frames, *_link_frames(true, robot)] if links else frames)

    def transforms(self, stamp: Any, frames: Iterable[tuple[str, str, FloatArray]]) -> Any:
        """Return the message of frames: parent, child, and pose of the child in the parent."""
        stamped = self._types['geometry_msgs/msg/TransformStamped']
        transform = self._types['geometry_msgs/msg/Transform']
        return self._types[TRANSFORMS](
            transforms=[
                stamped(
                    header=self.header(stamp, parent),
                    child_frame_id=child,
                    transform=transform(
                        translation=self._vector(pose[:3]), rotation=self._quaternion(pose[3:])
                    ),
                )
                for parent, child, pose in frames
            ]
        )

    def foot_contacts(self, stamp: Any, contacts: Contacts, standing: BoolArray) -> Any:
        """Return contact, force and centre of each sole."""
        return self._types[FOOT_CONTACTS](
            header=self.header(stamp, ODOM),
            soles=list(contacts.soles),
            in_contact=self._sequence(standing),
            forces=[self._vector(force) for force in contacts.sole_forces()],
            centres=[self.point(centre) for centre in sole_pressure_centres(contacts)],
        )

    def stability(self, stamp: Any, true: Observation, robot: RobotModel, gravity: float) -> Any:
        """Return centre of pressure, centre of mass, support polygon and margin."""
        assert true.joint_positions is not None and true.body_poses is not None
        kind = self._types[STABILITY]
        contacts = true.contacts or Contacts(soles=robot.soles)
        zmp, status = centre_of_pressure(
            contacts.points,
            contacts.forces,
            min_force=MIN_ZMP_LOAD_SHARE * robot.mass * (gravity or 1.0),
        )
        corners, height, margins = np.zeros((0, 2)), 0.0, _EMPTY
        supporting = contacts.points[contacts.loaded]
        if len(supporting):
            corners = support_polygon(supporting)
            height = float(supporting[:, 2].mean() if zmp is None else zmp[2])
            if zmp is not None:
                margins = np.array([support_margin(zmp, corners)])
        codes = {UNDEFINED: kind.UNDEFINED, DEFINED: kind.DEFINED}
        return kind(
            header=self.header(stamp, ODOM),
            status=codes.get(status, kind.SEVERAL_HEIGHTS),
            zmp=[] if zmp is None else [self.point(zmp)],
            com=self.point(com_positions(robot, true.joint_positions, true.body_poses)),
            support_polygon=[self.point((x, y, height)) for x, y in corners.tolist()],
            margin=self._sequence(margins),
        )

    def zmp(self, stability: Any) -> Any | None:
        """Return the ZMP of a Stability message; ``None`` where it is undefined."""
        if not stability.zmp:
            return None
        return self._types[POINT](header=stability.header, point=stability.zmp[0])

    def energy(self, stamp: Any, robot: RobotModel, meter: WorkMeter) -> Any:
        """Return power, work and cost of transport so far; empty before the first period."""
        work, power, cost = meter.work, meter.power, meter.cost_of_transport
        return self._types[ENERGY](
            header=self.header(stamp),
            joint_names=list(robot.target_names),
            power=self._sequence(_EMPTY if power is None else power),
            signed_work=self._sequence(_EMPTY if work is None else work.signed),
            absolute_work=self._sequence(_EMPTY if work is None else work.absolute),
            positive_work=self._sequence(_EMPTY if work is None else work.positive),
            distance=meter.distance,
            cost_of_transport=self._sequence(_EMPTY if cost is None else np.array([cost])),
        )

    def trajectory(self, targets: JointTargets, dt: float) -> Any:
        """
        Return the trajectory of one control period of length dt [s].

        It starts on arrival (stamp 0) and has one point per sub-sample, the last at the period's
        end: no controller finds it in its past.
        """
        kind, rows = self._types['trajectory_msgs/msg/JointTrajectoryPoint'], targets.sub_samples
        given = {field: getattr(targets, name) for name, field in POINT_FIELDS.items()}
        return self._types[TRAJECTORY](
            header=self.header(self.time(0)),
            joint_names=list(targets.names),
            points=[
                kind(
                    time_from_start=self.time(round(dt * (row + 1) / rows * 1e9), 'Duration'),
                    accelerations=self._sequence(_EMPTY),
                    **{
                        field: self._sequence(_EMPTY if values is None else values[row])
                        for field, values in given.items()
                    },
                )
                for row in range(rows)
            ],
        )


def _link_frames(true: Observation, robot: RobotModel) -> Iterator[tuple[str, str, FloatArray]]:
    assert true.joint_positions is not None and true.body_poses is not None
    poses = link_poses(robot, true.joint_positions, true.body_poses)
    quaternions = Rotation.from_matrix(poses[:, :3, :3]).as_quat()
    for link, pose, quaternion in zip(robot.links, poses, quaternions, strict=True):
        if link.name not in robot.roots:
            yield ODOM, link.name, np.concatenate((pose[:3, 3], quaternion))
