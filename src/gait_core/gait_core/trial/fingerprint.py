# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fingerprint of the platform: where it is equal, results are equal to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
import hashlib
from importlib.metadata import PackageNotFoundError, version
import json
from pathlib import Path
import platform

import scipy.linalg  # noqa: F401  # Loads the BLAS libraries of NumPy and SciPy.

try:
    from threadpoolctl import threadpool_info
except ImportError:  # An installed ROS may lack it; the kernel is then not known.
    threadpool_info = None

_PACKAGES = ('numpy', 'scipy', 'numba', 'pybullet', 'mujoco')
_CPU_KEYS = ('vendor_id', 'cpu family', 'model')
# The instruction sets by which NumPy, BLAS and Numba choose among code paths.
_CPU_FLAGS = (
    'sse4_2',
    'avx',
    'avx2',
    'fma',
    'avx512f',
    'avx512dq',
    'avx512bw',
    'avx512vl',
    'asimd',
    'sve',
)


def fingerprint_fields() -> dict[str, str]:
    """Return the platform's fields that arithmetic depends on; '' for a missing package."""
    return dict(_platform_fields())


@cache
def fingerprint() -> str:
    """Return the SHA-256 of the platform's fields; equal ones make trial hashes comparable."""
    return fingerprint_of(fingerprint_fields())


def fingerprint_of(fields: Mapping[str, str]) -> str:
    """Return the SHA-256 of the fields of a platform."""
    encoded = json.dumps(dict(fields), sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(encoded.encode()).hexdigest()


def differing_fields(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    """Return, sorted, the names of the fields in which two platforms differ."""
    return sorted(name for name in {**a, **b} if a.get(name, '') != b.get(name, ''))


def describe_differences(recorded: Mapping[str, str]) -> str:
    """Return the fields in which this platform differs from a recorded one, with both values."""
    now = fingerprint_fields()
    return ', '.join(
        f'{name} ({recorded.get(name) or "none"}, now {now.get(name) or "none"})'
        for name in differing_fields(recorded, now)
    )


@cache
def _platform_fields() -> tuple[tuple[str, str], ...]:
    """Return the sorted fields of the platform: processor, system, Python and libraries."""
    libc = ' '.join(platform.libc_ver()).strip()
    fields = {
        'machine': platform.machine(),
        'system': platform.system(),
        'libc': libc,
        'python': platform.python_version(),
        'blas': _blas_kernels(),
        **_cpu_fields(Path('/proc/cpuinfo')),
        **{name: _installed_version(name) for name in _PACKAGES},
    }
    return tuple(sorted(fields.items()))


def _cpu_fields(cpuinfo: Path) -> dict[str, str]:
    """Return vendor, family, model and relevant flags of the first processor listed."""
    try:
        lines = cpuinfo.read_text().split('\n\n')[0].splitlines()
    except OSError:
        return {'cpu': platform.processor()}
    fields = dict(line.partition(':')[::2] for line in lines if ':' in line)
    values = {key.strip(): value.strip() for key, value in fields.items()}
    present = set((values.get('flags') or values.get('Features') or '').split())
    return {
        'cpu': ' '.join(values[key] for key in _CPU_KEYS if key in values),
        'cpu_flags': ' '.join(flag for flag in _CPU_FLAGS if flag in present),
    }


def _blas_kernels() -> str:
    """Return library, version and kernel of every BLAS in use; '' without threadpoolctl."""
    if threadpool_info is None:
        return ''
    found = {
        ' '.join(str(info.get(key) or '') for key in ('internal_api', 'version', 'architecture'))
        for info in threadpool_info()
        if info.get('user_api') == 'blas'
    }
    return '; '.join(sorted(text.strip() for text in found))


def _installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ''
