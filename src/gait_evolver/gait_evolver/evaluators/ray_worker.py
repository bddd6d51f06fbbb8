# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Worker of the evaluator ``ray``: an actor that runs trials and keeps its engines loaded."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
import os
from pathlib import Path
import platform
import shutil
import threading
import time
from typing import Any

from gait_core.processes import liveness
from gait_core.processes.compiling import mark_compiling
from gait_core.processes.worker_policy import HangWatch
from gait_core.trial.fingerprint import describe_differences, fingerprint
from gait_evolver.evaluators.local import run_trial_from_data
from gait_evolver.evaluators.ray_process import make_locked_folder
from gait_evolver.evaluators.shipping import hash_suite, unpack_spec, use_part, write_files
from gait_evolver.evaluators.worker import run_work

Parcel = tuple[str, Mapping[str, bytes]]
"""Hash of files that are sent together, and the content of each by name."""

_SAMPLE_TIME = 0.25


class TrialActor:
    """Runs one trial at a time; ``pulse`` is called in another thread meanwhile."""

    def __init__(self) -> None:
        mark_compiling()
        liveness.set_activity(liveness.IDLE)
        self._thread = 0
        self._idle_time = 0.0
        self._folder, self._lock = make_locked_folder()
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self._sent: dict[str, Path] = {}
        threading.Thread(target=self._watch, daemon=True).start()

    def name(self) -> str:
        """Return the worker's name: its host and process."""
        return f'{platform.node()}/{os.getpid()}'

    def check(self, expected: Mapping[str, Any], *parcels: Parcel) -> str:
        """
        Return why this worker cannot run the trials of a run; empty if it can.

        Parameters
        ----------
        expected : mapping
            ``platform``, the fields of the fingerprint, ``fingerprint``, ``suite``, the hash of
            the suite, and ``parts``: robots and registered names of the trials (``pack_part``).
        parcels : Parcel
            Files of each of these.

        """
        if fingerprint() != expected['fingerprint']:
            return f'another platform: {describe_differences(expected["platform"])}'
        if hash_suite() != expected['suite']:
            return 'another version of the suite'
        used = zip(expected['parts'], parcels, strict=True)
        refusals = (use_part(part, self._unpack(parcel)) for part, parcel in used)
        return next(filter(None, refusals), '')

    def run(self, spec: dict[str, Any], weights: bytes, parcel: Parcel) -> tuple[str, Any]:
        """Return the kind of answer (``worker.DONE``, ...) and the answer to a trial."""
        self._thread = threading.get_native_id()
        liveness.set_activity(liveness.STARTING)
        try:
            spec = unpack_spec(spec, self._unpack(parcel))
            if not weights:
                return run_work(run_trial_from_data, spec)
            file = self._folder / 'weights.npz'
            file.write_bytes(weights)
            return run_work(run_trial_from_data, {**spec, 'weights': str(file)})
        finally:
            self._thread = 0
            liveness.set_activity(liveness.IDLE)

    def _unpack(self, parcel: Parcel) -> Path:
        """Return the folder with the files of a parcel; they are written once."""
        digest, contents = parcel
        if digest not in self._sent:
            folder = self._sent[digest] = self._folder / digest
            write_files(contents, folder)
        return self._sent[digest]

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
