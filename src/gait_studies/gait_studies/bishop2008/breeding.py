"""Children of two perceptron layers: crossover by perceptrons, six mutations, jitter, norms."""

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
"""Chances of the operators of a mutated perceptron (Bishop 2008, appendix B) but the delay."""
X_MIRROR_PAIRS = ((0, 3), (1, 2), (4, 7), (5, 6), (8, 9), (10, 11), (12, 13), (14, 15))
Y_MIRROR_PAIRS = ((0, 7), (1, 6), (2, 5), (3, 4), (8, 11), (9, 10), (12, 15), (13, 14))
"""Servos that change places where x is mirrored, and where y is."""


@dataclass(frozen=True, kw_only=True)
class Mutations:
    """
    Mutations of children.

    Attributes
    ----------
    mutation_probability : float
        Of a perceptron to enter the block of mutations.
    delay_probability, relocation_probability : float
        Of a time delay within it, and of a moved segment once per child.
    input_jitter, output_jitter : float
        Greatest change of every weight.
    as_text : bool
        Segments can reach the last weight; a mirrored side is delayed and not negated.

    """

    mutation_probability: float
    delay_probability: float
    relocation_probability: float
    input_jitter: float
    output_jitter: float
    as_text: bool = False


class Breeder:
    """
    Makes children of two networks of one layout.

    The mirror operators are those of the spider's sixteen servos; other layouts do without them.
    """

    def __init__(self, layout: PerceptronLayout, mutations: Mutations) -> None:
        if layout.perceptrons < 1 or layout.inputs < 1:
            raise ConfigurationError(f'a network of {layout.perceptrons} perceptrons has no child')
        self._layout, self._mutations = layout, mutations
        # Appendix B: largest rewritten weight, 2 sqrt(1 / N_in).
        self._max_rewritten = 2.0 * math.sqrt(1.0 / layout.inputs)
        mirrored = layout.outputs == 2 * len(X_MIRROR_PAIRS)
        self._sides = permutation_from_pairs(X_MIRROR_PAIRS) if mirrored else None
        self._ends = permutation_from_pairs(Y_MIRROR_PAIRS) if mirrored else None

    def breed(self, first: Weights, second: Weights, rng: np.random.Generator) -> Weights:
        """Return a child: each perceptron of one of both, mutated, jittered and normalised."""
        # Appendix B: uniform crossover of perceptrons; mutations; jitter of all weights; input
        # weights to norm 1, output weights as they are; once per child a segment may move.
        n, inputs = self._layout.perceptrons, self._layout.inputs
        from_first = rng.random(n) < 0.5
        child: Weights = np.where(from_first[:, None], first, second)
        entered = np.flatnonzero(rng.random(n) < self._mutations.mutation_probability)
        for j in entered.tolist():
            self.mutate_perceptron(child[j], rng)
        self._jitter(child[:, :inputs], self._mutations.input_jitter, rng)
        norms = np.sqrt(np.einsum('ij,ij->i', child[:, :inputs], child[:, :inputs]))
        child[:, :inputs] /= np.maximum(norms, np.float32(1e-30))[:, None]
        self._jitter(child[:, inputs:], self._mutations.output_jitter, rng)
        if rng.random() < self._mutations.relocation_probability:
            child = child[relocation_order(n, rng)]
        return np.ascontiguousarray(child)

    def mutate_perceptron(self, perceptron: Weights, rng: np.random.Generator) -> None:
        """Apply the operators of the block to one perceptron, (width,), in their order."""
        inputs, chosen = perceptron[: self._layout.inputs], self._mutations
        outputs = perceptron[self._layout.inputs :]
        if rng.random() < SEGMENT_PROBABILITY:
            for part in (inputs, outputs):
                self.rewrite_segment(part, rng)
        if rng.random() < X_MIRROR_PROBABILITY and self._sides is not None:
            outputs[:] = outputs[self._sides]
            if chosen.as_text:
                self.delay_inputs(inputs, rng)
            else:
                inputs[: self._layout.channels] *= np.float32(-1.0)
        if rng.random() < Y_MIRROR_PROBABILITY and self._ends is not None:
            outputs[:] = outputs[self._ends]
            self.delay_inputs(inputs, rng)
        if rng.random() < GAIN_PROBABILITY:
            outputs *= np.float32(rng.uniform(0.9, 1.1))
        if rng.random() < chosen.delay_probability:
            self.delay_inputs(inputs, rng)

    def rewrite_segment(self, part: Weights, rng: np.random.Generator) -> None:
        """Draw a segment anew; in the program it never reaches the last weight."""
        size = len(part)
        begin = int(rng.random() * size)
        end = begin + int(rng.random() * (size - begin + self._mutations.as_text))
        part[begin:end] = rng.uniform(-self._max_rewritten, self._max_rewritten, end - begin)

    def delay_inputs(self, inputs: Weights, rng: np.random.Generator) -> None:
        """Shift the weights of the newest frames, the present one included, by whole frames."""
        channels, memory = self._layout.channels, self._layout.memory
        frames = int(rng.random() * memory)
        if frames:
            newest = inputs[: channels * memory]
            newest[:] = np.roll(newest, -channels * frames)

    def _jitter(self, weights: Weights, most: float, rng: np.random.Generator) -> None:
        if most:
            drawn = rng.random(weights.shape, dtype=np.float32)
            weights += (drawn * np.float32(2.0) - np.float32(1.0)) * np.float32(most)


def permutation_from_pairs(pairs: tuple[tuple[int, int], ...]) -> IntArray:
    """Return the permutation that swaps the members of pairs, which name every index once."""
    order: IntArray = np.arange(2 * len(pairs))
    for one, other in pairs:
        order[one], order[other] = other, one
    return order


def relocation_order(count: int, rng: np.random.Generator) -> IntArray:
    """
    Return an order of perceptrons with a segment cut out and put in elsewhere.

    Too few of them (below five) stay as they are. Alone it changes nothing that a network does;
    later children can then have both of two perceptrons that stood in one place.
    """
    order: IntArray = np.arange(count)
    if count < 5:
        return order
    head = int(rng.uniform(1, count - 3))
    size = max(1, int(rng.uniform(1, max(2, count - head - 3))))
    rest = np.delete(order, slice(head, head + size))
    place = int(rng.uniform(1, max(2, count - size - 1)))
    return np.insert(rest, place, order[head : head + size])
