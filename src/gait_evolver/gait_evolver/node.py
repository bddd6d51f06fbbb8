# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``evolver``, which runs an evolution as an action."""

from __future__ import annotations

import sys

if __name__ == '__main__':
    # A signal ends the imports below without a traceback.
    from gait_evolver.executables import evolver_node

    sys.exit(evolver_node())

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
import time
import traceback
from typing import Any

from builtin_interfaces.msg import Time
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from rclpy.wait_for_message import wait_for_message
from std_srvs.srv import Trigger

from gait_core import registry
from gait_core.contracts import MAX_WORKERS, Evaluator
from gait_core.errors import ConfigurationError, describe_error
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    int_parameter,
    str_parameter,
)
from gait_core.parameters.plain_data import sha256_of
from gait_core.trial.fingerprint import fingerprint
from gait_core.trial.seeding import MAX_SEED
from gait_core.trial.setup import check_registered, merge_settings, nest_settings
from gait_core.trial.spec import TrialResult
from gait_evolver.evolution_thread import EvolutionThread
from gait_evolver.loop import new_run_folder
from gait_evolver.plan import load_plan, single_engine_overrides
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import RunStore
from gait_evolver.run_report import RunReporter, describe_end
from gait_evolver.scoring import BestCandidate
from gait_interfaces.action import Evolve
from gait_interfaces.msg import BestGait, EvolverStatus
from gait_ros.messages.conversions import BUILDER, to_result, to_spec
from gait_ros.messages.diagnostics import Diagnostics
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS, ThrottledLogger, destroyed_if_refused
from gait_ros.nodes.parameter_files import check_parameter_files
from gait_ros.nodes.parameters import (
    DeclaredParameters,
    declare_array,
    from_parameter_values,
    parameter_overrides,
    refuse_unknown_overrides,
)
from gait_ros.nodes.publisher_checks import describe_second_publisher, find_other_publishers
from gait_ros.nodes.qos import LATCHED_QOS, advertise, guard_callback
from gait_ros.nodes.run import run_node
from gait_ros.nodes.services import SERVICE_QOS, offer_service

_STATES = ('idle', 'running', 'cancelling', 'failed')
_POLL_PERIOD = 0.1
_STATUS_PERIOD = 1.0
# Longest time [s] until another evolver is discovered.
_DISCOVERY_TIME = 1.5
_JOIN_TIMEOUT = 10.0


@dataclass(frozen=True, kw_only=True)
class EvolverParams(Parameters):
    """Parameters of the evolver: the run that starts with the node, and defaults of goals."""

    experiment: str = str_parameter(
        '',
        doc='Experiment to run at the start: name or file; the node ends with the run. Empty: '
        'wait for goals.',
        read_only=True,
    )
    generations: int = int_parameter(
        0,
        low=0,
        high=1000000,
        doc='Number of generations of the run at the start; 0: as in the experiment.',
        read_only=True,
    )
    seed: int = int_parameter(
        -1,
        low=-1,
        high=MAX_SEED,
        doc='Seed of the run at the start; -1: as in the experiment.',
        read_only=True,
    )
    run_directory: str = str_parameter(
        '',
        doc='Run directory of the run at the start. Empty: a new folder in ./runs.',
        read_only=True,
    )
    resume: bool = bool_parameter(False, doc='Continue the run in run_directory.', read_only=True)
    evaluator: str = str_parameter('ros', doc='Evaluator of goals that name none.')
    address: str = str_parameter(
        '',
        doc='Head of a Ray cluster as HOST:PORT, for goals of evaluator ray that name none. '
        'Empty: a Ray of this machine.',
    )


class EvolverNode(Node):
    """
    Runs one evolution at a time; a second goal is rejected.

    Attributes
    ----------
    exit_code : int or None
        Exit code after the run that starts with the node: 0 with a champion, else 1.

    """

    def __init__(self, **kwargs: Any) -> None:
        # Set first: `destroy_node` reads them even if the parameters are refused below.
        self._run: EvolutionThread | None = None
        self._action: ActionServer | None = None
        super().__init__('evolver', **kwargs)
        with destroyed_if_refused(self):
            check_parameter_files(self, sys.argv)
            self._declared = DeclaredParameters(self, EvolverParams)
            self._worker_names = self._declare_worker_names()
            refuse_unknown_overrides(self)
            check_registered('evaluators', self._declared.value.evaluator)
            self._experiment = ''
            self._message = ''
            self._goal: Any = None
            self._ended: Future | None = None
            self._published_best: BestCandidate | None = None
            self._end_reported, self._ends_with_run = True, False
            self.exit_code: int | None = None
            self._reporter = RunReporter(self.get_logger().info)
            self._warn_second = ThrottledLogger(self.get_logger())
            self._status = advertise(self, EvolverStatus, '~/status')
            self._best = advertise(self, BestGait, '~/best', LATCHED_QOS)
            self._diagnostics = Diagnostics(self, 'evolution')
            offer_service(self, Trigger, '~/checkpoint', self._on_checkpoint)
            self._action = ActionServer(
                self,
                Evolve,
                '~/evolve',
                execute_callback=self._execute,
                goal_callback=self._on_goal,
                cancel_callback=lambda handle: CancelResponse.ACCEPT,
                callback_group=ReentrantCallbackGroup(),
                goal_service_qos_profile=SERVICE_QOS,
                result_service_qos_profile=SERVICE_QOS,
                cancel_service_qos_profile=SERVICE_QOS,
            )
            # Wall time: an evolution has no simulated time of its own.
            self._wall = Clock(clock_type=ClockType.SYSTEM_TIME)
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            for period, what, callback in (
                (_POLL_PERIOD, 'best gait', self._on_poll),
                (_STATUS_PERIOD, 'status', self._on_status),
            ):
                self.create_timer(period, guard_callback(self, what, callback), clock=steady)

    def _declare_worker_names(self) -> tuple[str, ...]:
        """Declare the parameter ``workers`` and return its value."""
        kind = Parameter.Type.STRING_ARRAY
        # A parameter file with an empty list gives a parameter without a value.
        names = parameter_overrides(self).get('workers') or []
        if not kind.check(names):
            raise ConfigurationError(
                f"parameter 'workers' is {names!r}, expected a list of names of nodes"
            )
        doc = (
            'Names of the workers of evaluator ros, full or relative to the namespace of the '
            'evolver. Empty: all workers of the ROS domain.'
        )
        declare_array(
            self,
            'workers',
            kind,
            names,
            ParameterDescriptor(type=kind.value, description=doc, read_only=True),
        )
        space = self.get_namespace().rstrip('/')
        return tuple(name if name.startswith('/') else f'{space}/{name}' for name in names)

    def start(self) -> None:
        """Start the run that the parameters describe, if any; refuse to be a second evolver."""
        self._refuse_second()
        params = self._declared.value
        if not params.experiment and not params.resume:
            return
        self._ends_with_run = True
        self._begin(
            Evolve.Goal(
                experiment=params.experiment,
                generations=params.generations,
                seed=params.seed,
                run_directory=params.run_directory,
                resume=params.resume,
            )
        )

    def _refuse_second(self) -> None:
        """Raise ConfigurationError if another evolver of this name and namespace is at work."""
        until = time.monotonic() + _DISCOVERY_TIME
        while not find_other_publishers(self, '~/status'):
            if time.monotonic() > until:
                return
            time.sleep(_POLL_PERIOD)
        # The publisher of a killed evolver remains for some seconds, but is silent.
        is_heard, _ = wait_for_message(
            EvolverStatus, self, '~/status', time_to_wait=3.0 * _STATUS_PERIOD
        )
        if is_heard:
            raise ConfigurationError(
                f'another {self.get_fully_qualified_name()} is at work, and both would use the '
                'same workers: end it, or give this one another namespace, e.g. namespace:=second'
            )

    def destroy_node(self) -> None:
        """Cancel the run, which can then be resumed, and destroy the node."""
        if self._run is not None:
            self._run.cancel()
            self._run.join(_JOIN_TIMEOUT)
            self._report_end(self._run)
        if self._action is not None:
            self._action.destroy()
        super().destroy_node()

    # ------------------------------------------------------------------------------------ the run

    def _begin(self, goal: Evolve.Goal) -> None:
        """Start the run of a goal; ConfigurationError leaves everything as it was."""
        params = self._declared.value
        _check_goal(goal)
        evaluator = check_registered('evaluators', goal.evaluator or params.evaluator)
        if goal.address and evaluator != 'ray':
            raise ConfigurationError(
                f"goal.address is for evaluator 'ray', not for '{evaluator}'; nearest valid: ''"
            )
        experiment = goal.experiment
        if not goal.resume:
            # Here, not in the thread: an error is refused before anything starts.
            plan = load_plan(goal.experiment, _goal_overrides(goal))
            experiment = plan.experiment.name
            if plan.ignored_gait:
                self.get_logger().info(plan.ignored_gait)

        def open_store() -> tuple[RunStore, Sequence[Sequence[TrialRow]]]:
            """Return the store of a new or resumed run and its recorded generations."""
            if goal.resume:
                return RunStore.open_run(Path(goal.run_directory), goal.generations or None)
            folder = (
                Path(goal.run_directory)
                if goal.run_directory
                else new_run_folder(plan.experiment.name, plan.experiment.seed)
            )
            return RunStore.create(folder, plan), ()

        self._experiment, self._message = experiment, ''
        self._published_best, self._end_reported = None, False
        self._reporter = RunReporter(self.get_logger().info)
        self._run = EvolutionThread(
            open_store,
            lambda: self._evaluator(evaluator, goal.workers, goal.address or params.address),
            self.get_logger().warning,
        )

    def _evaluator(self, name: str, workers: int, address: str) -> Evaluator:
        settings: dict[str, Any] = {'workers': workers}
        if name == 'ray':
            settings['address'] = address
        if name == 'ros' and not workers and self._worker_names:
            settings['names'] = self._worker_names
        return registry.evaluator(name)(**settings)

    def _on_goal(self, goal: Evolve.Goal) -> GoalResponse:
        if self._run is not None and self._run.is_running:
            self.get_logger().warning('goal refused: an evolution is running')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    async def _execute(self, handle: Any) -> Evolve.Result:
        try:
            self._begin(handle.request)
        except CAUGHT_EXCEPTIONS as error:
            self.get_logger().error(f'goal refused: {describe_error(error)}')
            self.get_logger().debug(traceback.format_exc())
            handle.abort()
            return Evolve.Result(status='failed', message=describe_error(error))
        self._goal, self._ended = handle, Future(executor=self.executor)
        await self._ended
        run = self._run
        self._goal = self._ended = None
        if run.status == 'completed':
            handle.succeed()
        elif run.status == 'cancelled' and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return self._result(run)

    def _on_poll(self) -> None:
        """Pass a cancellation on to the run, publish its news, and report its end."""
        run = self._run
        if run is None:
            return
        if self._goal is not None and self._goal.is_cancel_requested:
            run.cancel()
        snapshot = run.snapshot
        if snapshot is not None and snapshot.best is not self._published_best:
            self._published_best = snapshot.best
            self._best.publish(self._best_message(run, snapshot.best))
        self._reporter.update(run)
        if run.is_running:
            return
        self._report_end(run)
        if self._ended is not None and not self._ended.done():
            self._on_status()
            self._ended.set_result(None)
        if self._ends_with_run and self.exit_code is None:
            self._on_status()
            is_success = run.status == 'completed' and run.snapshot.best is not None
            self.exit_code = 0 if is_success else 1

    def _report_end(self, run: EvolutionThread) -> None:
        """Log the end of a run once."""
        if self._end_reported or run.is_running:
            return
        self._end_reported = True
        self._message = run.message
        if run.message:
            self.get_logger().error(describe_end(run))
            self.get_logger().debug(run.details)
        else:
            self.get_logger().info(describe_end(run))

    # ----------------------------------------------------------------------------- status, result
    def _on_checkpoint(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Answer how many generations of the run are on the disk."""
        store = self._run.store if self._run is not None else None
        if store is None:
            response.message = 'there is no run'
        else:
            response.success = True
            response.message = (
                f'{store.folder} holds {store.generations_done} finished generations, each '
                'written to the disk when it ended; this call writes nothing'
            )
        return response

    def _on_status(self) -> None:
        """Publish the status, also as feedback of the goal and in the log."""
        second = describe_second_publisher(
            self, '~/status', 'both use the same workers, unless one has namespace:=NAME'
        )
        if second:
            self._warn_second(second)
        message = self._status_message()
        self._status.publish(message)
        if self._goal is not None:
            self._goal.publish_feedback(Evolve.Feedback(status=message))
        self._tell(message)

    def _status_message(self) -> EvolverStatus:
        """Return the status of the node: its state, its workers and the progress of its run."""
        run = self._run
        message = EvolverStatus(
            stamp=self._now(), experiment=self._experiment, message=self._message
        )
        if run is None:
            return message
        if run.is_running:
            message.state = (
                EvolverStatus.CANCELLING if run.is_cancelling else EvolverStatus.RUNNING
            )
        elif run.status == 'failed':
            message.state = EvolverStatus.FAILED
        if run.store is not None:
            message.run_directory = str(run.store.folder)
        if run.evaluator is not None:
            message.workers = list(run.evaluator.worker_names)
            message.lost_workers = run.evaluator.lost_workers
            message.lost_trials = run.evaluator.workload.lost_trials
        snapshot = run.snapshot
        if snapshot is not None:
            message.generation = snapshot.generation
            message.generations = snapshot.generations
            message.evaluations = snapshot.evaluations
            message.evaluations_per_s = snapshot.rate
            message.efficiency = snapshot.efficiency
            message.time_left = _optional(snapshot.time_left)
            message.first_generation_best = _optional(snapshot.first_generation_best)
            message.best_fitness = _optional(snapshot.best and snapshot.best.fitness)
            message.invalid_counts = BUILDER.quantities(
                {name: float(count) for name, count in sorted(snapshot.invalid_counts.items())}
            )
        return message

    def _best_message(self, run: EvolutionThread, best: BestCandidate | None) -> BestGait:
        """Return the best candidate of a run with its first trial; an empty message for none."""
        store = run.store
        if best is None or store is None:
            return BestGait(stamp=self._now(), experiment=self._experiment)
        row = best.deciding_rows[0]
        spec = store.plan.spec(row.values, row.trial_index)
        result = TrialResult(
            status=row.status,
            metrics=row.metrics,
            terms=row.terms,
            fitness=row.fitness,
            trial_hash=row.trial_hash,
            spec_hash=sha256_of(spec),
            fingerprint=fingerprint(),
            ticks=row.ticks,
        )
        return BestGait(
            stamp=self._now(),
            experiment=self._experiment,
            run_directory=str(store.folder),
            champion=str(store.champion_file) if store.champion_file.exists() else '',
            generation=row.generation,
            candidate=row.id,
            spec=to_spec(spec),
            result=to_result(result),
        )

    def _result(self, run: EvolutionThread) -> Evolve.Result:
        """Return the result of the action: how the run ended, and its best candidate."""
        result = Evolve.Result(status=run.status, message=run.message)
        if run.store is not None:
            result.run_directory = str(run.store.folder)
            result.generations = run.store.generations_done
        snapshot = run.snapshot
        if snapshot is not None:
            result.evaluations = snapshot.evaluations
            result.first_generation_best = _optional(snapshot.first_generation_best)
            if snapshot.best is not None:
                result.best = [self._best_message(run, snapshot.best)]
        return result

    def _tell(self, status: EvolverStatus) -> None:
        """Publish the diagnostic of a status."""
        trouble = ''
        if status.state == EvolverStatus.FAILED:
            trouble = f'failed: {status.message}' if status.message else 'failed'
        elif status.lost_workers:
            trouble = (
                f'{status.lost_workers} workers were lost and {status.lost_trials} trials begun '
                'again: see the logs of their bridges'
            )
        self._diagnostics.publish(
            status.stamp,
            self._experiment or 'none',
            trouble,
            lambda: {
                'generation': status.generation,
                'workers': len(status.workers),
                'lost workers': status.lost_workers,
                'lost trials': status.lost_trials,
                'efficiency': status.efficiency,
            },
            is_error=status.state == EvolverStatus.FAILED,
            ok_message=status.message or _STATES[status.state],
        )

    def _now(self) -> Time:
        return self._wall.now().to_msg()


def _check_goal(goal: Evolve.Goal) -> None:
    """Raise ConfigurationError for an invalid number in a goal."""
    for name, least in (('generations', 0), ('seed', -1), ('workers', 0)):
        value = getattr(goal, name)
        if value < least:
            raise ConfigurationError(f'goal.{name} is {value}; nearest valid: {least}')
    if goal.workers > MAX_WORKERS:
        raise ConfigurationError(f'goal.workers is {goal.workers}; nearest valid: {MAX_WORKERS}')
    if goal.resume and not goal.run_directory:
        raise ConfigurationError('goal.run_directory is empty; name the run to be resumed')


def _goal_overrides(goal: Evolve.Goal) -> Mapping[str, Any]:
    """Return the settings of an experiment that a goal changes."""
    given = from_parameter_values(goal.settings)
    changes: dict[str, Any] = nest_settings(
        (name, list(value) if isinstance(value, tuple) else value) for name, value in given.items()
    )
    if goal.generations:
        changes['generations'] = goal.generations
    if goal.seed >= 0:
        changes['seed'] = goal.seed
    if goal.engine:
        changes = merge_settings(changes, single_engine_overrides(goal.engine))
    return changes


def _optional(value: float | None) -> list[float]:
    return [] if value is None else [float(value)]


def main(args: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run_node(EvolverNode, args, lambda node: node.exit_code)
