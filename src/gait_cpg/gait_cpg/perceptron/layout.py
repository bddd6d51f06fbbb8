# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Layout of the weights of a layer of threshold perceptrons with memory.

The controller and the optimisers share it. The input signals of a perceptron are the present
channels, the channels of the last ``memory`` steps, newest first, and the outputs of these steps,
newest first. The files of Bishop (2008) have the same numbers without a header: network by
network, perceptron by perceptron, input weights before output weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gait_core.errors import ConfigurationError

Weights = npt.NDArray[np.float32]
INPUT_WEIGHTS, OUTPUT_WEIGHTS = 'input_weights', 'output_weights'
"""Names of the arrays in a weights file."""
MAX_INITIAL_INPUT_WEIGHT, MAX_INITIAL_OUTPUT_WEIGHT = 0.1, 0.001
"""Largest weights of an untrained network, uniform about 0 (Bishop 2008, appendix B)."""


@dataclass(frozen=True, kw_only=True)
class PerceptronLayout(Mapping[str, tuple[int, ...]]):
    """
    Shapes of the arrays of a network by name, and its sizes.

    Attributes
    ----------
    perceptrons, memory : int
        Number of perceptrons, and of remembered steps.
    channels, outputs : int
        Number of input channels and of outputs per step.

    References
    ----------
    Bishop (2008), *A Method for Generating Robot Control Systems*, section 2 and appendix A.

    """

    perceptrons: int
    memory: int
    channels: int
    outputs: int

    def __getitem__(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array; KeyError for an unknown name."""
        return self.perceptrons, {INPUT_WEIGHTS: self.inputs, OUTPUT_WEIGHTS: self.outputs}[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the arrays."""
        return iter((INPUT_WEIGHTS, OUTPUT_WEIGHTS))

    def __len__(self) -> int:
        """Return the number of arrays."""
        return 2

    @property
    def inputs(self) -> int:
        """Number of input weights per perceptron, N_in."""
        # Bishop (2008), appendix A: N_in = m (R + 1) + q R, m channels, q outputs, R steps.
        return self.channels * (self.memory + 1) + self.outputs * self.memory

    @property
    def weights_per_perceptron(self) -> int:
        """Number of input and output weights per perceptron."""
        return self.inputs + self.outputs

    def random_weights(self, rng: np.random.Generator) -> Weights:
        """Return the weights of a random network, (perceptrons, weights)."""
        size = (self.perceptrons, self.weights_per_perceptron)
        weights = rng.uniform(-1.0, 1.0, size).astype(np.float32)
        weights[:, : self.inputs] *= np.float32(MAX_INITIAL_INPUT_WEIGHT)
        weights[:, self.inputs :] *= np.float32(MAX_INITIAL_OUTPUT_WEIGHT)
        return weights

    def split_weights(self, weights: Weights) -> dict[str, Weights]:
        """Return views of weights, (perceptrons, weights), as the arrays of a weights file."""
        return {
            INPUT_WEIGHTS: weights[:, : self.inputs],
            OUTPUT_WEIGHTS: weights[:, self.inputs :],
        }

    def join_weights(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> Weights:
        """
        Join the arrays of a weights file to one array of weights, (perceptrons, weights).

        Raises
        ------
        ConfigurationError
            If an array is missing, or is not of finite float32 values in its shape.

        """
        parts = []
        for name, shape in self.items():
            if name not in arrays:
                names = ', '.join(sorted(arrays)) or 'nothing'
                raise ConfigurationError(f"the weights have no array '{name}': they hold {names}")
            array = arrays[name]
            if array.shape != shape or array.dtype != np.float32:
                raise ConfigurationError(
                    f'{name} has shape {array.shape} of {array.dtype}, expected {shape} of float32'
                )
            if not np.isfinite(array.astype(np.float32)).all():
                raise ConfigurationError(f'{name} holds a value that is not finite')
            parts.append(array.astype(np.float32))
        return np.ascontiguousarray(np.concatenate(parts, axis=1))


def require_layout(
    optimizer: str, dimension: int, shapes: Mapping[str, tuple[int, ...]]
) -> PerceptronLayout:
    """
    Return the layout of the networks that an optimiser searches.

    Raises
    ------
    ConfigurationError
        If the experiment has genes, or the arrays are not those of a perceptron layer.

    """
    if dimension:
        raise ConfigurationError(
            f"optimizer '{optimizer}' searches a network's weights, not genes"
        )
    if not isinstance(shapes, PerceptronLayout):
        raise ConfigurationError(
            f"optimizer '{optimizer}' searches layers of perceptrons, not arrays of the shapes "
            f'{dict(shapes)}'
        )
    return shapes
