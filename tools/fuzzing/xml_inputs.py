# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of XML: URDF, xacro and COLLADA, changed at every element and attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import copy
from functools import partial
from random import Random
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from fuzzing.attacks import attacks_on, read_valid
from fuzzing.inputs import ANY, NAMED, PIPE, REFUSED, Attack, Input, Site, single

_XACRO = 'http://www.ros.org/wiki/xacro'
_NAMES = frozenset('name type link joint filename id url source semantic params above'.split())
_SIZED = frozenset('mass sphere cylinder capsule box limit dynamics'.split())
_NOT_NUMBERS = ('nan', '1e300', '-1e300', '9' * 400, 'red', '0x1', '1,0')
_CODE_TAG = b"!!python/object/apply:builtins.open ['executed', 'w']\n"

_Edit = Callable[[Element, Element, Element, Random], Attack]
"""Change of a document, given with an element of it and the element's parent."""
_MakeInput = Callable[[Attack], Input]


def xml_sites() -> dict[str, dict[str, Site]]:
    """Return the changes of each kind of XML."""
    ElementTree.register_namespace('xacro', _XACRO)
    files: Mapping[str, bytes | str] = {'p.yaml': _CODE_TAG, 'pipe': PIPE}
    return {
        'URDF': _sites('URDF', 'pair.urdf', partial(_description, 'URDF', 'q.urdf', {})),
        'xacro': _sites(
            'xacro', 'pair.xacro', partial(_description, 'xacro', 'pair.xacro', files)
        ),
        'COLLADA': _sites('COLLADA', 'mesh.dae', partial(mesh_input, 'COLLADA', 'dae')),
    }


def _sites(kind: str, valid: str, make: _MakeInput) -> dict[str, Site]:
    """Return the changes of every element and attribute of a valid file."""
    text = read_valid(valid)
    root = ElementTree.fromstring(text)
    # Only of URDF every word has a known meaning.
    is_strict = kind == 'URDF'
    sites: dict[str, Site] = {}
    for number, element in enumerate(root.iter()):
        where = f'{number} {_tag(element)}'
        edits: list[_Edit] = [_misspell_tag, _remove, _repeat, _nest]
        if (element.text or '').strip():
            edits.append(_change_text)
        sites[where] = [partial(_edited, root, number, make, is_strict, edit) for edit in edits]
        for key in element.keys():
            sites[f'{where} {key}'] = [
                partial(_edited, root, number, make, is_strict, partial(edit, key))
                for edit in (_misspell_key, _change_value, _change_count, _change_sign)
            ]
    large = _large_descriptions(text) if is_strict else ()
    for attack in (*attacks_on(text, 'xml', kind), *large):
        sites[attack.change] = single(make(attack))
    return sites


def _large_descriptions(text: str) -> Iterator[Attack]:
    """Yield descriptions with long names, and with many links in a chain or on one body."""
    for length in (300, 1030, 2000, 100_000):
        for name in ('front', 'heel'):
            content = text.replace(name, name[0] * length).encode()
            yield Attack(change=f'a {name} of {length} characters', content=content, expected=ANY)
    root = ElementTree.fromstring(text)
    link, joint = root.findall('link')[1], root.findall('joint')[0]
    link.remove(link.findall('visual')[0])
    for old in [*joint.findall('parent'), *joint.findall('child')]:
        joint.remove(old)
    for is_chain, change in ((True, 'a chain of 1500 links'), (False, 'a fan of 1500 links')):
        robot = Element('robot', name='large')
        for i in range(1500):
            robot.append(copy.deepcopy(link))
            robot[-1].set('name', f'l{i}')
            if i:
                robot.append(copy.deepcopy(joint))
                robot[-1].set('name', f'j{i}')
                for end, number in (('parent', i - 1 if is_chain else 0), ('child', i)):
                    robot[-1].append(Element(end, link=f'l{number}'))
        yield Attack(change=change, content=ElementTree.tostring(robot), expected=ANY)


def _description(kind: str, file: str, files: Mapping[str, bytes | str], attack: Attack) -> Input:
    return Input(
        kind=kind,
        commands=description_commands(file),
        files={**files, file: attack.content},
        **{key: value for key, value in vars(attack).items() if key != 'content'},
    )


def mesh_input(kind: str, suffix: str, attack: Attack) -> Input:
    """Return a robot whose body has a mesh, with the mesh of an attack."""
    robot = read_valid('pair.urdf').replace(
        '<box size="0.3 0.2 0.1" />', f'<mesh filename="m.{suffix}" />'
    )
    made = _description(kind, f'm.{suffix}', {'q.urdf': robot.encode()}, attack)
    return Input(**{**vars(made), 'commands': description_commands('q.urdf')})


def description_commands(file: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands on a description."""
    walk = ('walk', f'./{file}', '--controller', 'hold', '--seconds', '0.04', '--json')
    return ('check', file), walk


def _edited(
    root: Element, number: int, make: _MakeInput, is_strict: bool, edit: _Edit, random: Random
) -> Input:
    """Return the input of a document with its element of a number edited."""
    document = copy.deepcopy(root)
    element = list(document.iter())[number]
    parent = next((each for each in document.iter() if element in list(each)), document)
    made = edit(document, element, parent, random)
    return make(
        Attack(
            change=made.change,
            content=ElementTree.tostring(document),
            expected=made.expected if is_strict else ANY,
            name=made.name,
        )
    )


def _misspell_tag(root: Element, element: Element, parent: Element, random: Random) -> Attack:
    tag = _tag(element)
    word = _misspell(tag, random)
    element.tag = element.tag.replace(tag, word)
    return _made(f'<{tag}> written <{word}>', NAMED, word)


def _remove(root: Element, element: Element, parent: Element, random: Random) -> Attack:
    if element is not root:
        parent.remove(element)
    return _made(f'no <{_tag(element)}> in <{_tag(parent)}>')


def _repeat(root: Element, element: Element, parent: Element, random: Random) -> Attack:
    parent.append(copy.deepcopy(element))
    return _made(f'<{_tag(element)}> twice')


def _nest(root: Element, element: Element, parent: Element, random: Random) -> Attack:
    other = copy.deepcopy(random.choice(list(root.iter())))
    element.append(other)
    return _made(f'<{_tag(other)}> in <{_tag(element)}>')


def _change_text(root: Element, element: Element, parent: Element, random: Random) -> Attack:
    words = (element.text or '').split()
    words[random.randrange(len(words))] = random.choice((*_NOT_NUMBERS, ''))
    element.text = ' '.join(words)
    return _made(f'<{_tag(element)}>{element.text[:40]}')


def _misspell_key(
    key: str, root: Element, element: Element, parent: Element, random: Random
) -> Attack:
    word = _misspell(key, random)
    element.set(word, element.attrib.pop(key))
    return _made(f'<{_tag(element)} {word}=', NAMED, word)


def _change_value(
    key: str, root: Element, element: Element, parent: Element, random: Random
) -> Attack:
    """Change an attribute: a name to another name, a number to a word that is none."""
    value = element.get(key, '')
    if key in _NAMES:
        new = random.choice([f'{value}x', '', 'x' * 2000, '../..', 'body', 'front', '\u202e'])
        is_wrong = new == f'{value}x' and key in ('link', 'joint', 'type', 'filename')
    else:
        words = value.split()
        words[random.randrange(len(words))] = random.choice(_NOT_NUMBERS)
        # A limit of a joint beyond every machine is an unknown one.
        new, is_wrong = ' '.join(words), not (_tag(element) == 'limit' and '1e300' in words[0])
    return _set(element, key, new, is_wrong)


def _change_count(
    key: str, root: Element, element: Element, parent: Element, random: Random
) -> Attack:
    value = element.get(key, '')
    new = random.choice([f'{value} {value}', value.rpartition(' ')[0]])
    return _set(element, key, new, key not in _NAMES)


def _change_sign(
    key: str, root: Element, element: Element, parent: Element, random: Random
) -> Attack:
    value = element.get(key, '')
    is_size = _tag(element) in _SIZED and key not in (*_NAMES, 'lower', 'upper')
    new = ' '.join(f'-{word.lstrip("-")}' for word in value.split())
    return _set(element, key, new, is_size and value != '0')


def _set(element: Element, key: str, value: str, is_wrong: bool) -> Attack:
    element.set(key, value)
    return _made(f'<{_tag(element)} {key}="{value[:60]}"', REFUSED if is_wrong else ANY)


def _made(change: str, expected: str = ANY, name: str = '') -> Attack:
    return Attack(change=change, content=b'', expected=expected, name=name)


def _tag(element: Element) -> str:
    return element.tag.rpartition('}')[2]


def _misspell(word: str, random: Random) -> str:
    """Return a word with a letter missing or doubled."""
    at = random.randrange(len(word))
    made = random.choice([word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]])
    return made if made and made != word and not made.isdigit() else f'{word}e'
