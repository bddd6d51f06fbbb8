# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Folder of bags, one per trial, with a table of their genomes and results."""

from __future__ import annotations

from collections.abc import Sequence
import csv
from pathlib import Path
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.files.access import DATA_LIMIT, read_text, write_atomically
from gait_core.trial.champion import Champion
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import TrialResult
from gait_evolver.run.files import format_csv, hold_lock
from gait_tools.bags.write import check_bag, write_bag

INDEX_FILE, LOCK_FILE = 'bags.csv', 'bags.lock'
_CANDIDATE_COLUMNS = ('id', 'generation', 'individual')
_RESULT_COLUMNS = ('seed', 'engine', 'status', 'fitness', 'trial_hash')


class BagFolder:
    """
    Bags of the trials of candidates, ``g<generation>_i<individual>_r<repeat>_<engine>``.

    ``bags.csv`` has a line for each bag: its run and candidate, its result, and the parameters of
    its controller. Bags of the same controller can be added to a folder later.

    Parameters
    ----------
    folder : Path
    champion : Champion
        Champion whose trials are recorded.

    """

    def __init__(self, folder: Path, champion: Champion) -> None:
        self._folder, self._champion = folder, champion
        self._genome = list(champion.spec.parameters)
        self._header = [
            'bag',
            'run',
            *_CANDIDATE_COLUMNS[1:],
            'repeat',
            *_RESULT_COLUMNS,
            *self._genome,
        ]

    def check(self) -> None:
        """
        Raise ConfigurationError if a bag exists already, or the table is of another controller.

        Called before the trials.
        """
        self._read()
        for repeat in range(len(self._champion.seeds)):
            check_bag(self._folder / self._name(repeat))

    def write(self, repeat: int, rollout: Rollout, result: TrialResult) -> Path:
        """Write the bag of a repeat and its line of the table; return its folder."""
        name = self._name(repeat)
        run = self._champion.run
        genome = dict(self._champion.spec.parameters)
        write_bag(
            self._folder / name,
            rollout,
            result,
            {**dict(run), 'repeat': repeat, 'genome': genome},
        )
        line = [
            name,
            *(run.get(key, '') for key in _CANDIDATE_COLUMNS),
            repeat,
            rollout.spec.seed,
            rollout.spec.scene.engine,
            result.status,
            '' if result.fitness is None else repr(result.fitness),
            result.trial_hash,
            *(_format_cell(genome[key]) for key in self._genome),
        ]
        # Other processes may add bags to the folder at the same time.
        with hold_lock(self._folder / LOCK_FILE):
            rows = [self._header, *self._read(), line]
            write_atomically(self._folder / INDEX_FILE, format_csv(rows))
        return self._folder / name

    def _name(self, repeat: int) -> str:
        run, engine = self._champion.run, self._champion.spec.scene.engine
        place = f'g{run.get("generation", 0):04d}_i{run.get("individual", 0):04d}'
        return f'{place}_r{repeat}_{engine}'

    def _read(self) -> list[Sequence[Any]]:
        """Return the lines of the folder's index; ``ConfigurationError`` if they are wrong."""
        file = self._folder / INDEX_FILE
        if not file.exists():
            return []
        try:
            header, *lines = csv.reader(read_text(file, DATA_LIMIT).splitlines())
        except ConfigurationError:
            raise
        except (ValueError, csv.Error) as error:
            raise ConfigurationError(f"'{file}' is not a table of bags: {error}") from error
        if header != self._header:
            raise ConfigurationError(
                f"'{self._folder}' holds bags of another controller; choose another folder"
            )
        return list(lines)


def _format_cell(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)
