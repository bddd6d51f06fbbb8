# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study mckenna1990: processor time of a simulated second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import time

from gait_core import registry
from gait_core.errors import NotInstalled
from gait_core.trial.loop import run_loop
from gait_core.trial.spec import TrialSpec
from gait_studies.mckenna1990.walks import TRIPOD_CYCLE, roach_trial
from gait_tools.study.definition import StudyRow, row_info, skipped_row
from gait_tools.study.session import StudySession

_ENGINES = ('mujoco', 'bullet')
_REPEATS = 2


def measure_processor_time(session: StudySession) -> Sequence[StudyRow]:
    """Measure the processor time of the tripod in each engine."""
    return [_engine_row(engine, 1 if session.quick else _REPEATS) for engine in _ENGINES]


def _engine_row(engine: str, repeats: int) -> StudyRow:
    """Return the row of an engine; skipped if it is not installed."""
    row_id = f'cost_{engine}'
    what = f'processor time of one simulated second of the insect, in {engine}'
    try:
        registry.engine(engine)
    except NotInstalled as error:
        return skipped_row(row_id, what, str(error))
    whole, begun = (_walk_trial(engine, seconds) for seconds in (3.0 * TRIPOD_CYCLE, TRIPOD_CYCLE))
    _processor_time(begun)
    # Minimum over repeats: other load only adds. The difference of a long and a short trial
    # leaves out the start-up that both have in common.
    spent = [min(_processor_time(spec) for _ in range(repeats)) for spec in (whole, begun)]
    return row_info(
        row_id,
        what,
        (spent[0] - spent[1]) / (2.0 * TRIPOD_CYCLE),
        's',
        note='tripod on the level; the thesis: about 288,000 s',
    )


def _walk_trial(engine: str, seconds: float) -> TrialSpec:
    return replace(roach_trial(seconds, {'engine': engine}), settle_time=0.0)


def _processor_time(spec: TrialSpec) -> float:
    """Run a trial and return its processor time [s]."""
    began = time.process_time()
    run_loop(spec)
    return time.process_time() - began
