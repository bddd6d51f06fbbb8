"""Weights of the networks of a run as files that trials read: one of each living member."""

from __future__ import annotations

from collections.abc import Iterable
import hashlib
import io
from pathlib import Path

import numpy as np

from gait_core.errors import ConfigurationError
from gait_core.files import read_bytes, write_atomically
from gait_core.perceptrons import PerceptronLayout
from gait_evolver.optimizers.rank_squared import NetworkCandidate


class WeightFiles:
    """
    Files of a run directory: ``weights/<id>.npz``, and beside the champion ``weights.<id>.npz``.

    Parameters
    ----------
    folder : Path
        The run directory.
    layout : PerceptronLayout

    """

    def __init__(self, folder: Path, layout: PerceptronLayout) -> None:
        self._run, self._folder, self._layout = folder, folder / 'weights', layout
        self._digests: dict[int, str] = {}
        # Those of an earlier process may have been damaged since.
        self._sound: set[int] = set()

    def digest(self, candidate: NetworkCandidate) -> str:
        """Return the SHA-256 of a candidate's file, which its weights alone determine."""
        if candidate.id not in self._digests:
            self._digests[candidate.id] = hashlib.sha256(self._content(candidate)).hexdigest()
        return self._digests[candidate.id]

    def write(self, candidates: Iterable[NetworkCandidate]) -> dict[int, Path]:
        """Write the files of candidates that have none, and remove all others; return theirs."""
        self._folder.mkdir(exist_ok=True)
        files = {}
        for one in candidates:
            file = files[one.id] = self._folder / f'{one.id}.npz'
            if not (file.exists() and one.id in self._sound):
                content = self._content(one)
                self._digests[one.id] = hashlib.sha256(content).hexdigest()
                write_atomically(file, content)
                self._sound.add(one.id)
        for file in self._folder.glob('*.npz'):
            if file not in files.values():
                file.unlink()
        self._digests = {one: self._digests[one] for one in files}
        self._sound &= set(files)
        return files

    def publish(self, champion: NetworkCandidate) -> None:
        """Put a network's file beside the champion that names it, unless it is there and sound."""
        file, content = self._run / self.name(champion.id), self._content(champion)
        try:
            sound = read_bytes(file) == content
        except ConfigurationError:
            sound = False
        if not sound:
            write_atomically(file, content)

    def retire(self, member: int) -> None:
        """Remove the files of former champions."""
        for file in self._run.glob('weights.*.npz'):
            if file.name != self.name(member):
                file.unlink()

    @staticmethod
    def name(member: int) -> str:
        """Return what the file beside the champion is called."""
        return f'weights.{member}.npz'

    def _content(self, candidate: NetworkCandidate) -> bytes:
        content = io.BytesIO()
        np.savez(content, **self._layout.named(candidate.weights))  # type: ignore[arg-type]
        return content.getvalue()
