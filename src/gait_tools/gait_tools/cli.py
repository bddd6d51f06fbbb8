# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The `gait` command: choice of the subcommand, exit codes and errors in one line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
import io
import os
import re
import select
import signal
import sys
import threading
import time
from types import FrameType, ModuleType
from typing import Any, NoReturn, TextIO

COMMANDS = {
    'walk': 'run one trial of a robot and print its measures',
    'evolve': 'search for a better gait',
    'study': 'reproduce a published study, row by row',
    'replay': 'run a champion again and compare it with its record',
    'report': 'write one self-contained page about a run or a champion',
    'calibrate': 'set the thresholds of reflexes above an undisturbed walk',
    'check': 'report the contents of a robot description, and what it lacks',
    'adopt': 'make a robot folder from any legged URDF',
    'init': 'write an experiment, robot, controller or fitness term to start from',
    'list': 'list registered names: robots, controllers, engines, ...',
    'bench': 'compare the speed of this installation with its budgets',
    'help': 'print this text, or that of a command',
}
"""Subcommands; each is a module of ``gait_tools.commands`` with ``add_arguments``, ``run``."""

EXIT_FAILED = 1
EXIT_USER_ERROR = 2

_TRIAL_COMMANDS = ('walk', 'study', 'replay', 'report', 'calibrate', 'adopt')
"""Subcommands that run trials in this process."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_COMPLETION_VARIABLE = '_ARGCOMPLETE'
"""Set by the shell function of argcomplete: the process prints completions and ends."""
_CLEAN_UP_TIME = 10.0
"""Time after a signal in which further signals are ignored, so that runs are closed [s]."""


class UserError(Exception):
    """Error of the user on the command line, as one line."""


class CommandParser(argparse.ArgumentParser):
    """Argument parser that raises UserError."""

    def error(self, message: str) -> NoReturn:
        """Raise the message instead of printing the usage."""
        raise UserError(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command line and return the exit code.

    0: done, or a trial that ended ``ok`` or ``fell``. 1: diverged, invalid, or a failed row.
    2: an error of the user, named in one line on standard error. 129, 130 and 143: ended by
    SIGHUP (closed terminal), SIGINT and SIGTERM.
    """
    if _COMPLETION_VARIABLE in os.environ:
        from gait_tools.completion import print_completions

        print_completions(COMMANDS)
    words = list(sys.argv[1:] if arguments is None else arguments)
    interrupt = InterruptHandler()
    try:
        interrupt.install()
        _prepare_streams()
        errors = sys.__stderr__
        if arguments is None and errors is not None and sys.stderr is errors:
            sys.stderr = _ErrorStream(
                errors.buffer, errors.encoding, errors.errors, line_buffering=True
            )
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except UserError as error:
        return _print_error(str(error))
    except KeyboardInterrupt:
        _flush_or_discard_output()
        return interrupt.exit_code
    except OSError as error:
        is_unread = isinstance(error, BrokenPipeError) and _lacks_reader(sys.stdout)
        _discard_output()
        if is_unread:
            # The reader, such as `head`, has closed the pipe.
            return 0
        return _print_error(
            ': '.join(filter(None, (error.filename, error.strerror or str(error))))
        )
    except ValueError as error:
        # Imported here: only an error needs it.
        from gait_core.errors import ConfigurationError

        if isinstance(error, ConfigurationError):
            return _print_error(str(error))
        return _handle_added_code_error(error)
    except RuntimeError as error:
        from gait_core.errors import RunStopped

        if isinstance(error, RunStopped):
            _print_error(f'{error}; it can be resumed')
            return EXIT_FAILED
        return _handle_added_code_error(error)
    except ModuleNotFoundError as error:
        return _handle_missing_module(error)
    except BaseException as error:
        return _handle_added_code_error(error)
    finally:
        interrupt.remove(for_good=arguments is None)


class InterruptHandler:
    """SIGINT, SIGTERM and SIGHUP as KeyboardInterrupt; later signals wait for the clean-up."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._last = -_CLEAN_UP_TIME
        self.exit_code = 128 + signal.SIGINT

    def install(self) -> None:
        """Install the handlers; Python allows it in the main thread only."""
        if threading.current_thread() is threading.main_thread():
            # nohup ignores SIGHUP, which must stay ignored.
            is_ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            caught_signals = [item for item in _SIGNALS if item != signal.SIGHUP or not is_ignored]
            self._before = {
                number: signal.signal(number, self._on_signal) for number in caught_signals
            }

    def remove(self, for_good: bool) -> None:
        """Restore the former handlers, or ignore the signals if the process ends now."""
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_IGN if for_good else handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last < _CLEAN_UP_TIME:
            return
        self._last = now
        self.exit_code = 128 + number
        raise KeyboardInterrupt


class _ErrorStream(io.TextIOWrapper):
    """
    Standard error that drops what cannot be written.

    A run must not end because the reader of its progress does, or because a disk is full.
    """

    def write(self, text: str) -> int:
        """Write a text and return its length."""
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        with suppress(OSError):
            super().flush()


def _prepare_streams() -> None:
    # A stream that the caller closed is None: output goes to /dev/null.
    for name in ('stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, 'w'))
    # A character that the terminal cannot show, as of a file name, must not end the command.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == 'strict':
        sys.stdout.reconfigure(errors='backslashreplace')
    try:
        os.getcwd()
    except OSError as error:
        raise UserError(f'the current folder cannot be used: {error.strerror}') from error


def _lacks_reader(stream: TextIO) -> bool:
    """Return whether a stream is a pipe or socket without a reader."""
    poll = select.poll()
    poll.register(stream.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _discard_output() -> None:
    """Redirect standard output to /dev/null, also for the flush on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush_or_discard_output() -> None:
    """Flush both streams or drop their output: a closed terminal must not change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _print_error(message: str) -> int:
    # Imported here: only an error needs it.
    from gait_core.errors import one_line

    print(f'gait: {one_line(" ".join(message.split()))}', file=sys.stderr)
    return EXIT_USER_ERROR


def _handle_missing_module(error: ModuleNotFoundError) -> int:
    """Print a library that is not installed, or the fault of a user's module, as one line."""
    from gait_core.errors import describe_import_error

    try:
        return _handle_added_code_error(error)
    except ModuleNotFoundError:
        # Raised again, or the handler itself lacks the library.
        return _print_error(f'{describe_import_error(error)}; install it (doc/install.md)')


def _handle_added_code_error(error: BaseException) -> int:
    """Print an exception of the user's code or a lack of memory as one line; raise others."""
    from gait_core.trial.failures import describe_exception, is_from_added_code

    if isinstance(error, MemoryError):
        _print_error(f'there is not enough memory: {describe_exception(error)}')
        return EXIT_FAILED
    if not is_from_added_code(error):
        raise error
    return _print_error(describe_exception(error))


def _dispatch(words: list[str]) -> int:
    """Run the subcommand that the words name; return the exit status."""
    if not words or words[0] in ('-h', '--help'):
        print(format_usage())
        return 0
    if words[0] == '--version':
        from gait_evolver import __version__

        print(f'gait {__version__}')
        return 0
    name = words[0]
    command, parser = load_command(name)
    try:
        options = _parse_options(parser, words[1:])
    except SystemExit:
        # argparse has printed the help.
        return 0
    if name in _TRIAL_COMMANDS and not getattr(options, 'json', False):
        # Imported here: the other commands must not wait for Numba.
        from gait_core.processes.compiling import announce_compiling

        announce_compiling(lambda line: print(f'gait: {line}', file=sys.stderr, flush=True))
    return int(command.run(options))


def load_command(name: str) -> tuple[ModuleType, CommandParser]:
    """Return the module of a subcommand and its parser; UserError for an unknown name."""
    if name not in COMMANDS:
        raise UserError(f"unknown command '{name}': {_nearest(name, COMMANDS)}")
    command = import_module(f'gait_tools.commands.{name}')
    parser = CommandParser(
        prog=f'gait {name}',
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return command, parser


def _parse_options(parser: CommandParser, words: list[str]) -> argparse.Namespace:
    """Return the options of a subcommand; ``UserError`` names the first word that is wrong."""
    for before, word in zip(['', *words], words, strict=False):
        # An unset shell variable leaves an empty word, which must not mean the default.
        if not word or re.fullmatch('--[a-z-]+=', word):
            name = word.rstrip('=') or before
            raise UserError(f'empty argument{f" after {name!r}" if name else ""}')
    options, rest = parser.parse_known_args(_join_negative_values(parser, words))
    if rest:
        flags = [flag for action in parser._actions for flag in action.option_strings]
        wrong = rest[0].partition('=')[0]
        if wrong.startswith('-'):
            raise UserError(f"unknown option '{wrong}': {_nearest(wrong, flags)}")
        raise UserError(f"unexpected argument '{rest[0]}'")
    return options


def _join_negative_values(parser: CommandParser, words: list[str]) -> list[str]:
    """Return the words with each value such as -0.05,0,0 joined to its option by '='."""
    # argparse takes such a value for an option, because it is not one plain number.
    takers = {f for action in parser._actions if action.nargs != 0 for f in action.option_strings}
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] in takers and re.match(r'-[0-9.]', word):
            joined[-1] += f'={word}'
        else:
            joined.append(word)
    return joined


def _nearest(name: str, valid: Any) -> str:
    from gait_core.errors import name_hint

    return name_hint(name, valid)


def format_usage() -> str:
    """Return the list of the subcommands."""
    width = max(len(name) for name in COMMANDS)
    lines = [f'  {name:{width}}  {text}' for name, text in COMMANDS.items()]
    return '\n'.join(
        [
            'usage: gait COMMAND [ARGUMENTS]',
            '',
            'Generate, evolve, inspect and replay gaits.',
            '',
            *lines,
            '',
            'Options of a command: gait help COMMAND',
        ]
    )


if __name__ == '__main__':
    sys.exit(main())
