"""Files of the arrays of a run's candidates, such as networks: one of each living member."""

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
    Files of a run directory: ``weights/<id>.npz``, and beside the champion ``weights.<id>.npz``.

    Candidates without arrays have no files.

    Parameters
    ----------
    folder : Path
        The run directory.

    """

    def __init__(self, folder: Path) -> None:
        self._run, self._folder = folder, folder / 'weights'
        self._digests: dict[int, str] = {}
        # Those of an earlier process may have been damaged since.
        self._intact_ids: set[int] = set()

    def digest(self, candidate: Candidate) -> str:
        """Return the SHA-256 of a candidate's file, which its arrays alone determine; or ''."""
        if not candidate.arrays:
            return ''
        if candidate.id not in self._digests:
            self._digests[candidate.id] = hashlib.sha256(_encode_arrays(candidate)).hexdigest()
        return self._digests[candidate.id]

    def write(self, candidates: Sequence[Candidate]) -> list[str]:
        """Write files that are missing, remove those of others; return each one's path or ''."""
        files = {one.id: self._folder / f'{one.id}.npz' for one in candidates if one.arrays}
        if files:
            self._folder.mkdir(exist_ok=True)
        for one in candidates:
            if one.id in files and not (files[one.id].exists() and one.id in self._intact_ids):
                content = _encode_arrays(one)
                self._digests[one.id] = hashlib.sha256(content).hexdigest()
                write_atomically(files[one.id], content)
                self._intact_ids.add(one.id)
        for file in self._folder.glob('*.npz'):
            if file not in files.values():
                file.unlink()
        self._digests = {one: self._digests[one] for one in files}
        self._intact_ids &= set(files)
        return [str(files[one.id].resolve()) if one.id in files else '' for one in candidates]

    def publish(self, champion: Candidate) -> None:
        """Put a champion's file beside that which names it, unless it is there and sound."""
        file, content = self._run / self.name(champion.id), _encode_arrays(champion)
        try:
            sound = read_bytes(file) == content
        except ConfigurationError:
            sound = False
        if not sound:
            write_atomically(file, content)

    def remove_former_champions(self, member: int) -> None:
        """Remove the files of former champions."""
        for file in self._run.glob('weights.*.npz'):
            if file.name != self.name(member):
                file.unlink()

    @staticmethod
    def name(member: int) -> str:
        """Return the name of the file beside the champion."""
        return f'weights.{member}.npz'


def _encode_arrays(candidate: Candidate) -> bytes:
    content = io.BytesIO()
    np.savez(content, **candidate.arrays)  # type: ignore[arg-type]
    return content.getvalue()
