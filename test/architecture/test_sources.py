# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""No file has forbidden content, and the examples in docstrings are correct."""

import ast
import doctest
import importlib
from pathlib import Path
import re
import subprocess
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 2_000_000  # bytes
PURE = (
    'gait_core',
    'gait_cpg',
    'gait_evolver',
    'gait_stage_walk',
    'gait_studies',
    'gait_tools',
    'sim_bridge',
)

# Home directories and the like of the machine somebody worked on.
MACHINE_PATH = re.compile(r'(?<![\w.$}])/(?:home/\w|root/|work/|Users/\w)')
# Where packages are fetched from is the user's configuration, not ours.
REGISTRY = re.compile('|'.join(('pypi' + r'\.org', 'python' + r'hosted\.org')))
PICKLES = {'cPickle', 'cloudpickle', 'dill', 'joblib', 'marshal', 'pickle', 'shelve'}


def repository_files() -> list[Path]:
    """Return the files git would have: tracked, or new and not ignored."""
    command = ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z']
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if done.returncode == 0:
        paths = [ROOT / name for name in done.stdout.decode().split('\0') if name]
    else:
        made = ('.venv', 'build', 'install', 'log', '.git')
        paths = [p for p in ROOT.rglob('*') if p.relative_to(ROOT).parts[0] not in made]
    return sorted(path for path in paths if path.is_file())


FILES = repository_files()
SOURCES = [path for path in FILES if path.suffix == '.py']


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    """Return every line of a text file of the repository that matches."""
    found = []
    for path in FILES:
        try:
            text = path.read_text(encoding='utf-8')
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                found.append(f'{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}')
    return found


def test_no_path_of_a_machine():
    own = Path(__file__).relative_to(ROOT).as_posix()
    found = [line for line in lines_matching(MACHINE_PATH) if not line.startswith(own)]
    assert not found, '\n'.join(found)


def test_no_registry_is_named():
    found = lines_matching(REGISTRY)
    assert not found, '\n'.join(found)


def test_no_large_file():
    large = {
        path.relative_to(ROOT).as_posix(): path.stat().st_size
        for path in FILES
        if path.stat().st_size > LARGEST
    }
    assert not large


def test_every_source_begins_with_holder_and_licence():
    """The notice is one that ament_copyright finds, with the short name of the licence."""
    holders = {
        maintainer.text
        for manifest in ROOT.glob('src/*/package.xml')
        for maintainer in ElementTree.parse(manifest).iterfind('maintainer')
    }
    (holder,) = holders
    notice = f'# Copyright 2026 {holder}\n# SPDX-License-Identifier: Apache-2.0\n'
    without = []
    for path in FILES:
        if path.suffix in ('.py', '.sh', ''):
            text = path.read_text(encoding='utf-8')
            command, _, rest = text.partition('\n')
            is_script = command.startswith('#!')
            if (path.suffix or is_script) and not (rest if is_script else text).startswith(notice):
                without.append(path.relative_to(ROOT).as_posix())
    assert not without, f'no notice of holder and licence: {without}'


def unsafe(tree: ast.AST) -> list[tuple[int, str]]:
    """Return the calls that would run code found in data, with their lines."""
    found = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or '']
        found += [(node.lineno, f'import {n}') for n in names if n.split('.')[0] in PICKLES]
        if not isinstance(node, ast.Call):
            continue
        function = ast.unparse(node.func)
        if function in {'eval', 'exec', 'builtins.eval', 'builtins.exec'}:
            found.append((node.lineno, f'{function}()'))
        if function in {'yaml.unsafe_load', 'yaml.full_load', 'yaml.load_all'}:
            found.append((node.lineno, f'{function}()'))
        if function == 'yaml.load' and 'Safe' not in ast.unparse(node):
            found.append((node.lineno, 'yaml.load() without a safe loader'))
        for keyword in node.keywords:
            if keyword.arg == 'allow_pickle' and ast.unparse(keyword.value) != 'False':
                found.append((node.lineno, 'allow_pickle'))
    return found


def test_nothing_runs_code_found_in_data():
    found = [
        f'{path.relative_to(ROOT)}:{line}: {what}'
        for path in SOURCES
        for line, what in unsafe(ast.parse(path.read_text(encoding='utf-8'), str(path)))
    ]
    assert not found, '\n'.join(found)


@pytest.mark.parametrize(
    ('code', 'count'),
    [
        ('import pickle', 1),
        ('from joblib import load', 1),
        ("eval('1')", 1),
        ('model.eval()', 0),
        ('yaml.load(text)', 1),
        ('yaml.load(text, Loader=yaml.CSafeLoader)', 0),
        ('np.load(file, allow_pickle=True)', 1),
        ('np.load(file, allow_pickle=False)', 0),
    ],
)
def test_unsafe_code_is_recognised(code, count):
    assert len(unsafe(ast.parse(code))) == count


def test_repeated_lines_are_not_throttled_by_rclpy():
    """Its filter walks the stack at every call, so that a refused message took 1 ms."""
    word = 'throttle_' + 'duration_sec='
    assert not [p for p in SOURCES if word in p.read_text(encoding='utf-8')]


def modules_with_examples() -> list[str]:
    """Return the pure modules whose docstrings hold examples."""
    found = []
    for package in PURE:
        source = ROOT / 'src' / package
        for path in sorted((source / package).rglob('*.py')):
            is_ros = path.name == 'node.py' or path.match('evaluators/ros.py')
            if not is_ros and '>>> ' in path.read_text(encoding='utf-8'):
                parts = path.relative_to(source).with_suffix('').parts
                found.append('.'.join(part for part in parts if part != '__init__'))
    return found


@pytest.mark.parametrize('module', modules_with_examples())
def test_examples_in_docstrings(module):
    result = doctest.testmod(
        importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize('path', [p for p in SOURCES if 'src' in p.parts], ids=lambda p: p.stem)
def test_source_is_valid_for_the_oldest_python(path):
    """Sources stay valid from 3.10 on."""
    text = path.read_text(encoding='utf-8')
    parsed = ast.parse(text, str(path), feature_version=(3, 10))
    assert parsed.body or not text.strip()
