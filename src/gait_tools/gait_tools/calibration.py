# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Calibration of reflexes: thresholds outside the range of undisturbed walks.

It works for every ``ReflexController``. The controller's state counts the actions of each reflex
under ``reflex.<name>``, where ``<name>`` is the parameter that switches the reflex.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gait_core import registry
from gait_core.contracts import Controller, ReflexController
from gait_core.errors import ConfigurationError, name_hint
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.trial.loop import TrialLoop, start_trial, step_controller
from gait_core.trial.parts import cached_engine, make_controller
from gait_core.trial.spec import OK, TrialSpec

_COUNT_PREFIX = 'reflex.'


def with_reflexes(spec: TrialSpec, on: bool) -> TrialSpec:
    """Return a trial with every reflex of its controller switched on or off."""
    return with_parameters(spec, dict.fromkeys(reflex_parameters(spec), on))


def reflex_parameters(spec: TrialSpec) -> tuple[str, ...]:
    """Return the parameters that switch the reflexes of a trial's controller."""
    controller = make_controller(spec, load_robot(spec.scene.robot, spec.scene.draw))
    return tuple(reflex_counts(controller))


def reflex_counts(controller: Controller) -> dict[str, int]:
    """Return the number of actions of each reflex of a controller."""
    return {
        key.removeprefix(_COUNT_PREFIX): int(value)
        for key, value in controller.state().items()
        if key.startswith(_COUNT_PREFIX)
    }


def with_parameters(spec: TrialSpec, changes: Mapping[str, Any]) -> TrialSpec:
    """Return a trial with some controller parameters replaced."""
    return replace(spec, parameters={**spec.parameters, **changes})


def thresholds_from_walk(spec: TrialSpec, margin: float) -> dict[str, float]:
    """
    Return thresholds outside the range of an undisturbed walk.

    Parameters
    ----------
    spec : TrialSpec
        Its reflexes are switched off for the walk.
    margin : float
        Distance of a threshold from the range, as a share of the range.

    Raises
    ------
    ConfigurationError
        If the controller has no reflexes, the walk does not end as ``ok``, or a threshold would
        be out of the range of its parameter.

    """
    cls = registry.controller(spec.controller)
    if not issubclass(cls, ReflexController):
        raise ConfigurationError(
            f"controller '{spec.controller}' has no reflexes to calibrate: "
            f'{name_hint(spec.controller, _reflex_controllers())}'
        )
    loop = TrialLoop(with_reflexes(spec, False), cached_engine(spec.scene.engine))
    controller = start_trial(loop)
    assert isinstance(controller, ReflexController)
    controller.record_ranges()
    while loop.is_running:
        step_controller(loop, controller)
    if loop.status != OK:
        raise ConfigurationError(
            f'the walk used for calibration ended as {loop.status} ({loop.reason}), expected {OK}'
        )
    found = controller.thresholds(margin)
    # Checks the ranges of the parameters: a walk may exceed that of a threshold.
    make_parameters(cls.Params, found)
    return found


def calibrate_thresholds(specs: Sequence[TrialSpec], margin: float) -> dict[str, float]:
    """Return the largest threshold of each parameter over several undisturbed walks."""
    found: dict[str, float] = {}
    for spec in specs:
        for name, value in thresholds_from_walk(spec, margin).items():
            found[name] = max(value, found.get(name, value))
    return found


def run_and_count_reflexes(spec: TrialSpec) -> tuple[str, dict[str, int]]:
    """Run a trial; return its status and the number of actions of each reflex."""
    loop = TrialLoop(spec, cached_engine(spec.scene.engine))
    controller = start_trial(loop)
    while loop.is_running:
        step_controller(loop, controller)
    return loop.status, reflex_counts(controller)


def count_undisturbed_events(
    specs: Sequence[TrialSpec], thresholds: Mapping[str, float]
) -> Counter[str]:
    """Return the number of actions of each reflex in walks with thresholds and all reflexes on."""
    total: Counter[str] = Counter()
    for spec in specs:
        total.update(
            run_and_count_reflexes(with_reflexes(with_parameters(spec, thresholds), True))[1]
        )
    return total


def unique_walks_without_reflexes(walks: Mapping[str, TrialSpec]) -> dict[str, TrialSpec]:
    """Return walks by name with reflexes off; of equal walks the first one only."""
    found: dict[str, TrialSpec] = {}
    for name, spec in walks.items():
        walk = with_reflexes(spec, False)
        if walk not in found.values():
            found[name] = walk
    return found


def _reflex_controllers() -> list[str]:
    names = registry.names('controllers')
    return [name for name in names if issubclass(registry.controller(name), ReflexController)]
