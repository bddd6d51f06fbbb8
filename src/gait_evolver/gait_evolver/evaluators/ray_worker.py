# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Worker of the evaluator ``ray``: an actor that runs trials and keeps its engines loaded."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path
import platform
import tempfile
import threading
import time
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.processes import liveness
from gait_core.processes.compiling import mark_compiling
from gait_core.processes.worker_policy import HangWatch
from gait_core.trial.fingerprint import describe_differences, fingerprint
from gait_core.trial.sources import sources_hash
from gait_evolver.evaluators.local import run_trial_from_data
from gait_evolver.evaluators.worker import run_work

_SAMPLE_TIME = 0.25


class TrialActor:
    """Runs one trial at a time; ``pulse`` is called in another thread meanwhile."""

    def __init__(self) -> None:
        mark_compiling()
        liveness.set_activity(liveness.IDLE)
        self._thread = 0
        self._idle_time = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def name(self) -> str:
        """Return the worker's name: its host and process."""
        return f'{platform.node()}/{os.getpid()}'

    def check(self, expected: Mapping[str, Any]) -> str:
        """
        Return why this worker cannot run the trials of a run; empty if it can.

        Parameters
        ----------
        expected : mapping
            ``platform``, the fields of the fingerprint, ``fingerprint``, and ``sources``: lists of
            robot, controller, engine and the hash of their sources.

        """
        if fingerprint() != expected['fingerprint']:
            return f'another platform: {describe_differences(expected["platform"])}'
        for robot, controller, engine, digest in expected['sources']:
            try:
                found = sources_hash(robot, controller, engine)
            except ConfigurationError as error:
                return str(error)
            if found != digest:
                return (
                    f"another version of robot '{robot}', controller '{controller}', engine "
                    f"'{engine}' or of the suite"
                )
        return ''

    def run(self, spec: dict[str, Any], weights: bytes) -> tuple[str, Any]:
        """Return the kind of answer (``worker.DONE``, ...) and the answer to a trial."""
        self._thread = threading.get_native_id()
        liveness.set_activity(liveness.STARTING)
        try:
            if not weights:
                return run_work(run_trial_from_data, spec)
            with tempfile.TemporaryDirectory(prefix='gait-weights-') as folder:
                file = Path(folder) / 'weights.npz'
                file.write_bytes(weights)
                return run_work(run_trial_from_data, {**spec, 'weights': str(file)})
        finally:
            self._thread = 0
            liveness.set_activity(liveness.IDLE)

    def pulse(self) -> tuple[int, float]:
        """Return the activity and the time without a control period in a trial [s]."""
        return liveness.current_activity(), self._idle_time

    def _watch(self) -> None:
        """Measure the time without a control period, for ``pulse``."""
        watch, watched = HangWatch('self'), 0
        while True:
            time.sleep(_SAMPLE_TIME)
            thread = self._thread
            if not thread:
                self._idle_time = 0.0
            elif thread != watched:
                watch = HangWatch(f'self/task/{thread}')
            else:
                state = liveness.current_activity()
                self._idle_time = watch.update(liveness.period_count(), state)
            watched = thread
