# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Metrics, parameters and pages use the terms of the glossary, not the words it replaces."""

import importlib
from pathlib import Path
import pkgutil
import re

import pytest

from gait_core import registry
from gait_core.errors import NotInstalled
from gait_core.measures.metrics import METRICS
from gait_core.parameters.declaration import Parameters, declared_parameters
from gait_core.testing.documents import table_rows
from gait_core.trial.gates import GATES

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = sorted(path.parent.name for path in _ROOT.glob('src/*/setup.py'))
_PAGES = sorted(
    path for pattern in ('*.md', '*/*.md', 'src/*/*.md') for path in _ROOT.glob(pattern)
)
_NOT = ' Not: '
# Parts of a metric's name that are no quantity: units, statistics, axes.
_QUALIFIERS = {
    *('m', 's', 'rad', 'mps', 's2', 'j', 'hz', 'fraction'),
    *('mean', 'min', 'max', 'p05', 'signed', 'absolute', 'undefined', 'x', 'y'),
    *('area', 'line', 'point', 'offset'),
}


def glossary():
    """Return the meaning of each term."""
    text = (_ROOT / 'doc' / 'glossary.md').read_text(encoding='utf-8')
    return dict(table_rows(text, 'Term'))


def replaced_words():
    """Return the words that the glossary replaces, with the term for each."""
    found = {}
    for term, meaning in glossary().items():
        words = meaning.partition(_NOT)[2].rstrip('.')
        found |= {word.strip(): term for word in words.split(',') if word.strip()}
    return found


def pattern_of(words):
    """Return the pattern of any of these words, in the singular or the plural."""
    return re.compile(rf'\b({"|".join(map(re.escape, words))})s?\b', re.IGNORECASE)


def import_packages():
    """Import every module that needs no library that is absent."""
    for package in _PACKAGES:
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f'{package}.'):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                if (error.name or '').partition('.')[0] in _PACKAGES:
                    raise


def subclasses(cls):
    """Yield all classes below one."""
    for child in cls.__subclasses__():
        yield child
        yield from subclasses(child)


def texts():
    """Yield place and text of metrics, gates, declared parameters and registered objects."""
    yield from METRICS.items()
    yield from ((name, gate.text) for name, gate in GATES.items())
    import_packages()
    # Classes of other tests in the same process are left out.
    product = [cls for cls in subclasses(Parameters) if cls.__module__.split('.')[0] in _PACKAGES]
    for cls in product:
        for info in declared_parameters(cls):
            yield f'{cls.__module__}:{cls.__qualname__}.{info.name}', info.doc
    for kind in registry.GROUPS:
        for name in registry.names(kind):
            try:
                text = registry.load(kind, name).__doc__ or ''
            except NotInstalled:
                continue
            yield f'{kind} {name}', text.strip().partition('\n')[0]


def test_no_text_uses_a_word_that_the_glossary_replaces():
    replaced = replaced_words()
    assert len(replaced) > 10
    checked, wrong = 0, []
    for place, text in texts():
        checked += 1
        for match in pattern_of(replaced).finditer(text):
            word = match[1].lower()
            wrong.append(f"{place} says '{word}', not '{replaced[word]}': {text}")
    assert checked > 400
    assert not wrong, '\n'.join(wrong)


@pytest.mark.parametrize('name', METRICS)
def test_every_metric_measures_a_quantity_of_the_glossary(name):
    known = {word.lower().rstrip('s') for term in glossary() for word in re.findall(r'\w+', term)}
    unknown = [
        part
        for part in name.split('_')
        if part not in _QUALIFIERS and part.rstrip('s') not in known
    ]
    assert not unknown, f'{name}: the glossary has no term with {unknown}'


def test_a_word_that_is_replaced_is_no_term():
    assert not replaced_words().keys() & {term.lower() for term in glossary()}


@pytest.mark.parametrize('page', _PAGES, ids=lambda page: page.relative_to(_ROOT).as_posix())
def test_no_page_uses_a_word_that_the_glossary_replaces(page):
    if page.name == 'glossary.md':
        pytest.skip('the glossary itself')
    text = page.read_text(encoding='utf-8')
    prose = re.sub(r'```.*?```|`[^`\n]*`', ' ', text, flags=re.DOTALL)
    replaced = replaced_words()
    found = sorted({match[1].lower() for match in pattern_of(replaced).finditer(prose)})
    assert not found, [f"'{word}', not '{replaced[word]}'" for word in found]
