# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``sim_bridge``: an engine behind topics and services, live or for trials."""

from __future__ import annotations

import sys

if __name__ == '__main__':
    # A signal ends the imports below without a traceback.
    from sim_bridge.executables import sim_bridge_node

    sys.exit(sim_bridge_node())

from collections.abc import Sequence
import os
from pathlib import Path
import time
import traceback
from typing import Any

from rclpy.clock import Clock, ClockType
from std_srvs.srv import SetBool

from gait_core.errors import ConfigurationError, SimulationDiverged, describe_error
from gait_core.files.access import expand_user
from gait_core.processes import liveness
from gait_core.robot.name_checks import format_names
from gait_core.trial.loop import TrialLoop
from gait_core.trial.scene import Scene
from gait_core.trial.seeding import check_seed
from gait_interfaces.msg import WorkerStatus
from gait_interfaces.srv import QueryTerrain, Reset, Step
from gait_ros.live.joint_topics import JointTopics
from gait_ros.live.node_champion import find_node_champion
from gait_ros.messages.conversions import BUILDER, answer_terrain_query, from_scene
from gait_ros.messages.diagnostics import Diagnostics
from gait_ros.nodes.clock import BridgeClockPublisher, ClockPublisher, ClockWatch, SimulatedTime
from gait_ros.nodes.event_queue import EVENT_QUEUE
from gait_ros.nodes.faults import START_TIME, ThrottledLogger, destroyed_if_refused
from gait_ros.nodes.managed import ManagedNode
from gait_ros.nodes.parameters import (
    DeclaredParameters,
    parameter_overrides,
    refuse_unknown_overrides,
)
from gait_ros.nodes.publisher_checks import describe_type_mismatches
from gait_ros.nodes.qos import advertise
from gait_ros.nodes.run import run_node
from gait_ros.nodes.services import offer_service
from gait_ros.trials.heartbeat import HeartbeatThread, worker_status
from gait_ros.trials.service import UNKNOWN_JOINTS, TrialService
from gait_ros.trials.state_publisher import PublishedTick, StatePublisher, StreamedRun
from sim_bridge.live import RESET_DEAD_TIME, LiveSimulation
from sim_bridge.pacing import CommandWait, RealTimePace, poll_schedule
from sim_bridge.settings import LOCKSTEP, REALTIME, BridgeParams, scene_from_parameters

# Times in s of wall time.
_MAX_TIMER_DURATION = 0.02
_HEARTBEAT_PERIOD = 0.5
_WATCH_PERIOD = 1.0
_PATIENCE = 3.0
_WARNING_PERIOD = 10.0
_FAST_TIMER_PERIOD = 0.001
_MAX_STEPS = 1000


class SimBridgeNode(ManagedNode):
    """Bridge of one engine: a live simulation under topics, and trials by ``~/run_trial``."""

    def __init__(self, **kwargs: Any) -> None:
        # Set first: `destroy_node` reads them even if the parameters are refused below.
        self._live: LiveSimulation | None = None
        self._heart: HeartbeatThread | None = None
        super().__init__('sim_bridge', **kwargs)
        with destroyed_if_refused(self):
            self._timer: Any = None
            self._champion = find_node_champion(parameter_overrides(self), self.arguments)
            self._champion_scene: Scene | None = None
            self._declared = DeclaredParameters(
                self,
                BridgeParams,
                defaults=self._champion.bridge_defaults() if self._champion is not None else {},
                on_change=self._on_change,
            )
            self._params = self._declared.value
            self.autostart = self._params.autostart
            # A champion's file has parameters of the controller node too, which are ignored here.
            refuse_unknown_overrides(self, ('gait.',) if self._champion is not None else ())
            self._time = SimulatedTime(self._params.rewind_clock)
            simulated = bool(self.get_parameter('use_sim_time').value)
            self._follows_clock = simulated and not self._params.publish_clock
            self._steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._scene: Scene | None = None
            self._streams: StreamedRun
            self._paused = False
            self._fault = self._waiting_for = ''
            self._clock_publisher: ClockPublisher | None = None
            self._reported: dict[str, tuple[str, float]] = {}
            logger = self.get_logger()
            self._warn_fixed, self._warn_trouble = (
                ThrottledLogger(logger, is_error=False) for _ in range(2)
            )
            self._conflict = ''
            self._clock_watch = ClockWatch(
                'The simulation goes on, by a clock of its own', 'The simulation waits for it'
            )
            self._advertise()

    def _advertise(self) -> None:
        """Create the topics, services and timers of the node."""
        self._joints = JointTopics(
            self, self._params, self._commanded, lambda: self._time.nanoseconds
        )
        self._states = StatePublisher(
            self,
            self._params.publish_link_tf,
            self._joints.states,
            self._joints.convert_states,
        )
        self._diagnostics = Diagnostics(self, 'simulation')
        self._own_clock = BridgeClockPublisher(self)
        self._heartbeat = advertise(self, WorkerStatus, '~/worker_status')
        self._trials = TrialService(self, self)
        offer_service(self, Reset, '~/reset', self._on_reset)
        offer_service(self, Step, '~/step', self._on_step)
        offer_service(self, SetBool, '~/pause', self._on_pause)
        offer_service(self, QueryTerrain, '~/query_terrain', self._on_query_terrain)
        liveness.set_activity(liveness.IDLE)
        self._heart = HeartbeatThread(self._on_heartbeat, _HEARTBEAT_PERIOD)
        self.create_timer(_WATCH_PERIOD, self._on_watch, clock=self._steady)

    # ------------------------------------------------------------------------------- lifecycle

    def configure(self) -> None:
        """Build the scene and its simulation; refuse to publish a second /clock."""
        params = self._params
        if not params.robot and params.mode != LOCKSTEP:
            raise ConfigurationError(
                f"parameter 'robot' is empty in mode {params.mode}; name one, e.g. robot:=guroo"
            )
        started = None
        if params.robot:
            champion = self._champion
            if champion is not None:
                champion.check_robot(params.robot)
            scene = scene_from_parameters(params, champion.scene if champion is not None else None)
            self._champion_scene = scene if champion is not None else None
            started = self._start_simulation(scene, params.seed)
        try:
            self._clock_publisher = ClockPublisher(self) if params.publish_clock else None
            if started is not None:
                self._continue_with(*started)
        except BaseException:
            if started is not None:
                started[0].close()
            self.cleanup()
            raise

    def activate(self) -> None:
        """Start to run the simulation by a timer, except in lock-step."""
        self._activated = time.monotonic()
        if self._params.mode != LOCKSTEP:
            self._start_timer()

    def deactivate(self) -> None:
        """Stop the simulation at its tick; cancel a running trial."""
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None
        self._trials.cancel()

    def cleanup(self) -> None:
        """Close the simulation and drop its scene."""
        if self._live is not None:
            self._live.close()
        if self._clock_publisher is not None:
            self._clock_publisher.close()
        self._live = self._scene = self._clock_publisher = None
        self._fault = ''

    def destroy_node(self) -> None:
        """End the heartbeat, close the engine and destroy the node."""
        if self._heart is not None:
            self._heart.stop()
        if self._live is not None:
            self._live.close()
        super().destroy_node()

    # ------------------------------------------------------------------------- the live simulation

    def _start_simulation(self, scene: Scene, seed: int) -> tuple[LiveSimulation, StreamedRun]:
        """
        Return a new simulation at tick 0, in an engine of its own, and its streams of topics.

        Streams carry states, ground and range sensors; see ``StreamedRun``.
        """
        previous = self._live
        # Time for which commands are ignored: they still belong to the walk before the reset.
        dead_time = RESET_DEAD_TIME if previous is not None and previous.is_commanded else 0.0
        champion = self._champion if scene == self._champion_scene else None
        settle_time = None if champion is None else champion.spec.settle_time
        live = LiveSimulation(scene, check_seed(seed), dead_time, settle_time)
        try:
            return live, StreamedRun(live.engine, scene, seed, self._params.sensors)
        except BaseException:
            live.close()
            raise

    def _continue_with(self, live: LiveSimulation, streams: StreamedRun) -> None:
        """Make a simulation the live one, or resume the present one after a trial."""
        self._states.begin(streams, self._time.now())
        if self._live is not None and self._live is not live:
            self._live.close()
            self._fault = ''
        before = self._scene.control_period if self._scene is not None else 0.0
        self._live, self._streams, self._scene = live, streams, live.scene
        self._pace, self._command_wait = (
            RealTimePace(live.dt),
            CommandWait(live.scene == self._champion_scene),
        )
        self._time.restart(live.dt, live.tick)
        if self._timer is not None and live.dt != before:
            self._start_timer()
        self._publish(
            PublishedTick(live.tick, live.observation, live.noisy_observation, live.applied)
        )
        # A controller that is running answers this tick: wait for it before the next one.
        self._command_wait.note_tick(time.monotonic())

    def _start_timer(self) -> None:
        """Run the simulation by a timer, whose period follows the real-time factor."""
        period, self._max_ticks = _FAST_TIMER_PERIOD, _MAX_STEPS
        if self._params.mode == REALTIME and self._scene is not None:
            factor = self._declared.value.realtime_factor
            period, self._max_ticks = poll_schedule(self._scene.control_period, factor)
        if self._timer is not None:
            self.destroy_timer(self._timer)
        self._timer = self.create_timer(period, self._on_run, clock=self._steady)

    def _on_change(self, params: BridgeParams) -> None:
        if self._timer is not None:
            self._start_timer()

    def _on_run(self) -> None:
        """Run the ticks that are due; called by the timer."""
        live = self._live
        if live is None or self._trials.running or self._paused or self._fault:
            return
        # A call of the timer ends after 0.02 s, so that services and topics are served in between.
        end = time.monotonic() + _MAX_TIMER_DURATION
        # Mode fast: as many ticks as fit into a call. Mode realtime: those due by wall time,
        # unless the clock that the node follows is behind, or a late command is waited for.
        owed = self._max_ticks
        if self._params.mode == REALTIME:
            due = self._pace.due_ticks(time.monotonic(), self._declared.value.realtime_factor)
            owed = min(due, self._max_ticks)
            if self._follows_clock and self._time.is_ahead(self.get_clock().now().nanoseconds):
                self._pace.restart()
                return
            if owed and not self._command_wait.may_step(time.monotonic(), live.command_count):
                return
        for _ in range(owed):
            if not self._step_live(live):
                return
            self._pace.count_ticks(1)
            self._command_wait.note_tick(time.monotonic())
            if time.monotonic() > end:
                return

    def _step_live(self, live: LiveSimulation) -> bool:
        """Advance one tick; return False after a failure, until the next reset."""
        try:
            live.step()
            self._publish(
                PublishedTick(live.tick, live.observation, live.noisy_observation, live.applied)
            )
        except SimulationDiverged as error:
            self._fault = f'the simulation diverged ({error}); call ~/reset'
        except Exception as error:
            self.get_logger().debug(traceback.format_exc())
            self._fault = f'the simulation cannot continue ({describe_error(error)}); call ~/reset'
        if self._fault:
            self.get_logger().error(self._fault)
            return False
        if live.unknown_joints:
            self.warn_on_change(
                UNKNOWN_JOINTS,
                f'{UNKNOWN_JOINTS} are ignored: {format_names(live.unknown_joints)}',
            )
        return True

    def _publish(self, tick: PublishedTick) -> None:
        """Publish a tick and its time."""
        if self._follows_clock:
            self._time.follow(self.get_clock().now().nanoseconds)
        stamp = self._time.advance_to(tick.number)
        # States before /clock: a node that steps when the time arrives has the states of this
        # tick.
        self._states.publish(stamp, tick)
        self._own_clock.publish(stamp)
        if self._clock_publisher is not None:
            self._clock_publisher.publish(stamp)

    def _commanded(self) -> LiveSimulation | None:
        """Return the simulation that takes commands; None while a trial runs."""
        return None if self._trials.running else self._live

    # ----------------------------------------------------------------------------------- services

    def _on_reset(self, request: Reset.Request, response: Reset.Response) -> Reset.Response:
        """Start a simulation from the scene of the request or from the last one."""
        self._trials.refuse_during_trial()
        scene = from_scene(request.scene[0]) if request.scene else self._scene
        if scene is None:
            raise ConfigurationError('there is no scene yet; send one with the request')
        live, streams = self._start_simulation(scene, request.seed)
        try:
            response.observation = BUILDER.observation(live.observation)
            self._continue_with(live, streams)
        except BaseException:
            if self._live is not live:
                live.close()
            raise
        response.success = True
        return response

    def _on_step(self, request: Step.Request, response: Step.Response) -> Step.Response:
        """Advance a simulation that does not run by itself by some control periods."""
        ticks = request.ticks or 1
        live = self._live
        self._trials.refuse_during_trial()
        if live is None:
            raise ConfigurationError('there is no simulation; call ~/reset with a scene')
        if self._timer is not None and not self._paused:
            raise ConfigurationError('the simulation runs by itself; call ~/pause first')
        if ticks > _MAX_STEPS:
            raise ConfigurationError(f'ticks is {ticks}, expected at most {_MAX_STEPS}')
        for _ in range(ticks):
            if self._fault or not self._step_live(live):
                raise ConfigurationError(self._fault)
        response.success = True
        response.observation = BUILDER.observation(live.observation)
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._paused = request.data
        if self._live is not None:
            self._pace.restart()
        response.success = True
        return response

    def _on_query_terrain(
        self, request: QueryTerrain.Request, response: QueryTerrain.Response
    ) -> QueryTerrain.Response:
        trial = self._trials.running
        scene = trial.loop.spec.scene if trial is not None else self._scene
        return answer_terrain_query(scene, request, response)

    # -------------------------------------------------------------------------------------- trials

    def on_trial_begin(self, loop: TrialLoop) -> None:
        """Publish tick 0 of a trial."""
        spec = loop.spec
        streams = StreamedRun(loop.engine, spec.scene, spec.seed, self._params.sensors)
        self._states.begin(streams, self._time.now())
        self._time.restart(loop.dt)
        self._publish(PublishedTick(0, loop.true_state, loop.observation, None))

    def on_trial_tick(self, loop: TrialLoop) -> None:
        """Publish the present tick of a trial."""
        self._publish(PublishedTick(loop.tick, loop.true_state, loop.observation, loop.applied))

    def on_trial_end(self) -> None:
        """Resume the live simulation at its tick."""
        if self._live is not None:
            self._continue_with(self._live, self._streams)

    def is_paused(self) -> bool:
        """Return whether simulations are paused."""
        return self._paused

    def answer_timeout(self) -> float:
        """Return the wall time that an external controller may take for a tick [s]."""
        return self._declared.value.answer_timeout

    def record_folder(self) -> Path:
        """Return the folder for the records of trials."""
        home = os.environ.get('ROS_HOME', '') or '~/.ros'
        return expand_user(self._params.record_folder or Path(home) / 'gait_records')

    def warn_on_change(self, kind: str, text: str) -> None:
        """Log a warning that differs from the last of its kind, which is at least 10 s old."""
        last, when = self._reported.get(kind, ('', -_WARNING_PERIOD))
        if text != last and time.monotonic() - when >= _WARNING_PERIOD:
            self._reported[kind] = text, time.monotonic()
            self.get_logger().warning(text)

    # ------------------------------------------------------------------------------------ watching

    def _on_heartbeat(self) -> None:
        """Publish that the node is alive and what it does."""
        # Runs in the heartbeat's thread: it may only read, and call no rclpy but the publisher.
        trial, live = self._trials.running, self._live
        status = worker_status(
            self._params.mode,
            self._waiting_for,
            self._scene,
            active=self.active,
            paused=self._paused,
            tick=live.tick if live is not None else 0,
            trial=(trial.id, trial.loop) if trial is not None else None,
        )
        self._heartbeat.publish(status)

    def _on_watch(self) -> None:
        """Check topics, clock and commands once per second; report in log and diagnostics."""
        self._conflict = (
            next(iter(describe_type_mismatches(self)), '') or self._joints.find_conflict()
        )
        if self._conflict:
            self.warn_on_change('conflict', self._conflict)
        if self._clock_publisher is not None:
            reason = self._clock_publisher.stop_if_duplicate()
            if reason:
                self.get_logger().error(reason)
        if self.active and self._scene is not None and self._scene.fixed_base:
            self._warn_fixed(
                'fixed_base is true: the robot hangs by its root link and gets no fitness'
            )
        trouble = self._describe_trouble()
        self._waiting_for = trouble or self._describe_withheld_commands()
        if trouble:
            self._warn_trouble(trouble, is_info=self._may_wait_for_start())
        robot, problem = self._scene.robot if self._scene else '', trouble or self._conflict
        failed = bool(self._fault)
        self._diagnostics.publish(
            self._time.now(), robot, problem, self._diagnostic_values, is_error=failed
        )

    def _diagnostic_values(self) -> dict[str, object]:
        """Return the values of the diagnostics, by name."""
        live = self._live
        return {
            'mode': self._params.mode,
            'active': self.active,
            'paused': self._paused,
            'trial': self._trials.id,
            'tick': live.tick if live is not None else 0,
            'commands': live.command_count if live is not None else 0,
            'refused': self._joints.refused,
            'fixed_base': self._scene is not None and self._scene.fixed_base,
            'lag_s': self._pace.lag if live is not None else 0.0,
            'messages left out': EVENT_QUEUE.replaced_count,
        }

    def _may_wait_for_start(self) -> bool:
        """Return whether the controller, or the publisher of /clock, may be starting."""
        is_commanded = self._live is not None and self._live.is_commanded
        if not self.active or self._fault or is_commanded:
            return False
        return time.monotonic() - self._activated < START_TIME

    def _describe_withheld_commands(self) -> str:
        """Return a line if motors get no commands until motion is requested, else ''."""
        live = self._live
        is_commanded = live is None or live.is_commanded
        return '' if is_commanded else self._joints.describe_withheld_commands()

    def _describe_trouble(self) -> str:
        """Return a line on what keeps the robot from moving, else ''."""
        live = self._live
        if not self.active:
            return 'inactive: configure and activate it'
        if self._trials.running or live is None or self._timer is None:
            return ''
        if self._fault:
            return self._fault
        if self._follows_clock:
            trouble = self._clock_watch.find_trouble(self.get_clock().now().nanoseconds)
            if trouble:
                return trouble
        if self._describe_withheld_commands():
            return ''
        is_late = time.monotonic() - self._activated > _PATIENCE
        if is_late and not live.is_commanded:
            return (
                f'no joint command received on {self._joints.commands}: is a controller '
                'running and active? The robot holds its initial pose'
            )
        return '' if self._paused else self._joints.describe_ended_commands()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted."""
    return run_node(SimBridgeNode, args)
