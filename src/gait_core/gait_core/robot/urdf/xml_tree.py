# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""XML elements with their lines, parsed within limits of depth and count."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

MAX_DEPTH = 100
"""Largest depth of nested elements."""

MAX_ELEMENTS = 200_000
"""Largest number of elements in a file."""


class XmlElement(ElementTree.Element):
    """Element with the line of its start tag in the file; 0 if the line is not known."""

    line = 0


def parse_xml(content: bytes | str) -> XmlElement:
    """
    Return the root element of an XML document.

    Raises
    ------
    ValueError
        If the document is not well-formed, declares entities, or exceeds a limit.

    """
    builder = ElementTree.TreeBuilder(element_factory=XmlElement)
    depth = count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        """Add an element with the present line of the parser."""
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > MAX_DEPTH:
            raise ValueError(f'its elements are nested deeper than {MAX_DEPTH}')
        if count > MAX_ELEMENTS:
            raise ValueError(f'it has more than {MAX_ELEMENTS} elements')
        named = {_qualify(name): value for name, value in attributes.items()}
        element: Any = builder.start(_qualify(tag), named)
        element.line = parser.CurrentLineNumber

    def end(tag: str) -> None:
        """Close the innermost element."""
        nonlocal depth
        depth -= 1
        builder.end(_qualify(tag))

    def declare_entity(*declaration: object) -> None:
        """Refuse entities: nested ones expand without bound, external ones name other files."""
        raise ValueError(f"it declares the entity '{declaration[0]}', which is not read")

    parser = expat.ParserCreate(namespace_separator='}')
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = declare_entity
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError) as error:
        # An encoding that does not exist raises LookupError.
        raise ValueError(f'not well-formed XML: {error}') from error
    root: Any = builder.close()
    return root  # type: ignore[no-any-return]


def _qualify(name: str) -> str:
    """Return a name with its namespace as ElementTree writes it: ``{namespace}name``."""
    return '{' + name if '}' in name else name
