# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Command lines of Python processes that import nothing from the working folder.

``python -m`` and ``python -c`` put the working folder first on the import path, where a file such
as random.py or yaml.py would be executed. ``-P`` and ``PYTHONSAFEPATH`` exist from Python 3.11 on.
"""

from __future__ import annotations

import sys

SAFE_ENVIRONMENT = {'PYTHONSAFEPATH': '1'}
"""Variables of a child process whose command line is not ours, for Python 3.11 and later."""

# The empty entry is the working folder. The module sys is built in, so no file can replace it.
_PREAMBLE = 'import sys; sys.path[:] = filter(None, sys.path); '


def python_code_command(code: str) -> list[str]:
    """Return the command line that runs Python statements."""
    return [sys.executable, '-c', _PREAMBLE + code]


def python_module_command(module: str) -> list[str]:
    """Return the command line that runs a module as ``python -m`` does; arguments may follow."""
    return python_code_command(
        f"import runpy; runpy.run_module('{module}', run_name='__main__', alter_sys=True)"
    )
