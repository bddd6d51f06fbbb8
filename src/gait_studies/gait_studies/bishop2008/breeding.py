# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Breeding of perceptron layers: crossover, six mutations, jitter and normalisation."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.arrays import IntArray
from gait_core.errors import ConfigurationError
from gait_cpg.perceptron.layout import PerceptronLayout, Weights

SEGMENT_PROBABILITY, X_MIRROR_PROBABILITY, Y_MIRROR_PROBABILITY, GAIN_PROBABILITY = (
    0.375,
    0.15,
    0.15,
    0.50,
)
"""Probabilities of the operators on a mutated perceptron (Bishop 2008, appendix B)."""
X_MIRROR_PAIRS = ((0, 3), (1, 2), (4, 7), (5, 6), (8, 9), (10, 11), (12, 13), (14, 15))
Y_MIRROR_PAIRS = ((0, 7), (1, 6), (2, 5), (3, 4), (8, 11), (9, 10), (12, 15), (13, 14))
"""Servos that a reflection of x swaps, and those that a reflection of y swaps."""


@dataclass(frozen=True, kw_only=True)
class Mutations:
    """
    Probabilities and sizes of the mutations of offspring.

    Attributes
    ----------
    mutation_probability : float
        Probability that the operators are applied to a perceptron.
    delay_probability, relocation_probability : float
        Probability that a mutated perceptron is delayed, and that a segment of the offspring's
        perceptrons moves.
    input_jitter, output_jitter : float
        Largest random change of an input weight [-] and of an output weight [m/s].
    as_text : bool
        Follow the text of the thesis, not its program: rewritten segments can reach the last
        weight, and a perceptron mirrored in x is delayed, not negated.

    """

    mutation_probability: float
    delay_probability: float
    relocation_probability: float
    input_jitter: float
    output_jitter: float
    as_text: bool = False


class Breeder:
    """
    Breeder of networks of one layout.

    Reflections swap the sixteen servos of the spider; networks with another number of outputs are
    not reflected.
    """

    def __init__(self, layout: PerceptronLayout, mutations: Mutations) -> None:
        if layout.perceptrons < 1 or layout.inputs < 1:
            raise ConfigurationError(
                f'a network of {layout.perceptrons} perceptrons with {layout.inputs} inputs '
                'cannot be bred; nearest valid: 1 perceptron with 1 input'
            )
        self._layout, self._mutations = layout, mutations
        # Appendix B: largest rewritten weight, 2 sqrt(1 / N_in).
        self._max_rewritten = 2.0 * math.sqrt(1.0 / layout.inputs)
        is_mirrored = layout.outputs == 2 * len(X_MIRROR_PAIRS)
        self._x_reflection = permutation_from_pairs(X_MIRROR_PAIRS) if is_mirrored else None
        self._y_reflection = permutation_from_pairs(Y_MIRROR_PAIRS) if is_mirrored else None

    def breed(self, first: Weights, second: Weights, rng: np.random.Generator) -> Weights:
        """Return an offspring of two networks, (perceptrons, width), with unit input vectors."""
        # Appendix B: uniform crossover of perceptrons; mutations; jitter of all weights; input
        # weights to norm 1, output weights as they are; once per offspring a segment may move.
        n, inputs = self._layout.perceptrons, self._layout.inputs
        from_first = rng.random(n) < 0.5
        child: Weights = np.where(from_first[:, None], first, second)
        mutated = np.flatnonzero(rng.random(n) < self._mutations.mutation_probability)
        for j in mutated.tolist():
            self.mutate_perceptron(child[j], rng)
        self._jitter(child[:, :inputs], self._mutations.input_jitter, rng)
        norms = np.sqrt(np.einsum('ij,ij->i', child[:, :inputs], child[:, :inputs]))
        child[:, :inputs] /= np.maximum(norms, np.float32(1e-30))[:, None]
        self._jitter(child[:, inputs:], self._mutations.output_jitter, rng)
        if rng.random() < self._mutations.relocation_probability:
            child = child[relocation_order(n, rng)]
        return np.ascontiguousarray(child)

    def mutate_perceptron(self, perceptron: Weights, rng: np.random.Generator) -> None:
        """Apply the mutation operators to one perceptron, (width,), in place."""
        inputs, chosen = perceptron[: self._layout.inputs], self._mutations
        outputs = perceptron[self._layout.inputs :]
        if rng.random() < SEGMENT_PROBABILITY:
            for part in (inputs, outputs):
                self.rewrite_segment(part, rng)
        if rng.random() < X_MIRROR_PROBABILITY and self._x_reflection is not None:
            outputs[:] = outputs[self._x_reflection]
            if chosen.as_text:
                self.delay_inputs(inputs, rng)
            else:
                inputs[: self._layout.channels] *= np.float32(-1.0)
        if rng.random() < Y_MIRROR_PROBABILITY and self._y_reflection is not None:
            outputs[:] = outputs[self._y_reflection]
            self.delay_inputs(inputs, rng)
        if rng.random() < GAIN_PROBABILITY:
            outputs *= np.float32(rng.uniform(0.9, 1.1))
        if rng.random() < chosen.delay_probability:
            self.delay_inputs(inputs, rng)

    def rewrite_segment(self, part: Weights, rng: np.random.Generator) -> None:
        """Draw a random segment of weights anew; without ``as_text`` it ends before the last."""
        size = len(part)
        begin = int(rng.random() * size)
        end = begin + int(rng.random() * (size - begin + self._mutations.as_text))
        part[begin:end] = rng.uniform(-self._max_rewritten, self._max_rewritten, end - begin)

    def delay_inputs(self, inputs: Weights, rng: np.random.Generator) -> None:
        """Rotate the weights of the newest ``memory`` frames by a random number of frames."""
        channels, memory = self._layout.channels, self._layout.memory
        frames = int(rng.random() * memory)
        if frames:
            newest = inputs[: channels * memory]
            newest[:] = np.roll(newest, -channels * frames)

    def _jitter(self, weights: Weights, limit: float, rng: np.random.Generator) -> None:
        """Add uniform noise within +-``limit`` to weights, in place."""
        if limit:
            drawn = rng.random(weights.shape, dtype=np.float32)
            weights += (drawn * np.float32(2.0) - np.float32(1.0)) * np.float32(limit)


def permutation_from_pairs(pairs: tuple[tuple[int, int], ...]) -> IntArray:
    """Return the permutation that swaps the members of pairs; each index is in one pair."""
    order: IntArray = np.arange(2 * len(pairs))
    for first, second in pairs:
        order[first], order[second] = second, first
    return order


def relocation_order(count: int, rng: np.random.Generator) -> IntArray:
    """
    Return an order of perceptrons, (count,), in which a random segment has moved.

    The outputs of a network do not depend on the order. Crossover does: after a move an offspring
    can inherit both of two perceptrons that had the same index. Fewer than five keep their order.
    """
    order: IntArray = np.arange(count)
    if count < 5:
        return order
    head = int(rng.uniform(1, count - 3))
    size = max(1, int(rng.uniform(1, max(2, count - head - 3))))
    rest = np.delete(order, slice(head, head + size))
    target = int(rng.uniform(1, max(2, count - size - 1)))
    return np.insert(rest, target, order[head : head + size])
