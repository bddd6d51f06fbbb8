# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes in YAML files: one line with file, line and column, and nothing of the parser's own."""

import pytest

from gait_core.errors import ConfigurationError
from gait_core.parameters.yaml_file import read_document


@pytest.mark.parametrize(
    ('text', 'line', 'column', 'reason'),
    [
        ('a: b: c', 1, 5, 'mapping values are not allowed here'),
        ('a: 1\n b: 2\n', 2, 3, 'mapping values are not allowed here'),
        ('a: [1, 2\nb: 3\n', 2, 2, 'sequence that begins in line 1'),
        ('a: {b: 1\n', 2, 1, 'got the end'),
        ('a: 1\nb: 2\na: 3\n', 3, 1, "the key 'a' is written twice"),
        ('b: 2\n[1]: 3\n', 2, 1, r'\[1\] is not a valid key'),
        ('x: 1\na: 2020-13-45\n', 2, 4, "'2020-13-45' cannot be read: month"),
        ('x: 1\na: \x01\n', 2, 4, r'the character U\+0001 may not be there'),
        ('x: !!python/name:os.system\n', 1, 4, 'could not determine a constructor'),
        ('a: !!bool maybe', 1, 4, "'maybe' cannot be read: it is not a valid bool"),
        ('a: !!int ""', 1, 4, "'' cannot be read: it is not a valid int"),
        ('a: !!timestamp soon', 1, 4, "'soon' cannot be read: it is not a valid timestamp"),
        ('!!map [1]', 1, 1, 'keys with values are expected here'),
        ('a: &a {b: *a}', 1, 11, r"'\*a' refers to itself"),
        ('&a [1, [*a]]', 1, 9, r"'\*a' refers to itself"),
        ('a: &a\n  <<: *a\n', 2, 7, r"'\*a' refers to itself"),
        pytest.param(9999 * '[', 1, 51, 'nested deeper than 50 levels', id='lists'),
        pytest.param(9999 * '{a: ', 1, 198, 'nested deeper than 50 levels', id='mappings'),
        pytest.param(9999 * '- ', 1, 101, 'nested deeper than 50 levels', id='blocks'),
        pytest.param(9999 * '? ', 1, 101, 'nested deeper than 50 levels', id='keys'),
        pytest.param('a: 1' + 5000 * '0', 1, 4, 'a number of 5001 characters', id='digits'),
        pytest.param('a: -' + 400 * '9', 1, 4, 'a number of 401 characters', id='beyond floats'),
        pytest.param('a: 0x' + 5000 * 'f', 1, 4, 'a number of 5002 characters', id='hex'),
        pytest.param('a: 1' + 90_000 * ':59', 1, 4, 'a number of 270001', id='base 60'),
        pytest.param('a: 0.' + 5000 * '1', 1, 4, 'a number of 5002 characters', id='float'),
        pytest.param('? 1' + 400 * '0', 1, 3, 'a number of 401 characters', id='key'),
        pytest.param('a: *' + 5000 * 'x', 1, 4, 'found undefined alias', id='long word'),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path, text, line, column, reason):
    path = tmp_path / 'own.yaml'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(ConfigurationError, match=reason) as caught:
        read_document(path)
    said = str(caught.value)
    assert said.startswith(f'{path}, line {line}, column {column}: ')
    assert '\n' not in said and '<' not in said.replace('<<', '')
    assert len(said) < len(str(path)) + 250


@pytest.mark.parametrize(
    ('content', 'reason'),
    [
        (b'a: \xff', 'byte 3: it is not UTF-8 text'),
        (b'a' * 2**21, 'larger than the limit of 1 MiB'),
    ],
    ids=['bytes', 'size'],
)
def test_what_has_no_line_is_named_all_the_same(tmp_path, content, reason):
    path = tmp_path / 'own.yaml'
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=reason) as caught:
        read_document(path)
    assert str(caught.value).startswith(str(path)) and '\n' not in str(caught.value)
    with pytest.raises(ConfigurationError, match='none.yaml: No such file'):
        read_document(tmp_path / 'none.yaml')


def test_what_is_right_is_read(tmp_path):
    path = tmp_path / 'own.yaml'
    path.write_text('a: [1, 2.5, x]\nb: {c: null, d: true}\n', encoding='utf-8')
    assert read_document(path).content == {'a': [1, 2.5, 'x'], 'b': {'c': None, 'd': True}}


@pytest.mark.parametrize(
    'text',
    [
        'a0: &a0 [0, 1]\n'
        + ''.join(f'a{i}: &a{i} [{", ".join(10 * [f"*a{i - 1}"])}]\n' for i in range(1, 20)),
        'a0: &a0 {x: 1}\n'
        + ''.join(f'a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n' for i in range(1, 40)),
        '[' + 60_000 * '0,' + '0]',
    ],
    ids=['aliases', 'merged', 'plain'],
)
def test_no_more_is_read_than_a_person_writes(tmp_path, text):
    path = tmp_path / 'own.yaml'
    path.write_text(text)
    with pytest.raises(ConfigurationError, match='more than 20000 values'):
        read_document(path)


def test_what_is_referred_to_is_read_again(tmp_path):
    path = tmp_path / 'own.yaml'
    path.write_text('a: &a {x: 1}\nb: [*a, *a]\n')
    assert read_document(path).content == {'a': {'x': 1}, 'b': 2 * [{'x': 1}]}


def test_a_merge_key_takes_over_the_keys_of_other_mappings(tmp_path):
    # https://yaml.org/type/merge.html: written keys come first, then earlier mappings of a list.
    path = tmp_path / 'own.yaml'
    path.write_text(
        'a: &a {x: 1, y: 2}\nb: &b {<<: *a, y: 3, z: 4}\nc: {z: 5, <<: [*a, *b]}\nd: {"<<": 1}\n'
    )
    document = read_document(path)
    assert document.content == {
        'a': {'x': 1, 'y': 2},
        'b': {'x': 1, 'y': 3, 'z': 4},
        'c': {'x': 1, 'y': 2, 'z': 5},
        'd': {'<<': 1},
    }
    assert document.position(('c', 'z')) == 'line 3, column 5'
    # The mapping that is merged is read after the one that takes it over.
    path.write_text('a: {b: &b {<<: {y: 1}, y: 3}}\nc: {<<: *b}\n')
    assert read_document(path).content == {'a': {'b': {'y': 3}}, 'c': {'y': 3}}
    path.write_text('a: &a {one: 1}\nb: &b {one: 2, two: 2}\nc: {<<: [*a, *b]}\n')
    assert read_document(path).content['c'] == {'one': 1, 'two': 2}
    path.write_text('a: {x: 1}\nb: {<<: 1}\n')
    with pytest.raises(ConfigurationError, match='line 2, column 9: keys with values'):
        read_document(path)
