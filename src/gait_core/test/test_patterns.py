# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Patterns of names match as regular expressions do, and none searches without end."""

from __future__ import annotations

import re

import pytest

from gait_core.errors import ConfigurationError
from gait_core.parameters.patterns import match_names

NAMES = ['fl_hip', 'fl_knee', 'rr_hip', 'rr_knee', 32 * 'a']


@pytest.mark.parametrize(
    'pattern',
    [
        'fl_hip',
        '.*',
        '.*_hip',
        '[fr][lr]_(hip|knee)',
        '.*_.*',
        '(fl|rr)_.*',
        r'\w+_(?:hip|ankle)?',
        'f.{3,5}',
        '(?i)FL_.*',
        '(a)+',
        '.*?_hip',
        '(?!fl).*_hip',
        r'(.)\1.*',
    ],
)
def test_a_pattern_finds_the_names_that_it_matches(pattern):
    expected = [name for name in NAMES if re.fullmatch(pattern, name)]
    assert expected and match_names(pattern, NAMES, 'file') == expected


@pytest.mark.parametrize(
    'pattern',
    [
        '(a+)+b',
        '(a*)*b',
        '(a|a)*b',
        '(a|aa)+b',
        '((a?){9}){9}b',
        '(.*.*)*b',
        '.*.*.*.*.*.*b',
        30 * '(a|a)' + 'b',
        30 * 'a?' + 30 * 'a',
        '(?=(a+)+b).*',
    ],
)
def test_a_pattern_that_may_search_without_end_is_refused(pattern):
    with pytest.raises(ConfigurationError, match='file: .*may never end'):
        match_names(pattern, NAMES, 'file')


@pytest.mark.parametrize(
    'pattern', ['(', '*', '[a', 'a{2,1}', 5000 * '(', 'a{99999999999999999999}']
)
def test_what_is_no_pattern_is_named(pattern):
    with pytest.raises(ConfigurationError, match='file: .*not a regular expression'):
        match_names(pattern, NAMES, 'file')
