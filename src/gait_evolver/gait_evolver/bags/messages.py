"""The messages of a recorded trial, as the live graph publishes them, in order of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray
from gait_core.base_frames import ODOM, base_frame, base_transforms
from gait_core.kinematics import com_positions, link_poses
from gait_core.metrics import contact_zmp
from gait_core.observation import Observation
from gait_core.playback import applied, observations, states
from gait_core.robot.to_urdf import to_urdf
from gait_core.rollout import Rollout
from gait_core.seeding import derived_seed
from gait_core.soles import SoleContacts, sole_centres
from gait_core.stability import margins, support_polygon
from gait_core.targets import AppliedTargets
from gait_core.trial import CONTROLLER_SEED
from gait_core.trial_spec import CommandScript

DESCRIPTION = '/robot_description'
OBSERVATION = '/sim_bridge/lockstep/observation'
TARGETS = '/joint_trajectory'

ARRAYS = (
    'joint_positions',
    'joint_velocities',
    'joint_efforts',
    'body_poses',
    'body_twists',
    'element_lengths',
    'element_forces',
)
"""Fields of Observation that are one array."""

Message = tuple[str, str, int, Any]
"""Topic, type, stamp [ns] and message."""

_STATUS = {'undefined': 0, 'defined': 1}
_SEVERAL_HEIGHTS = 2


class Messages:
    """
    The messages of a trial.

    Stamps begin one control period after zero, which means no time to ROS.
    """

    def __init__(self, types: Mapping[str, Any], rollout: Rollout) -> None:
        self._types, self._rollout = types, rollout
        self._robot = rollout.robot
        gravity = float(np.linalg.norm(rollout.spec.scene.gravity))
        self._soles = SoleContacts(rollout.robot, gravity)
        self._zmp = contact_zmp(rollout)
        self._margin, self._has_margin = margins(
            self._zmp, rollout.contact_tick, rollout.contact_points
        )
        joints, bodies = rollout.joint_positions, rollout.body_poses
        self._com = com_positions(self._robot, joints, bodies)
        poses = link_poses(self._robot, joints, bodies)
        turns = Rotation.from_matrix(poses[..., :3, :3].reshape(-1, 3, 3)).as_quat()
        self._links = np.concatenate(
            [poses[..., :3, 3], turns.reshape(*poses.shape[:2], 4)], axis=-1
        )
        self._fed = [
            name
            for name in ('velocities', 'efforts')
            if np.any(getattr(rollout, f'target_{name}'))
        ]

    def all(self) -> Iterator[Message]:
        """Yield every message."""
        rollout = self._rollout
        if len(self._robot.roots) == 1:
            text = to_urdf(self._robot)
            yield self._of(DESCRIPTION, 'std_msgs/msg/String', self._stamp(0), data=text)
        targets = applied(rollout)
        script = CommandScript(rollout.spec.script)
        for true, seen in zip(states(rollout), observations(rollout), strict=True):
            stamp = self._stamp(true.tick)
            yield self._of('/clock', 'rosgraph_msgs/msg/Clock', stamp, clock=self._time(stamp))
            yield self.joint_states(seen, stamp)
            yield self.odometry(true, stamp)
            if seen.imu is not None:
                yield self.imu(seen, stamp)
            yield self.foot_contacts(true, stamp)
            yield from self.stability(true, stamp)
            yield self.transforms(true, stamp)
            if true.tick < rollout.ticks:
                yield self.observation(seen, script.at(true.tick * rollout.dt), stamp)
                yield self.trajectory(next(targets), stamp)

    def _stamp(self, tick: int) -> int:
        return round((tick + 1) * self._rollout.dt * 1e9)

    def joint_states(self, seen: Observation, stamp: int) -> Message:
        """Return the joints, then the force elements; what is not measured stays empty."""
        names, none = list(seen.joint_names), np.zeros(0)
        positions, velocities, efforts = (
            none if values is None else values
            for values in (seen.joint_positions, seen.joint_velocities, seen.joint_efforts)
        )
        if seen.element_lengths is not None:
            names += seen.element_names
            positions = np.concatenate((positions, seen.element_lengths))
            # Elements report no rate: a shorter array would not say whose rates it holds.
            velocities = none
            forces = none if seen.element_forces is None else seen.element_forces
            efforts = np.concatenate((efforts, forces))
        return self._of(
            '/joint_states',
            'sensor_msgs/msg/JointState',
            stamp,
            header=self._header(stamp, ''),
            name=names,
            position=positions,
            velocity=velocities,
            effort=efforts if len(efforts) == len(names) else none,
        )

    def odometry(self, true: Observation, stamp: int) -> Message:
        """Return the base's pose, and its twist in its own frame (REP-105)."""
        assert true.body_poses is not None and true.body_twists is not None
        pose, twist = true.body_poses[0], true.body_twists[0]
        turn = Rotation.from_quat(pose[3:]).as_matrix()
        return self._of(
            '/odom',
            'nav_msgs/msg/Odometry',
            stamp,
            header=self._header(stamp, ODOM),
            child_frame_id=base_frame(self._robot),
            pose=self._types['geometry_msgs/msg/PoseWithCovariance'](
                pose=self._types['geometry_msgs/msg/Pose'](
                    position=self._vector(pose[:3], 'Point'),
                    orientation=self._quaternion(pose[3:]),
                ),
                covariance=np.zeros(36),
            ),
            twist=self._types['geometry_msgs/msg/TwistWithCovariance'](
                twist=self._types['geometry_msgs/msg/Twist'](
                    linear=self._vector(twist[:3] @ turn), angular=self._vector(twist[3:] @ turn)
                ),
                covariance=np.zeros(36),
            ),
        )

    def imu(self, seen: Observation, stamp: int) -> Message:
        """Return the inertial reading in the frame of the link that carries it (REP-145)."""
        reading = seen.imu
        assert reading is not None
        variances = self._rollout.spec.scene.sensors.imu_variances
        turned, turning, speeding = (np.eye(3).ravel() * one for one in variances)
        return self._of(
            '/imu/data',
            'sensor_msgs/msg/Imu',
            stamp,
            header=self._header(stamp, self._robot.imu_link or self._robot.roots[0]),
            orientation=self._quaternion(reading.orientation),
            orientation_covariance=turned,
            angular_velocity=self._vector(reading.angular_velocity),
            angular_velocity_covariance=turning,
            linear_acceleration=self._vector(reading.linear_acceleration),
            linear_acceleration_covariance=speeding,
        )

    def foot_contacts(self, true: Observation, stamp: int) -> Message:
        """Return contact, force and centre of each sole."""
        contacts = true.contacts
        assert contacts is not None
        return self._of(
            '/foot_contacts',
            'gait_interfaces/msg/FootContacts',
            stamp,
            header=self._header(stamp, ODOM),
            soles=list(contacts.soles),
            in_contact=self._soles.update(contacts),
            forces=[self._vector(force) for force in contacts.sole_forces()],
            centres=[self._vector(centre, 'Point') for centre in sole_centres(contacts)],
        )

    def stability(self, true: Observation, stamp: int) -> Iterator[Message]:
        """Yield the zero moment point where it is defined, and the state of balance."""
        tick, contacts = true.tick, true.contacts
        assert contacts is not None
        defined, points = bool(self._zmp.defined[tick]), contacts.points
        zmp = self._vector(self._zmp.points[tick], 'Point')
        header = self._header(stamp, ODOM)
        if defined:
            yield self._of(
                '/zmp', 'geometry_msgs/msg/PointStamped', stamp, header=header, point=zmp
            )
        height = (
            float(self._zmp.points[tick, 2] if defined else points[:, 2].mean())
            if len(points)
            else 0.0
        )
        corners = support_polygon(points) if len(points) else np.zeros((0, 2))
        yield self._of(
            '/stability',
            'gait_interfaces/msg/Stability',
            stamp,
            header=header,
            status=_STATUS.get(self._zmp.status(tick), _SEVERAL_HEIGHTS),
            zmp=[zmp] if defined else [],
            com=self._vector(self._com[tick], 'Point'),
            support_polygon=[self._vector((x, y, height), 'Point') for x, y in corners.tolist()],
            margin=self._margin[tick : tick + 1] if self._has_margin[tick] else np.zeros(0),
        )

    def transforms(self, true: Observation, stamp: int) -> Message:
        """Return every frame, as a bridge with ``publish_link_tf`` does."""
        assert true.body_poses is not None
        robot = self._robot
        rows = list(base_transforms(robot, true.joint_positions, true.body_poses))
        rows += [
            (ODOM, link.name, pose)
            for link, pose in zip(robot.links, self._links[true.tick], strict=True)
            if link.name not in robot.roots
        ]
        transforms = [
            self._types['geometry_msgs/msg/TransformStamped'](
                header=self._header(stamp, parent),
                child_frame_id=child,
                transform=self._types['geometry_msgs/msg/Transform'](
                    translation=self._vector(pose[:3]), rotation=self._quaternion(pose[3:])
                ),
            )
            for parent, child, pose in rows
        ]
        return self._of('/tf', 'tf2_msgs/msg/TFMessage', stamp, transforms=transforms)

    def observation(self, seen: Observation, command: Any, stamp: int) -> Message:
        """Return all that the controller was given at a tick, to the last bit."""
        quantity = self._types['gait_interfaces/msg/Quantity']
        set_points = [
            quantity(name=name, value=float(value), unit='')
            for name, value in command.set_points.items()
        ]
        return self._of(
            OBSERVATION,
            'gait_interfaces/msg/LockstepObservation',
            stamp,
            trial_id='recorded',
            tick=seen.tick,
            seed=derived_seed(self._rollout.spec.seed, CONTROLLER_SEED),
            dt=self._rollout.dt,
            command=self._types['gait_interfaces/msg/Command'](
                velocity=np.array(command.velocity, dtype=np.float64), set_points=set_points
            ),
            observation=self._observed(seen),
        )

    def _observed(self, seen: Observation) -> Any:
        kind, none = self._types['gait_interfaces/msg/Observation'], np.zeros(0)
        given, fields = 0, {}
        for name in ARRAYS:
            value = getattr(seen, name)
            given |= 0 if value is None else getattr(kind, name.upper())
            fields[name] = none if value is None else np.ascontiguousarray(value).reshape(-1)
        imu, contacts = seen.imu, seen.contacts
        fields['imu'] = none
        if imu is not None:
            given |= kind.IMU
            fields['imu'] = np.concatenate(
                (imu.orientation, imu.angular_velocity, imu.linear_acceleration)
            )
        assert contacts is not None
        return kind(
            tick=seen.tick,
            time=float(seen.time),
            given=given | kind.CONTACTS,
            joint_names=list(seen.joint_names),
            body_names=list(seen.body_names),
            element_names=list(seen.element_names),
            soles=list(contacts.soles),
            contact_soles=contacts.sole,
            contact_points=contacts.points.reshape(-1),
            contact_forces=contacts.forces.reshape(-1),
            contact_depths=contacts.depths,
            **fields,
        )

    def trajectory(self, targets: AppliedTargets, stamp: int) -> Message:
        """Return the targets of a control period, a point per sub-sample; what is 0 stays out."""
        none, rows = np.zeros(0), len(targets.position)
        period = self._rollout.dt * 1e9
        points = [
            self._types['trajectory_msgs/msg/JointTrajectoryPoint'](
                positions=targets.position[row],
                velocities=targets.velocity[row] if 'velocities' in self._fed else none,
                accelerations=none,
                effort=targets.effort[row] if 'efforts' in self._fed else none,
                time_from_start=self._time(round(period * (row + 1) / rows), 'Duration'),
            )
            for row in range(rows)
        ]
        return self._of(
            TARGETS,
            'trajectory_msgs/msg/JointTrajectory',
            stamp,
            # A stamp of zero means at once: a bag is played at any time.
            header=self._header(0, ''),
            joint_names=list(self._robot.target_names),
            points=points,
        )

    def _of(self, topic: str, kind: str, stamp: int, **fields: Any) -> Message:
        return topic, kind, stamp, self._types[kind](**fields)

    def _time(self, stamp: int, kind: str = 'Time') -> Any:
        seconds, nanoseconds = divmod(stamp, 10**9)
        return self._types[f'builtin_interfaces/msg/{kind}'](sec=seconds, nanosec=nanoseconds)

    def _header(self, stamp: int, frame: str) -> Any:
        return self._types['std_msgs/msg/Header'](stamp=self._time(stamp), frame_id=frame)

    def _vector(self, values: Any, kind: str = 'Vector3') -> Any:
        x, y, z = (float(value) for value in values)
        return self._types[f'geometry_msgs/msg/{kind}'](x=x, y=y, z=z)

    def _quaternion(self, values: FloatArray) -> Any:
        x, y, z, w = (float(value) for value in values)
        return self._types['geometry_msgs/msg/Quaternion'](x=x, y=y, z=z, w=w)
