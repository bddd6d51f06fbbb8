# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Bayesian search by Gaussian processes of the library ``scikit-learn``.

The kernel and its length are fixed: with few candidates an estimate of them is poor, and depends
on the linear algebra library.

References
----------
Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, MIT Press, chapter 2.
Srinivas, Krause, Kakade and Seeger (2010), International Conference on Machine Learning
27:1015-1022 (upper confidence bound).
Desautels, Krause and Burdick (2014), Journal of Machine Learning Research 15:4053-4103 (several
candidates at once).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern
from threadpoolctl import threadpool_limits

from gait_core.arrays import FloatArray
from gait_core.contracts import Candidate, Evaluation, Optimizer
from gait_core.parameters.declaration import (
    Parameters,
    float_parameter,
    floats_parameter,
    fraction_parameter,
    int_parameter,
    make_parameters,
)
from gait_core.trial.seeding import check_seed
from gait_evolver.optimizers.genetic import (
    SPREAD_DOC,
    START_DOC,
    draw_first_population,
    reflect_into_cube,
)
from gait_evolver.optimizers.ranking import AskTellLedger, tied_ranks

_POOL = 512
"""Points from which a generation is chosen: half uniform, half about the best candidates."""
_BEST = 4
_STEPS = (-3.0, -0.5)
"""Decimal logarithms of the shortest and longest deviation about the best candidates."""
_DECIMALS = 9
"""Decimals of the compared bounds: points that differ by less are equal, and the first wins."""


@dataclass(frozen=True, kw_only=True)
class GaussianProcessSettings(Parameters):
    """Settings of the search by Gaussian processes."""

    population: int = int_parameter(8, low=1, high=500, doc='Candidates per generation.')
    length: float = float_parameter(
        0.4,
        low=0.01,
        high=10.0,
        unit='-',
        doc='Length of the kernel (Matern 5/2): a change of a gene over which the fitness stays '
        'alike, as a share of its range.',
        log=True,
    )
    noise: float = float_parameter(
        0.001,
        low=1e-6,
        high=10.0,
        unit='-',
        doc='Variance of the noise, as a share of the variance of the fitness.',
        log=True,
    )
    exploration: float = float_parameter(
        1.0,
        low=0.0,
        high=10.0,
        unit='-',
        doc='Weight of the predicted deviation beside the predicted mean; a larger one tries what '
        'is unknown.',
    )
    start: tuple[float, ...] = floats_parameter((), low=0.0, high=1.0, unit='-', doc=START_DOC)
    spread: float = fraction_parameter(0.1, doc=SPREAD_DOC)


class GaussianProcessSearch(Optimizer):
    """Bayesian search by Gaussian processes of scikit-learn, for few trials."""

    Settings: ClassVar[type[Parameters]] = GaussianProcessSettings
    ranks_constraints: ClassVar[bool] = True

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        self._settings = make_parameters(GaussianProcessSettings, settings)
        self._rng = np.random.default_rng(check_seed(seed))
        shape = self._settings.population, dimension
        self._asked = draw_first_population(
            self._rng, shape, self._settings.start, self._settings.spread
        )
        self._points = np.empty((0, dimension))
        self._told: list[Evaluation] = []
        self._ledger = AskTellLedger()

    def ask(self) -> list[Candidate]:
        """Return the first population, then the points with the highest upper bounds."""
        self._ledger.check_ask()
        if self._told:
            # Normal scores of the ranks (van der Waerden). In a model of fitness values falls
            # would dominate, and candidates that fail or violate constraints have no value.
            ranks = tied_ranks(self._told)
            scores = ndtri(1.0 - (ranks + 0.5) / len(ranks))
            pool = self._draw_pool(ranks)
            self._asked = pool[choose_points(self._points, scores, pool, self._settings)]
        return self._ledger.issue_candidates(list(self._asked), [()] * len(self._asked))

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Add the evaluations to the data of the model."""
        self._told += self._ledger.match_evaluations(evaluations)
        self._points = np.concatenate([self._points, self._asked])

    @property
    def max_candidates(self) -> int:
        """Number of candidates that are restored in 40 s if asked for one by one."""
        return 800

    def _draw_pool(self, ranks: FloatArray) -> FloatArray:
        """Return the points to choose from, (k, n)."""
        half, dimension = _POOL // 2, self._points.shape[1]
        best = np.argsort(ranks, kind='stable')[:_BEST]
        centres = self._points[best[self._rng.integers(len(best), size=half)]]
        deviations = 10.0 ** self._rng.uniform(*_STEPS, (half, 1))
        near = reflect_into_cube(centres + deviations * self._rng.normal(size=(half, dimension)))
        return np.concatenate([self._rng.random((half, dimension)), near])


def choose_points(
    points: FloatArray, scores: FloatArray, pool: FloatArray, settings: GaussianProcessSettings
) -> NDArray[np.int64]:
    """
    Return the indices of the points to try, one after another by their upper bounds.

    The upper bound is mean + exploration x deviation of the prediction. A chosen point counts as
    evaluated for the deviations of those after it (Desautels et al. 2014); the mean stays.

    Parameters
    ----------
    points : (k, n) array
        Evaluated candidates.
    scores : (k,) array
        Of mean 0 and variance 1; higher is better.
    pool : (m, n) array
        At least ``settings.population`` points.
    settings : GaussianProcessSettings

    """
    # With more threads the last bits of the prediction depend on their number.
    with threadpool_limits(limits=1):
        model = GaussianProcessRegressor(
            Matern(length_scale=settings.length, nu=2.5), alpha=settings.noise, optimizer=None
        )
        mean, covariance = model.fit(points, scores).predict(pool, return_cov=True)
    chosen: list[int] = []
    for _ in range(settings.population):
        deviations = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        bounds = np.round(mean + settings.exploration * deviations, _DECIMALS)
        # A point is chosen once; of equal bounds the first wins.
        bounds[chosen] = -np.inf
        chosen.append(int(np.argmax(bounds)))
        column = covariance[:, chosen[-1]].copy()
        covariance -= np.outer(column, column) / (column[chosen[-1]] + settings.noise)
    return np.array(chosen)
