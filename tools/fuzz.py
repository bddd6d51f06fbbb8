# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Fuzzer: damaged and hostile inputs of every kind, and a table of how many ended in which way.

Each input must be refused with status 2 and one line of at most 300 characters, or accepted with
an effect. It must end in no traceback, signal or hang, run no code, and no mistake may pass in
silence. Places of change are the keys of the project's own schemas and the options of its own
commands: a new one is visited at once. Equal seeds give equal inputs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
import contextlib
import gc
import io
import os
from pathlib import Path
import sys
import tempfile

from fuzzing.argument_inputs import argument_sites
from fuzzing.data_inputs import archive_sites, bag_sites, mesh_sites, run_sites
from fuzzing.inputs import Site, take_inputs
from fuzzing.judge import ENDS, FAULT, describe_end, find_fault, run_input
from fuzzing.readers import evaluate_here
from fuzzing.xml_inputs import xml_sites
from fuzzing.yaml_inputs import folder_sites, named_code_sites, yaml_kinds

from gait_tools.cli import main as gait

RESULTS = Path(__file__).resolve().parents[1] / 'doc' / 'results'
_ROBOTS = ('a1', 'guroo', 'hexapod', 'roach', 'spider', 'tetraspine')
_EVOLVE = (
    *('evolve', 'guroo_quick', '--generations', '2', '--workers', '1', '--run-dir', 'run'),
    *('--set', 'population=3', '--set', 'duration=0.2'),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run inputs and print a table; return 1 if one ends badly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--inputs', type=int, default=200, metavar='N')
    parser.add_argument('--seed', type=int, default=1, metavar='N')
    parser.add_argument(
        '--only', default='', metavar='KIND', help='a kind of input, as in the table'
    )
    options = parser.parse_args(arguments)
    kinds = {kind: sites for kind, sites in all_sites().items() if options.only in kind}
    gc.freeze()
    counts: Counter[tuple[str, str]] = Counter()
    for case in take_inputs(kinds, options.seed, options.inputs):
        outcome = run_input(case)
        fault = find_fault(case, outcome)
        counts[case.kind, describe_end(outcome, fault)] += 1
        if fault:
            print(f'{case.kind}: {case.change}: {fault}', flush=True)
    print_table(counts)
    places = sum(map(len, kinds.values()))
    bad = sum(count for (_, end), count in counts.items() if end == FAULT)
    print(f'{options.inputs} inputs of seed {options.seed} at {places} places: {bad} end badly')
    return 1 if bad else 0


def all_sites() -> dict[str, dict[str, Site]]:
    """Return the places of change of every kind of input, by valid files that are made first."""
    evaluate_here()
    weights = (RESULTS / 'bishop2008_weights.npz').read_bytes()
    walker = _short_walker().encode()
    with _scratch_folder():
        # Compiles, loads and caches what each forked child needs, too.
        Path('c.yaml').write_bytes(walker)
        Path('bishop2008_weights.npz').write_bytes(weights)
        for robot in _ROBOTS:
            _run('walk', robot, '--seconds', '0.04', '--json')
        # It is shorter than its record, so that the two differ.
        _run('replay', 'c.yaml', '--json', status=1)
        _run('walk', 'guroo', '--seconds', '0.2', '--record', 'bag', '--json')
        _run(*_EVOLVE)
        run, bag = _files('run'), _files('bag')
        _run('report', 'run', '--json')
    champion = run['champion.yaml'].decode()
    found: dict[str, dict[str, Site]] = {}
    for name, kind in yaml_kinds(champion):
        # A second valid file of a kind adds the keys that the first one lacks.
        found[name] = kind.sites() | found.get(name, {})
    return {
        **found,
        'robot folder': folder_sites() | named_code_sites(champion),
        **xml_sites(),
        'mesh': mesh_sites(),
        **argument_sites(run['champion.yaml']),
        'run': run_sites(run),
        'bag': bag_sites(bag),
        'archive': archive_sites(walker, 'bishop2008_weights.npz', weights),
    }


@contextlib.contextmanager
def _scratch_folder() -> Iterator[None]:
    """Make a temporary folder the working folder, and drop what is printed."""
    before = os.getcwd()
    with (
        tempfile.TemporaryDirectory(prefix='fuzz') as name,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        os.chdir(name)
        try:
            yield
        finally:
            os.chdir(before)


def _short_walker() -> str:
    """Return a champion with an archive of weights, of a few control periods."""
    text = (RESULTS / 'bishop2008_champion.yaml').read_text()
    text = text.replace("'mujoco'", "'bullet'").replace('duration: 24.0', 'duration: 0.06')
    return '\n'.join(line for line in text.splitlines() if 'weights_sha256' not in line)


def _run(*words: str, status: int = 0) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as said:
        code = gait(words)
    if code != status:
        raise RuntimeError(f'gait {" ".join(words)} fails: {said.getvalue()}')


def _files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def print_table(counts: Mapping[tuple[str, str], int]) -> None:
    """Print the number of inputs by kind and end."""
    print(f'| Kind | Inputs | {" | ".join(ENDS)} |\n|---|{"---|" * (len(ENDS) + 1)}')
    kinds = sorted({kind for kind, _ in counts})
    for kind in [*kinds, 'all']:
        row = [
            sum(n for (k, e), n in counts.items() if e == end and kind in (k, 'all'))
            for end in ENDS
        ]
        print(f'| {kind} | {sum(row)} | {" | ".join(map(str, row))} |')


if __name__ == '__main__':
    sys.exit(main())
