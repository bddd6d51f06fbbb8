# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Monitor of a gait, which logs and publishes its troubles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

from gait_core.robot.model import RobotModel
from gait_core.safety.layer import STANDING
from gait_ros.live.motion_claim import MotionClaim
from gait_ros.live.motion_input import MotionInput
from gait_ros.live.observation import FIELD_TOPICS, LiveObservation
from gait_ros.live.safe_output import SafeOutput
from gait_ros.live.step_clock import StepClock
from gait_ros.messages.diagnostics import Diagnostics
from gait_ros.nodes.clock import ClockWatch
from gait_ros.nodes.event_queue import EVENT_QUEUE
from gait_ros.nodes.faults import START_TIME
from gait_ros.nodes.managed import ManagedNode
from gait_ros.nodes.publisher_checks import describe_second_publisher, describe_type_mismatches

# Age [s] above which inputs are missing, also counted from the activation.
_MAX_INPUT_AGE = 3.0
# Time [s] after which a lasting trouble is logged again.
_REPEAT_TIME = 10.0


@dataclass(frozen=True, kw_only=True)
class LiveInputs:
    """Inputs of a live gait: observation, claim on the robot and motion requests."""

    observation: LiveObservation
    claim: MotionClaim
    motion: MotionInput


@dataclass(frozen=True, kw_only=True)
class WatchedGait:
    """
    Gait and its parts, for a monitor.

    Attributes
    ----------
    robot : RobotModel
    robot_name : str
        Name or folder of the robot.
    controller : str
        Registered name.
    clock : StepClock
    safe : SafeOutput
    live : LiveInputs or None
        None in lock-step.

    """

    robot: RobotModel
    robot_name: str
    controller: str
    clock: StepClock
    safe: SafeOutput
    live: LiveInputs | None


class GaitWatch:
    """
    Monitor of a gait.

    It reports the first trouble in this order: time that stands still, a topic of a wrong type, a
    second publisher of targets, missing inputs, and the safety layer. In the first 3 s after the
    activation it reports urgent troubles only.

    Parameters
    ----------
    node : ManagedNode
        Node of the gait.
    gait : WatchedGait

    Attributes
    ----------
    waiting : str
        One line on the inputs for which the gait waits, set by its node; empty if it steps.

    """

    def __init__(self, node: ManagedNode, gait: WatchedGait) -> None:
        self._node, self._gait = node, gait
        self._diagnostics = Diagnostics(node, 'controller')
        self._clock_watch = ClockWatch('The robot keeps its last targets')
        self._mistyped: list[str] = []
        self._activated = 0
        # Kind of the trouble that was logged last, and the time of its line [ns].
        self._logged = '', 0
        self.waiting = ''

    def begin(self) -> None:
        """Note the time of the activation."""
        self._activated = self._now()

    def update(self) -> None:
        """Find troubles, log the first, and publish diagnostics; to be called once per second."""
        gait = self._gait
        self._mistyped = describe_type_mismatches(self._node)
        if gait.live is not None:
            gait.live.claim.update_conflict()
        trouble, blind = self.find_trouble(), self._undetectable_falls()
        self._log(trouble or blind)
        active = self._node.active
        is_urgent = gait.safe.is_urgent or self._conflict or (blind and not trouble)
        self._diagnostics.publish(
            self._node.get_clock().now().to_msg(),
            gait.robot_name,
            trouble or blind or ('' if active else 'inactive: configure and activate it'),
            self.diagnostic_values,
            is_error=active and bool(is_urgent),
            ok_message='standing' if gait.safe.layer.mode == STANDING else 'running',
        )

    def describe_missing_inputs(self, absent: Sequence[str]) -> str:
        """Return one line on missing inputs of a controller, and on their topics."""
        topics = sorted(
            {
                self._node.resolve_topic_name(FIELD_TOPICS[name])
                for name in absent
                if name in FIELD_TOPICS
            }
        )
        silent = [topic for topic in topics if not self._node.count_publishers(topic)]
        why = f'nobody publishes {" and ".join(silent)}' if silent else ''
        if topics and not silent:
            listed = ' and '.join(topics)
            why = f'no valid values on {listed}: compare names and QoS by ros2 topic info -v'
        return f'waiting for {", ".join(absent)}' + (f': {why}' if why else '')

    def _now(self) -> int:
        return int(self._gait.clock.steady.now().nanoseconds)

    @property
    def _time_active(self) -> float:
        return (self._now() - self._activated) * 1e-9

    @property
    def _conflict(self) -> str:
        return self._gait.live.claim.conflict if self._gait.live is not None else ''

    def _log(self, trouble: str) -> None:
        """Log a trouble when it begins, and every 10 s while it lasts."""
        kind, now = trouble.partition(':')[0], self._now()
        if trouble and (kind != self._logged[0] or now - self._logged[1] > _REPEAT_TIME * 1e9):
            if self._may_wait_for_start(trouble):
                self._node.get_logger().info(trouble)
            else:
                self._node.get_logger().warning(trouble)
            self._logged = kind, now
        elif not trouble:
            self._logged = '', 0

    def _may_wait_for_start(self, trouble: str) -> bool:
        """Return whether a trouble is that other nodes may not have started yet."""
        clock = self._gait.clock
        is_waiting = trouble == self.waiting or (clock.is_simulated and not clock.now())
        return is_waiting and trouble != self._conflict and self._time_active < START_TIME

    def find_trouble(self) -> str:
        """Return one line on the trouble that keeps an active gait from walking; or empty."""
        gait = self._gait
        if not self._node.active:
            return ''
        if self._time_active < _MAX_INPUT_AGE:
            return gait.safe.trouble if gait.safe.is_urgent else ''
        if gait.live is not None and gait.clock.is_simulated:
            stopped = self._clock_watch.find_trouble(gait.clock.now())
            several = describe_second_publisher(
                self._node, '/clock', 'time jumps from one to the other', 0
            )
            if stopped or several:
                return stopped or several
        wrong_type = self._mistyped[0] if self._mistyped else ''
        return wrong_type or self._conflict or self.waiting or self._safety_trouble()

    def _undetectable_falls(self) -> str:
        """Return one line if falls should be detected but cannot be; empty otherwise."""
        gait, layer = self._gait, self._gait.safe.layer
        watches = layer.params.enabled and layer.params.fall_action != 'ignore'
        if gait.live is None or not (self._node.active and watches and gait.robot.fall):
            return ''
        age = gait.live.observation.tilt_age()
        if age < _MAX_INPUT_AGE or self._time_active < _MAX_INPUT_AGE:
            return ''
        since = '' if math.isinf(age) else f' for {age:.1f} s'
        imu, odom = map(self._node.resolve_topic_name, ('imu/data', 'odom'))
        return (
            f'falls cannot be detected: no valid message on {imu} or {odom}{since}; publish one '
            'of them, or set safety.fall_action to ignore'
        )

    def _safety_trouble(self) -> str:
        """Return the reason why the safety layer does not follow the controller; or empty."""
        live, safe = self._gait.live, self._gait.safe
        if live is None or not safe.layer.params.enabled:
            return safe.stop_reason or safe.fault
        unmeasured = live.observation.unmeasured_joints()
        if unmeasured:
            return (
                f"waiting for joint_states of {len(unmeasured)} joints, first '{unmeasured[0]}': "
                'no message contains them'
            )
        return safe.trouble

    def diagnostic_values(self) -> dict[str, object]:
        """Return the named values of the diagnostics."""
        gait, live = self._gait, self._gait.live
        values: dict[str, object] = {
            'controller': gait.controller,
            'lockstep': live is None,
            'active': self._node.active,
        }
        if live is None:
            return values
        return {
            **values,
            'command': ' '.join(f'{speed:.3f}' for speed in live.motion.command.velocity),
            'commands beyond bounds': live.motion.clipped_count,
            'age of joint_states [s]': live.observation.age(),
            'ignored': '; '.join(live.observation.ignored_content),
            'last stop': gait.safe.last_stop_reason,
            'messages left out': EVENT_QUEUE.replaced_count,
            **gait.safe.counts(),
        }
