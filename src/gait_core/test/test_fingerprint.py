# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from importlib.metadata import version
import subprocess
import sys

from gait_core.trial.fingerprint import (
    _cpu_fields,
    describe_differences,
    differing_fields,
    fingerprint,
    fingerprint_fields,
)


def test_it_names_the_versions_that_arithmetic_depends_on():
    fields = fingerprint_fields()
    assert fields['numpy'] == version('numpy')
    assert fields['python'] == '.'.join(map(str, sys.version_info[:3]))
    assert set(fields) >= {'machine', 'libc', 'cpu', 'cpu_flags', 'blas', 'scipy', 'mujoco'}


def test_it_is_the_same_in_another_process_whatever_was_imported_there():
    script = 'from gait_core.trial.fingerprint import fingerprint; print(fingerprint())'
    for before in ('', 'import numpy, scipy.optimize, hashlib; '):
        run = subprocess.run(
            [sys.executable, '-c', before + script], capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == fingerprint()


def test_difference_names_the_fields():
    assert differing_fields({'a': '1', 'b': '2', 'c': '3'}, {'a': '1', 'b': '4', 'd': '5'}) == [
        'b', 'c', 'd',
    ]  # fmt: skip
    assert differing_fields(fingerprint_fields(), fingerprint_fields()) == []
    # A package that one platform lacks is an empty field there.
    assert differing_fields({'mujoco': ''}, {}) == []


def test_differences_are_told_with_both_values():
    fields = fingerprint_fields()
    recorded = {**fields, 'numpy': '1.26.4', 'scipy': ''}
    assert describe_differences(recorded) == (
        f'numpy (1.26.4, now {fields["numpy"]}), scipy (none, now {fields["scipy"]})'
    )
    assert describe_differences(fields) == ''


def test_the_fields_handed_out_are_a_copy():
    fingerprint_fields().clear()
    assert fingerprint_fields()


def test_the_cpu_is_read_from_the_first_processor(tmp_path):
    listing = tmp_path / 'cpuinfo'
    listing.write_text(
        'processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n'
        'model name\t: Some CPU\nflags\t\t: fpu avx2 sse4_2 ht\n\nprocessor\t: 1\nmodel\t: 9\n'
    )
    assert _cpu_fields(listing) == {'cpu': 'GenuineIntel 6 85', 'cpu_flags': 'sse4_2 avx2'}
    assert set(_cpu_fields(tmp_path / 'absent')) == {'cpu'}
