# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Safety layer between a live controller and a robot: soft start, clamps, watchdog, falls.

It has no clock and no messages: the caller passes the elapsed time and the age of the joint
states.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray, IntArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.motion.blend import Blend, PeakSpeed
from gait_core.motion.observation import IMU, Observation
from gait_core.motion.targets import AppliedTargets, JointTargets, TargetMemory
from gait_core.robot.model import RobotModel
from gait_core.safety.parameters import SafetyParams
from gait_core.safety.springs import ExponentialSprings

WAITING, STARTING, RUNNING = 'waiting', 'starting', 'running'
HOLDING, FALLEN, STOPPED = 'holding', 'fallen', 'stopped'
STANDING = 'standing'

WAIT, RESET, STEP, HOLD = 'wait', 'reset', 'step', 'hold'
"""
Actions that ``next_action`` returns: wait without output, reset and step the controller, step it,
hold the output.
"""

_FIELDS = ('position', 'velocity', 'effort')
_TOLERANCE = 1e-9
# Time [s] upright after which a fall ends by itself, with the parameter `recover`.
_RECOVERY_TIME = 1.0
# Distance [rad or m] of the first targets from the measured pose below which no ramp is needed.
_NEAR_DISTANCE = 0.01
# Greatest slope of the ramp u^2 (3 - 2u), divided by the slope of a straight line.
_RAMP_SLOPE = 1.5
# A joint driven by velocity alone may not reach its position limit in less than this many delays
# of its measurement: else it would pass the limit before it is braked.
_BRAKE_DELAYS = 4.0
# The delay counts the age of the measurement up to this age [s].
_MAX_DELAY = 1.0


class SafetyLayer:
    """
    Filter of a controller's targets, which holds the joints when following them is not safe.

    Once per control period call ``next_action``, step the controller if asked to, then ``output``.

    - Start: the first output is the measured pose; from there every joint moves smoothly, and
      slowly, to the controller's first targets, while the controller waits. If one period at that
      speed is enough, there is no ramp: a robot in its start pose begins as in a trial.
    - Run: targets are clamped to the joints' limits of position, speed and effort.
    - Stale joint states: the last output is held without feed-forward. When they return the robot
      starts softly again, and the gait goes on from where it was.
    - Change of the gait: ``start_blend`` blends from the old targets to the new ones.

    With ``enabled`` false only the limits and the emergency stop act.

    Parameters
    ----------
    robot : RobotModel
    params : SafetyParams
    quantity : str
        The only command interface of the robot: ``position``, ``velocity`` or ``effort``; empty:
        all that the targets have.

    Raises
    ------
    ConfigurationError
        For a joint whose limits of position are reversed, or whose limit of speed or effort is
        not positive.

    Attributes
    ----------
    mode : str
        ``waiting``, ``standing``, ``starting``, ``running``, ``holding``, ``fallen`` or
        ``stopped``.
    reason : str
        One line on why the mode is not ``running``; empty if it is.
    refusals, holds, falls, stops : int
        Number of refused targets, and of entries into a mode.
    clamped : dict of str to (n,) int array
        Number of clamped sub-samples of each of ``robot.target_names``, by quantity:
        ``position``; ``speed`` of position targets; ``velocity`` and ``effort`` targets.

    """

    def __init__(self, robot: RobotModel, params: SafetyParams, quantity: str = '') -> None:
        self._robot, self.params, self._quantity = robot, params, quantity
        n, m = len(robot.joint_names), len(robot.target_names)
        free = np.full(m - n, np.inf)
        self._lower = np.concatenate((robot.lower, -free))
        self._upper = np.concatenate((robot.upper, free))
        self._speed_limit = np.concatenate((robot.velocity_limit, free))
        self._effort_limit = np.concatenate((robot.effort_limit, free))
        self._base_in_imu = _base_in_imu(robot)
        fall = robot.fall
        self._fall_pose = {} if fall is None else dict(fall.pose)
        self.refusals = self.holds = self.falls = self.stops = 0
        self.clamped: dict[str, IntArray] = {
            name: np.zeros(m, dtype=np.int64)
            for name in ('position', 'speed', 'velocity', 'effort')
        }
        self._springs = ExponentialSprings(robot)
        self._commanded_fields: set[str] = set()
        self._measured: FloatArray | None = None
        self._age = math.inf
        self.mode = WAITING
        self.restart()

    def restart(self) -> None:
        """Wait for joint states, then start softly with a reset controller; a stop stays."""
        if self.mode == STOPPED:
            return
        self.mode, self.reason = WAITING, 'waiting for joint_states'
        self._needs_reset = True
        # Last output; ``_last_target``, the controller's within the joint limits, lacks a blend.
        self._last: FloatArray | None = None
        self._goal: FloatArray | None = None
        self._blend: Blend | None = None
        self._tilted_time = self._upright_time = 0.0

    def replace_controller(self) -> None:
        """Start softly from the last output, for a new controller that is to be reset."""
        self._needs_reset = True
        if self.mode in (STARTING, RUNNING) and self._last is not None:
            self._start_from(self._last)

    def stop(self, reason: str) -> None:
        """Hold the last output until ``resume``: the emergency stop."""
        self.stops += 1
        self.mode, self.reason = STOPPED, f'stopped: {reason}; call ~/resume to restart'

    def start_blend(self) -> None:
        """Blend from the present targets to the next ones, after a change of the gait."""
        if self.mode == RUNNING and self.params.enabled and self._last is not None:
            self._blend = Blend(self._last, self._last_target, self._peak.speed, self._start_speed)

    def resume(self) -> str:
        """End a stop or a fall; return '', or one line if there was neither."""
        if self.mode not in (STOPPED, FALLEN):
            return f'nothing to resume: the robot is {self.mode}'
        self.mode = WAITING
        self.restart()
        return ''

    # ----------------------------------------------------------------------------------- sensing

    def next_action(
        self, dt: float, observation: Observation, age: float, moving: bool = True
    ) -> str:
        """
        Return the action of this control period: WAIT, RESET, STEP or HOLD.

        Parameters
        ----------
        dt : float [s]
            Time since the last call.
        observation : Observation
        age : float [s]
            Age of the oldest joint state; ``inf`` while a joint was never measured.
        moving : bool
            Whether the controller is to move the robot; otherwise the joints hold.

        """
        self._measured, self._age = observation.joint_positions, age
        if self.mode == STOPPED:
            return HOLD
        if not self.params.enabled:
            return self._action_if_disabled(observation, moving)
        self._watch_fall(dt, observation)
        if self.mode == FALLEN:
            return HOLD
        is_stale = math.isinf(age) or 0.0 < self.params.state_timeout < age
        if is_stale:
            if self.mode != WAITING:
                self._hold_for(age)
            return WAIT if self.mode == WAITING else HOLD
        if self.mode in (WAITING, HOLDING):
            self._start_from(self._measured_pose(observation))
            return self._start_action() if moving else self._hold_standing()
        if not moving:
            return self._hold_standing()
        if self.mode == STANDING:
            assert self._last is not None
            # Start from the held targets: measured positions deviate from them under load.
            self._start_from(self._last)
            return self._start_action()
        return STEP if self.mode == RUNNING or self._goal is None else HOLD

    def _action_if_disabled(self, observation: Observation, moving: bool) -> str:
        """Return the action with the layer disabled: limits only, no ramp."""
        if not moving:
            # Before the first output there is nothing to hold.
            return WAIT if self._last is None else self._hold_standing()
        if self.mode == RUNNING:
            return STEP
        self._start_from(self._measured_pose(observation) if self._last is None else self._last)
        self.mode, self.reason = RUNNING, ''
        return self._start_action()

    def _start_action(self) -> str:
        """Return RESET for the first start after ``restart``, STEP for later ones."""
        action, self._needs_reset = RESET if self._needs_reset else STEP, False
        return action

    def _hold_standing(self) -> str:
        """Hold the last output because no motion is requested."""
        self.mode, self.reason = STANDING, 'standing: the joints hold until motion is requested'
        self._goal = self._blend = None
        return HOLD

    def _hold_for(self, age: float) -> None:
        """Enter the mode ``holding`` because joint states are stale, of an age [s]."""
        if self.mode != HOLDING:
            self.holds += 1
        self.mode = HOLDING
        self.reason = f'holding: the joint states are {age:.2f} s old'

    def _measured_pose(self, observation: Observation) -> FloatArray:
        """Return the targets that hold the measured pose, (m,); by default the stance."""
        pose: FloatArray = self._robot.stance.copy()
        if observation.joint_positions is not None:
            pose[: len(observation.joint_positions)] = observation.joint_positions
            # The target of a spring is its rest angle, from which the load has stretched it.
            pose += self._springs.stretch(observation)
        return pose

    def _start_from(self, pose: FloatArray) -> None:
        """Begin a soft start from a pose, (m,), without a goal until the first targets come."""
        self.mode, self.reason = STARTING, 'moving from the present pose to the first targets'
        self._last, self._goal, self._blend = pose, None, None
        self._last_target, self._peak = pose, PeakSpeed(len(pose))
        self._last_effort = np.zeros_like(pose)
        self._memory = TargetMemory(self._robot.target_names, pose)

    def _watch_fall(self, dt: float, observation: Observation) -> None:
        """Enter or leave the mode ``fallen`` by the tilt of the base and its duration."""
        fall, params = self._robot.fall, self.params
        up = self._vertical_component(observation)
        if fall is None or up is None or params.fall_action == 'ignore' or self.mode == WAITING:
            return
        tilt = math.acos(max(-1.0, min(1.0, up)))
        is_tilted = tilt > (params.fall_tilt or fall.max_tilt)
        self._tilted_time = self._tilted_time + dt if is_tilted else 0.0
        self._upright_time = 0.0 if is_tilted else self._upright_time + dt
        if self.mode != FALLEN and is_tilted and self._tilted_time > params.fall_time:
            self._fall(tilt)
        elif self.mode == FALLEN and params.recover and self._upright_time > _RECOVERY_TIME:
            self.restart()

    def _vertical_component(self, observation: Observation) -> float | None:
        """Return the vertical component of the base's z axis; ``None`` without IMU and poses."""
        attitude = observation.attitude
        if attitude is None:
            return None
        rotation = Rotation.from_quat(attitude.quaternion)
        if attitude.source == IMU:
            rotation *= self._base_in_imu
        return float(rotation.as_matrix()[2, 2])

    def _fall(self, tilt: float) -> None:
        """Enter the mode ``fallen``; ramp to the fall pose if there is one, else hold."""
        self.falls += 1
        self.mode = FALLEN
        self.reason = f'fallen: the base tilts by {tilt:.2f} rad; call ~/resume to restart'
        self._goal = None
        if self._last is not None and self._fall_pose and self.params.fall_action == 'pose':
            goal = self._last.copy()
            for i, name in enumerate(self._robot.target_names):
                goal[i] = self._fall_pose.get(name, goal[i])
            self._ramp_to(np.clip(goal, self._lower, self._upper))

    # ------------------------------------------------------------------------------------ output

    def count_refusal(self) -> None:
        """Count a control period in which the controller failed or its targets were not finite."""
        self.refusals += 1

    def output(self, dt: float, targets: JointTargets | None) -> JointTargets | None:
        """
        Return the output to the robot for a control period of length dt [s].

        It names every joint and force element. ``None`` until there is a measured pose.

        Parameters
        ----------
        dt : float [s]
        targets : JointTargets or None
            Targets of the controller; ``None`` if it was not stepped or failed.

        """
        if self._last is None:
            return None
        if self.mode == STARTING and targets is not None:
            applied = self._resolve(targets)
            self._ramp_to(np.clip(applied.position[-1], self._lower, self._upper))
            if self._is_near_goal(dt):
                self._run()
                return self._limit(dt, applied)
        if self._goal is not None and self.mode in (STARTING, FALLEN):
            return self._ramp_output(dt)
        if self.mode == RUNNING and targets is not None:
            return self._limit(dt, self._resolve(targets))
        if self.mode == RUNNING:
            # The controller failed. Its next targets may be far from the held ones: blend to them.
            held = self.hold()
            self.start_blend()
            return held
        return self.hold()

    def hold(self) -> JointTargets | None:
        """Return the last positions without velocity and effort; ``None`` while there are none."""
        if self._last is None:
            return None
        self._last_effort = np.zeros_like(self._last)
        return self._targets(self._last[None], np.zeros((1, len(self._last))))

    @property
    def _max_speed(self) -> FloatArray:
        """Largest speed of the targets of each joint, (m,)."""
        return self._speed_limit * self.params.speed_share

    @property
    def _start_speed(self) -> FloatArray:
        """Largest speed of each joint on a ramp, and of a blend's offset, (m,)."""
        return np.minimum(self._max_speed, self.params.start_speed)

    def _resolve(self, targets: JointTargets) -> AppliedTargets:
        """Return targets of every joint and element; joints without a new one keep the last."""
        self._commanded_fields |= {
            field for field in _FIELDS if getattr(targets, field) is not None
        }
        return self._memory.resolve(targets)

    def _ramp_to(self, goal: FloatArray) -> None:
        """Begin a ramp from the last output to a goal, (m,), at the start speed at most."""
        assert self._last is not None
        self._origin, self._goal, self._ramp_elapsed = self._last, goal, 0.0
        # Targets without positions have no goal to move to: the ramp takes no time.
        distance = (
            np.abs(goal - self._last)
            if 'position' in self._commanded_fields
            else np.zeros(len(goal))
        )
        # One duration for all joints, set by the one with the largest distance over its speed.
        # The ramp is steeper in its middle than on average.
        self._ramp_time = _RAMP_SLOPE * float((distance / self._start_speed).max(initial=0.0))

    def _is_near_goal(self, dt: float) -> bool:
        """Return whether the goal is so near that one control period at start speed reaches it."""
        assert self._last is not None and self._goal is not None
        is_near = np.abs(self._goal - self._last).max(initial=0.0) <= _NEAR_DISTANCE
        return bool(is_near) and self._ramp_time <= dt

    def _run(self) -> None:
        """Follow the controller from now on."""
        self.mode, self.reason = RUNNING, ''
        # Velocities alone have no pose to ramp to, so they are blended in instead.
        if 'velocity' in self._commanded_fields and 'position' not in self._commanded_fields:
            self.start_blend()

    def _ramp_output(self, dt: float) -> JointTargets:
        """Return the next targets of the ramp, with its velocity as feed-forward."""
        assert self._goal is not None
        u = min(1.0, self._ramp_elapsed / self._ramp_time) if self._ramp_time > 0.0 else 1.0
        if self._ramp_elapsed == 0.0:
            # The first output is the measured pose, even if the ramp takes no time.
            u = 0.0
        # Cubic with zero speed at both ends: p(u) = p0 + u^2 (3 - 2 u) d, dp/du = 6 u (1 - u) d.
        distance = self._goal - self._origin
        self._last = self._last_target = self._origin + u * u * (3.0 - 2.0 * u) * distance
        rate = (
            6.0 * u * (1.0 - u) * distance / self._ramp_time
            if self._ramp_time > 0.0
            else 0.0 * distance
        )
        self._ramp_elapsed += dt
        if self.mode == STARTING and (u >= 1.0 or self._ramp_time == 0.0):
            self._run()
        return self._targets(self._last[None], rate[None])

    def _limit(self, dt: float, applied: AppliedTargets) -> JointTargets:
        """
        Return targets of the controller within the limits of position, speed and effort.

        A blend, if there is one, adds its shrinking offset before the speed is limited.
        """
        assert self._last is not None
        requested, period = applied.position, dt / len(applied.position)
        # Positions: joint limits, then the blend, then the speed from one sub-sample to the next.
        rows = np.clip(requested, self._lower, self._upper)
        self._count_clamped('position', rows, requested)
        followed = rows
        if self._blend is not None:
            followed = self._blend.follow(rows, period)
        bounded = self._limit_speed(followed, period)
        if 'position' in self._commanded_fields:
            self._count_clamped('speed', bounded, followed)
        # Velocities: feed-forward, limited, or the motion of the clamped positions.
        target_velocity = np.diff(bounded, axis=0, prepend=self._last[None]) / period
        target_velocity = np.clip(target_velocity, -self._speed_limit, self._speed_limit)
        velocity = self._limit_velocity(dt, applied.velocity)
        if 'position' in self._commanded_fields:
            # A clamped target has another velocity than the controller's.
            velocity = np.where(
                np.abs(bounded - requested) > _TOLERANCE, target_velocity, velocity
            )
        effort = self._limit_effort(applied.effort)
        self._last, self._last_target = bounded[-1].copy(), rows[-1].copy()
        self._last_effort = effort[-1].copy()
        # A later blend adds its start speed to the peak speed of the gait.
        if self._blend is not None:
            # The speed of the gait alone, without that of the shrinking offset.
            self._peak.update(dt, self._blend.passed_speed)
        else:
            speed = target_velocity if 'position' in self._commanded_fields else velocity
            self._peak.update(dt, np.abs(speed).max(axis=0))
        if self._blend is not None and self._blend.is_done:
            self._blend = None
        return self._targets(bounded, velocity, effort)

    def _limit_speed(self, rows: FloatArray, period: float) -> FloatArray:
        """Return positions, (K, m), within the largest speed and the position limits."""
        if not self.params.enabled:
            return rows
        step, last = self._max_speed * period, self._last
        bounded = np.empty_like(rows)
        for k, row in enumerate(rows):
            assert last is not None
            # A joint that was measured beyond a limit comes back at its speed, not in a jump.
            low, high = np.minimum(self._lower, last), np.maximum(self._upper, last)
            last = bounded[k] = np.clip(np.clip(row, last - step, last + step), low, high)
        return bounded

    def _limit_velocity(self, dt: float, requested: FloatArray) -> FloatArray:
        """Return velocities within the joints' speeds that do not lead beyond their limits."""
        limit = self._max_speed if self.params.enabled else self._speed_limit
        if self._blend is not None and 'position' not in self._commanded_fields:
            limit = np.minimum(limit, self._blend.max_speed)
        velocity = np.clip(requested, -limit, limit)
        if self._quantity == 'velocity' or 'position' not in self._commanded_fields:
            # No position target holds the joint within its limits: brake towards them.
            time = _BRAKE_DELAYS * (dt + min(self._age, _MAX_DELAY))
            below, above = self._distances_to_limits()
            velocity = np.clip(velocity, -below / time, above / time)
        self._count_clamped('velocity', velocity, requested)
        return velocity

    def _limit_effort(self, requested: FloatArray) -> FloatArray:
        """Return efforts within their limits that push no joint beyond its position limits."""
        effort = requested
        if self._blend is not None:
            effort = self._blend.fade_efforts(self._last_effort, requested)
        limited = np.clip(effort, -self._effort_limit, self._effort_limit)
        if self._quantity == 'effort' or 'position' not in self._commanded_fields:
            below, above = self._distances_to_limits()
            limited = np.where(below > 0.0, limited, np.maximum(limited, 0.0))
            limited = np.where(above > 0.0, limited, np.minimum(limited, 0.0))
        self._count_clamped('effort', limited, effort)
        return limited

    def _distances_to_limits(self) -> tuple[FloatArray, FloatArray]:
        """Return the distances of each measured joint to its lower and upper limit, >= 0, (m,)."""
        free = np.full(len(self._lower), np.inf)
        if self._measured is None:
            return free, free
        now = np.zeros(len(free))
        now[: len(self._measured)] = self._measured
        return np.maximum(now - self._lower, 0.0), np.maximum(self._upper - now, 0.0)

    def _count_clamped(self, quantity: str, clamped: FloatArray, requested: FloatArray) -> None:
        self.clamped[quantity] += (np.abs(clamped - requested) > _TOLERANCE).sum(axis=0)

    def _targets(
        self, position: FloatArray, velocity: FloatArray, effort: FloatArray | None = None
    ) -> JointTargets:
        values = (position, velocity, np.zeros_like(position) if effort is None else effort)
        commanded = self._commanded_fields or {'position'}
        return JointTargets(
            names=self._robot.target_names,
            **{f: value for f, value in zip(_FIELDS, values, strict=True) if f in commanded},
        )


def _base_in_imu(robot: RobotModel) -> Rotation:
    """Return the rotation of the base in the frame of the IMU's link, in the stance."""
    if not robot.imu_link or not robot.legs:
        return Rotation.identity()
    pose = link_poses(robot, robot.joint_stance)[robot.link_index[robot.imu_link]]
    return Rotation.from_matrix(pose[:3, :3]).inv()
