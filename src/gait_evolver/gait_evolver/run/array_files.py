# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files of the searched arrays, such as networks, of the candidates in a population."""

from __future__ import annotations

from collections.abc import Sequence
import hashlib
import io
from pathlib import Path

import numpy as np

from gait_core.contracts import Candidate
from gait_core.errors import ConfigurationError
from gait_core.files.access import read_bytes, write_atomically


class ArrayFiles:
    """
    Array files of a run directory.

    ``weights/<id>.npz`` belongs to a candidate of the last ask, ``weights.<id>.npz`` to the
    champion. Candidates without arrays have no files.

    Parameters
    ----------
    folder : Path
        The run directory.

    """

    def __init__(self, folder: Path) -> None:
        self._run, self._folder = folder, folder / 'weights'
        self._digests: dict[int, str] = {}
        # Candidates whose files this process wrote; older files may be damaged.
        self._intact_ids: set[int] = set()

    def digest(self, candidate: Candidate) -> str:
        """Return the SHA-256 of a candidate's array file; '' without arrays."""
        if not candidate.arrays:
            return ''
        if candidate.id not in self._digests:
            self._digests[candidate.id] = hashlib.sha256(_encode_arrays(candidate)).hexdigest()
        return self._digests[candidate.id]

    def write(self, candidates: Sequence[Candidate]) -> list[str]:
        """
        Write missing files of candidates and remove all others.

        Returns the path of each candidate's file, '' for a candidate without arrays.
        """
        files = {item.id: self._folder / f'{item.id}.npz' for item in candidates if item.arrays}
        if files:
            self._folder.mkdir(exist_ok=True)
        for item in candidates:
            if item.id in files and not (files[item.id].exists() and item.id in self._intact_ids):
                content = _encode_arrays(item)
                self._digests[item.id] = hashlib.sha256(content).hexdigest()
                write_atomically(files[item.id], content)
                self._intact_ids.add(item.id)
        for file in self._folder.glob('*.npz'):
            if file not in files.values():
                file.unlink()
        self._digests = {key: self._digests[key] for key in files}
        self._intact_ids &= set(files)
        return [str(files[item.id].resolve()) if item.id in files else '' for item in candidates]

    def publish(self, champion: Candidate) -> None:
        """Write a champion's arrays beside its champion file, unless an intact file is there."""
        file, content = self._run / self.name(champion.id), _encode_arrays(champion)
        try:
            is_intact = read_bytes(file) == content
        except ConfigurationError:
            is_intact = False
        if not is_intact:
            write_atomically(file, content)

    def remove_former_champions(self, candidate_id: int) -> None:
        """Remove the array files of all champions but one."""
        for file in self._run.glob('weights.*.npz'):
            if file.name != self.name(candidate_id):
                file.unlink()

    @staticmethod
    def name(candidate_id: int) -> str:
        """Return the name of a champion's array file."""
        return f'weights.{candidate_id}.npz'


def _encode_arrays(candidate: Candidate) -> bytes:
    content = io.BytesIO()
    np.savez(content, **candidate.arrays)  # type: ignore[arg-type]
    return content.getvalue()
