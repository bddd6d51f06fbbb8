# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Seeds that depend on the evaluated item alone, not on worker or time."""

from __future__ import annotations

import numpy as np

from gait_core.errors import ConfigurationError

MAX_SEED = 2**63 - 1


def check_seed(seed: int) -> int:
    """Return the seed; raise ConfigurationError unless it is an int in [0, 2**63)."""
    if (
        isinstance(seed, bool)
        or not isinstance(seed, (int, np.integer))
        or not (0 <= seed <= MAX_SEED)
    ):
        raise ConfigurationError(f'seed {seed!r} is not a whole number from 0 to {MAX_SEED}')
    return int(seed)


def derived_seed(run_seed: int, *key: int) -> int:
    """
    Return the seed of one item of a run, e.g. of (generation, individual, repeat).

    Parameters
    ----------
    run_seed : int
        Seed of the whole run.
    *key : int
        Numbers that identify the item. Equal keys give equal seeds in any order of calls.

    Returns
    -------
    int
        In [0, 2**63), so that it fits a signed 64-bit message field.

    """
    sequence = np.random.SeedSequence(entropy=check_seed(run_seed), spawn_key=key)
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
