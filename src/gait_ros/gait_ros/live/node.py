# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lifecycle node of any registered controller, live or in lock-step with a bridge."""

from __future__ import annotations

import sys

if __name__ == '__main__':
    # A signal ends the imports below without a traceback.
    from gait_ros.executables import controller_node

    sys.exit(controller_node())

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
import time
from typing import Any

from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from gait_core import registry
from gait_core.contracts import Controller
from gait_core.errors import ConfigurationError, describe_error
from gait_core.files.archives import load_weights
from gait_core.motion.observation import missing_fields
from gait_core.motion.targets import JointTargets, TargetMemory
from gait_core.parameters.declaration import (
    UNSET_LEG,
    Parameters,
    leg_parameter_names,
    make_parameters,
)
from gait_core.robot.load import load_robot
from gait_core.safety.layer import FALLEN
from gait_core.trial.champion import GaitOrigin, read_gait_file, read_origin
from gait_core.trial.robot_gait import choose_controller, resolve_gait
from gait_core.trial.setup import nest_settings
from gait_core.trial.spec import Command
from gait_interfaces.msg import FootContacts, GaitState
from gait_interfaces.srv import LoadGait
from gait_ros.live.gait_watch import GaitWatch, LiveInputs, WatchedGait
from gait_ros.live.motion_claim import MotionClaim
from gait_ros.live.motion_input import MotionInput
from gait_ros.live.node_champion import check_origin, find_node_champion, make_node_champion
from gait_ros.live.node_parameters import NO_PRESET, ControllerNodeParams
from gait_ros.live.observation import LiveObservation
from gait_ros.live.posture_input import make_posture_input
from gait_ros.live.safe_output import SafeOutput
from gait_ros.live.step_clock import StepClock
from gait_ros.messages.commands import to_commands, to_gait_state
from gait_ros.messages.conversions import BUILDER
from gait_ros.messages.markers import gait_markers
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS, ThrottledLogger, destroyed_if_refused
from gait_ros.nodes.managed import ManagedNode
from gait_ros.nodes.parameters import (
    DeclaredParameters,
    parameter_overrides,
    refuse_unknown_overrides,
)
from gait_ros.nodes.qos import advertise, guard_callback, subscribe
from gait_ros.nodes.run import run_node
from gait_ros.nodes.services import offer_service
from gait_ros.trials.lockstep import LockstepClient

_ORIGIN_PREFIXES = 'provenance.spec.', 'provenance.robot.'
# Shortest wall time between two checks, and between two messages of markers [s].
_WATCH_PERIOD = 1.0
_MARKER_PERIOD = 0.1
# Longest wait [s] for reliable subscribers to acknowledge the last message, and time [s] that it
# may take to best-effort subscribers.
_ACKNOWLEDGE_TIME, _TRANSPORT_TIME = 0.2, 0.05


class ControllerNode(ManagedNode):
    """
    Node of a controller.

    Parameters
    ----------
    name : str
        Name of the node.
    robot, controller : str
        Defaults of the parameters with these names.

    Attributes
    ----------
    robot : RobotModel
    controller_name : str
        Registered name.
    controller : Controller

    """

    def __init__(
        self, name: str = 'controller', *, robot: str = '', controller: str = '', **kwargs: Any
    ) -> None:
        super().__init__(name, **kwargs)
        with destroyed_if_refused(self):
            self._champion = find_node_champion(parameter_overrides(self), self.arguments)
            defaults: dict[str, Any] = {'robot': robot, 'controller': controller}
            if self._champion is not None:
                defaults = self._champion.controller_defaults()
            self._declared = DeclaredParameters(self, ControllerNodeParams, defaults=defaults)
            self._chosen = self._declared.value
            self.autostart = self._chosen.autostart
            if not self._chosen.robot:
                raise ConfigurationError("parameter 'robot' is empty; name one, e.g. robot:=guroo")
            simulated = bool(self.get_parameter('use_sim_time').value)
            self._chosen.check_demo(simulated, commanded=bool(self._chosen.command))
            self._make_controller()
            self._step_clock = StepClock(
                self, 1.0 / self._chosen.control_rate, self._on_period, self._on_time_back
            )
            self._steady = self._step_clock.steady
            self._safe = SafeOutput(
                self,
                self.robot,
                self._reset_controller,
                self._on_stopped,
                self._chosen.interface if self._chosen.output == 'commands' else '',
            )
            refuse_unknown_overrides(self)
            self._advertise()
            # By wall time, so that the checks continue while simulated time stands still.
            watch = guard_callback(self, 'watching the gait', lambda _: self._on_watch())
            self.create_timer(_WATCH_PERIOD, lambda: watch(None), clock=self._steady)

    def _make_controller(self) -> None:
        """Load the robot, declare the parameters of the gait, and make the controller."""
        chosen = self._chosen
        self.robot = load_robot(chosen.robot, chosen.draw)
        champion = self._champion
        preset = '' if chosen.preset == NO_PRESET else chosen.preset
        name, _ = choose_controller(self.robot, chosen.controller, preset)
        cls = registry.controller(name)
        self.controller_name = name
        # Metrics of a leg, such as duty_factor.fl beside duty_factor, cannot be nested.
        origins = (
            (key, value)
            for key, value in parameter_overrides(self).items()
            if key.startswith(_ORIGIN_PREFIXES)
        )
        origin = read_origin(nest_settings(origins).get('provenance'))
        self._check_origin(origin)
        if champion is not None:
            champion.check_parameters(asdict(chosen))
            if chosen.demo and not chosen.command:
                champion.check_command()
        defaults: Mapping[str, Any] = {}
        # A champion replaces presets: a parameter that it lacks had the default of the controller
        # in its trial.
        if champion is None and chosen.preset != NO_PRESET:
            gait = resolve_gait(self.robot, name, preset)
            defaults = gait.parameters
            if gait.ignored:
                self.get_logger().info(gait.ignored)
        self._weights: tuple[Mapping[str, Any], ...] = ()
        if chosen.weights:
            self._weights = (load_weights(chosen.weights, chosen.weights_sha256),)
        legs = dict.fromkeys(
            leg_parameter_names(cls.Params, [leg.name for leg in self.robot.legs]), UNSET_LEG
        )
        self._gait = DeclaredParameters(
            self,
            cls.Params,
            prefix='gait',
            defaults={**legs, **defaults},
            check=lambda params: self._check_gait(lambda: cls(self.robot, params, *self._weights)),
            on_change=self._on_gait_change,
        )
        self.controller: Controller = cls(self.robot, self._gait.value, *self._weights)
        self.controller.reset(chosen.seed)

    def _check_origin(self, origin: GaitOrigin) -> None:
        """Refuse a gait for another controller or robot; warn if that cannot be decided."""
        warning = check_origin(origin, self._chosen.robot, self.controller_name)
        if warning:
            self.get_logger().warning(warning)

    def _advertise(self) -> None:
        """Create publishers, subscriptions, services and checks."""
        chosen = self._chosen
        is_trajectory = chosen.output == 'joint_trajectory'
        self._targets_publisher = advertise(
            self, JointTrajectory if is_trajectory else Float64MultiArray, chosen.output
        )
        self._state_publisher = advertise(self, GaitState, 'gait_state')
        self._markers = advertise(self, MarkerArray, 'gait_markers')
        self._last_markers_time = 0
        self._live = None if chosen.lockstep else self._subscribe()
        self._watch = GaitWatch(
            self,
            WatchedGait(
                robot=self.robot,
                robot_name=chosen.robot,
                controller=self.controller_name,
                clock=self._step_clock,
                safe=self._safe,
                live=self._live,
            ),
        )
        offer_service(self, LoadGait, '~/load_gait', self._on_load_gait)
        self._lockstep: LockstepClient | None = None
        self._loading = False
        self._log_fault = ThrottledLogger(self.get_logger())

    def _demo_velocity(self) -> tuple[float, float, float]:
        recorded = self._champion.velocity if self._champion is not None else None
        x, y, yaw = (
            self._chosen.command
            or recorded
            or self.robot.defaults.get('command')
            or (0.0, 0.0, 0.0)
        )
        return x, y, yaw

    def _subscribe(self) -> LiveInputs:
        """Subscribe to observations and motion requests."""
        claim = MotionClaim(self, self._chosen.output)
        observation = LiveObservation(self.robot, self.get_logger().warning, self._step_clock.now)
        for kind, topic, callback in (
            (JointState, 'joint_states', observation.add_joint_state),
            (FootContacts, 'foot_contacts', observation.add_foot_contacts),
            (Imu, 'imu/data', observation.add_imu),
            (Odometry, 'odom', observation.add_odometry),
        ):
            subscribe(self, kind, topic, callback)
        motion = MotionInput(
            self,
            self._step_clock.now,
            stamped=self._chosen.stamped_cmd_vel,
            timeout=lambda: self._declared.value.command_timeout,
            bounds=lambda: self.controller.velocity_limits,
            demonstration=self._demo_velocity() if self._chosen.demo else None,
            posture=make_posture_input(self, self.controller, self._walk_refusal),
            refusal=self._walk_refusal,
        )
        return LiveInputs(observation=observation, claim=claim, motion=motion)

    @property
    def _command(self) -> Command:
        return self._live.motion.command if self._live is not None else Command()

    # ------------------------------------------------------------------------------- lifecycle

    def activate(self) -> None:
        """Start to step the controller: at its control rate, or in lock-step with a bridge."""
        if self._live is None:
            self._lockstep = LockstepClient(
                self,
                self.controller,
                self._chosen.bridge,
                lambda: self._declared.value.lockstep_delay,
                self._stopped,
            )
        else:
            self._live.claim.begin()
            self._begin()
            self._step_clock.start()
        self._watch.begin()

    def deactivate(self) -> None:
        """Stop stepping the controller; the last message to the robot is a hold."""
        if self._step_clock.stop():
            self._hold()
            self._targets_publisher.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGE_TIME))
            # Best-effort subscribers acknowledge nothing, and lose a message in transport when its
            # publisher ends.
            time.sleep(_TRANSPORT_TIME)
        self._cancel_motion()
        if self._live is not None:
            self._live.claim.end()
        if self._lockstep is not None:
            self._lockstep.close()
            self._lockstep = None

    def _hold(self) -> None:
        """Publish the last target positions, without velocity and effort."""
        held = None if self._live is None else self._safe.layer.hold()
        if held is not None:
            self._send(held, 1.0 / self._chosen.control_rate)

    def _on_stopped(self) -> None:
        self._cancel_motion()
        # Hold at once, without waiting for the next control period.
        if self.active:
            self._hold()

    def _stopped(self) -> str:
        """Return the reason why there are no targets in lock-step; empty if there are."""
        self._safe.handle_stops()
        return self._safe.stop_reason

    def _begin(self) -> None:
        """Reset the controller and start the safety layer anew."""
        self._is_reset = False
        self._reset_controller()
        self._safe.layer.restart()
        self._sent: JointTargets | None = None
        self._memory = TargetMemory(self.robot.target_names, self.robot.stance)

    def _on_time_back(self) -> None:
        if self._live is not None:
            self._live.observation.forget_later_readings()
            self._live.motion.forget_velocity()
        self._begin()

    def _reset_controller(self) -> None:
        """Reset the controller, unless it was not stepped since its last reset."""
        if not self._is_reset:
            self.controller.reset(self._declared.value.seed)
        self._is_reset = True
        self._tick, self._time = 0, 0.0

    # ---------------------------------------------------------------------------------- stepping

    def _on_period(self) -> None:
        live = self._live
        assert live is not None
        try:
            self._run_period(live)
        except CAUGHT_EXCEPTIONS as error:
            self._safe.record_fault(error)
            self._hold()
            live.claim.publish(self._safe.layer.mode)

    def _run_period(self, live: LiveInputs) -> None:
        """Run one control period: observe, check, step the controller, limit and publish."""
        self._safe.handle_stops()
        # Time since the last step, and time in which the new targets are to be reached.
        dt, span = self._step_clock.advance()
        observation = live.observation.make_observation(self._tick, self._time)
        absent = missing_fields(observation, self.controller.needs)
        # Before the first motion, wait until no other node publishes targets. Later only report
        # one: a robot in the middle of a gait would fall if the gait stopped.
        self._watch.waiting = '' if live.claim.is_requested else live.claim.conflict
        if absent:
            self._watch.waiting = self._watch.describe_missing_inputs(absent)
        self._report(self._publish_markers)
        if self._watch.waiting:
            return

        def step() -> JointTargets:
            """Step the controller; its reset may have changed tick and time since."""
            self._is_reset = False
            present = live.observation.make_observation(self._tick, self._time)
            targets = self.controller.step(dt, self._command, present)
            self._tick, self._time = self._tick + 1, self._time + dt
            return targets

        age = live.observation.age(self.controller.needs)
        moving = live.motion.update(
            dt, self.requests_motion(), self._safe.layer.mode, self.controller.state, self._sent
        )
        # A gait starts from the beginning: reset the controller once the last one has ended.
        if live.motion.gait_has_ended:
            self._reset_controller()
        # After a late period, targets are limited as after one of usual length, so that the robot
        # does not move faster to make up for the delay.
        self._sent = self._safe.next_targets(min(dt, span), observation, age, step, moving)
        # A fallen robot must not walk again by an old request.
        if self._safe.layer.mode == FALLEN:
            self._cancel_motion()
        if self._sent is not None:
            self._send(self._sent, span)
            live.claim.publish(self._safe.layer.mode)
        self._report(self._publish_state)

    def requests_motion(self) -> bool:
        """Return whether a motion other than the walk is requested; False for the generic node."""
        return False

    def _cancel_motion(self) -> None:
        if self._live is not None:
            self._live.motion.cancel()

    def _walk_refusal(self) -> str:
        """Return the reason why the robot cannot walk now; empty if it can."""
        if not self.active:
            return 'the node is inactive: configure and activate it'
        return self._safe.trouble if self._safe.is_urgent else ''

    def _send(self, targets: JointTargets, period: float) -> None:
        """Publish targets that are to be reached within a period [s]."""
        if self._chosen.output == 'joint_trajectory':
            self._targets_publisher.publish(BUILDER.trajectory(targets, period))
        else:
            applied = self._memory.resolve(targets)
            self._targets_publisher.publish(to_commands(applied, self._chosen.interface))

    def _report(self, report: Callable[[], None]) -> None:
        """Call a function that publishes; log its failure, so that the robot does not stop."""
        try:
            report()
        except CAUGHT_EXCEPTIONS as error:
            self._log_fault(
                f'gait_state or gait_markers are not published: {describe_error(error)}'
            )

    def _publish_state(self) -> None:
        if self._state_publisher.get_subscription_count():
            stamp = self.get_clock().now().to_msg()
            state = self.controller.state()
            self._state_publisher.publish(
                to_gait_state(stamp, self.controller_name, state, self.behaviour())
            )

    def _publish_markers(self) -> None:
        """Publish markers, at 10 Hz at most, if the topic has subscribers."""
        now = self._steady.now().nanoseconds
        if (
            now - self._last_markers_time < _MARKER_PERIOD * 1e9
            or not self._markers.get_subscription_count()
        ):
            return
        self._last_markers_time = now
        gait = ' '.join(filter(None, (self.controller_name, self.behaviour())))
        waiting = self._watch.waiting
        stop = waiting or self._safe.last_stop_reason
        is_stepping = not (waiting or self._safe.is_urgent)
        footholds = self.controller.planned_footholds() if is_stepping else {}
        self._markers.publish(gait_markers(self.robot, self._command, gait, stop, footholds))

    def behaviour(self) -> str:
        """Return the behaviour for ``gait_state``; empty for a controller without behaviours."""
        return ''

    def _check_gait(self, make: Callable[[], Controller]) -> None:
        """Check parameters by making a controller; its ConfigurationError is the refusal."""
        self.handle_due_work()
        make()

    def handle_due_work(self) -> None:
        """Handle emergency stops and a due control period, ahead of waiting requests."""
        self._safe.handle_stops()
        # A controller must not be stepped while it is loaded.
        if not self._loading:
            self._step_clock.catch_up()

    def _on_gait_change(self, params: Parameters) -> None:
        self.controller.set_params(params)
        self._safe.layer.start_blend()

    def _on_load_gait(
        self, request: LoadGait.Request, response: LoadGait.Response
    ) -> LoadGait.Response:
        """Change the gait to that of a file; answer which parameters have changed."""
        self.handle_due_work()
        if not request.file:
            raise ConfigurationError('file is empty, expected the path of a gait or champion')
        self._loading = True
        try:
            response.changed = list(self._load_gait(Path(request.file)))
        finally:
            self._loading = False
        response.success = True
        return response

    def _load_gait(self, file: Path) -> Sequence[str]:
        """Set the parameters of a gait, and weights of a champion; all or, on an error, none."""
        found = read_gait_file(file)
        self._check_origin(found.origin)
        cls = registry.controller(self.controller_name)
        if not found.is_champion:
            return self._gait.set(found.gait(cls.Params))
        champion = make_node_champion(found)
        champion.check_body(self._chosen.robot, self._chosen.draw)
        champion.check_rate(self._chosen.control_rate)
        params = make_parameters(cls.Params, champion.spec.parameters)
        if not (champion.is_network or self._weights):
            return self._gait.replace(params)
        if self._lockstep is not None:
            raise ConfigurationError(f'{file} has weights, which cannot be changed in lock-step')
        before = self.controller, self._weights
        weights = champion.load_weights()
        # The number of weights may depend on the parameters, so both are set and checked together.
        self.controller, self._weights = cls(self.robot, params, *weights), weights
        try:
            changed = self._gait.replace(params)
        except ConfigurationError:
            self.controller, self._weights = before
            raise
        # The first pose of the new controller may be far from the present one, so the safety layer
        # moves the robot there slowly.
        self.controller.reset(self._declared.value.seed)
        self._is_reset = True
        self._safe.layer.replace_controller()
        return changed

    # ---------------------------------------------------------------------------------- watching

    def _on_watch(self) -> None:
        self._watch.update()
        if self._lockstep is not None:
            self._publish_state()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit code."""
    return run_node(ControllerNode, args)
