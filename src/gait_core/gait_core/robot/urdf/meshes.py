# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mesh files: resolution of references in descriptions, vertices and convex hulls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
import struct
from urllib.parse import unquote, urlparse
from xml.etree.ElementTree import Element

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError, excerpt
from gait_core.files.access import read_bytes
from gait_core.robot.find import find_package, missing_package
from gait_core.robot.urdf.xml_tree import parse_xml
from gait_core.trial.scene import EMPTY_MAPPING

_DAE_NUMBERS = {'matrix': 16, 'translate': 3, 'rotate': 4, 'scale': 3}
_MAX_DEPTH, _MAX_NODES, _MAX_VERTICES = 50, 20_000, 5_000_000
"""Limits of the scene of a Collada file."""
# A mesh whose volume is smaller than the second number times its extent cubed counts as a sheet,
# which gets a thickness of the first number times the extent.
_THICKNESS_RATIO, _MIN_VOLUME_RATIO = 1e-3, 1e-9

MAX_COORDINATE = 1e9
"""Largest coordinate of a vertex, in the units of the file, and largest number of a transform."""


def resolve_mesh(
    reference: str,
    source: Path,
    packages: Mapping[str, str | Path] = EMPTY_MAPPING,
) -> str:
    """
    Return the absolute path of a mesh file, or raise ConfigurationError naming it.

    Parameters
    ----------
    reference : str
        A path relative to the description, an absolute path, ``package://NAME/...``,
        ``model://NAME/...`` or ``file://...``.
    source : Path
        Description that refers to the mesh.
    packages : mapping of str to path
        Folders of packages given by the user.

    """
    try:
        path = _mesh_path(reference, source, packages)
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(
            f"{source}: mesh file '{excerpt(reference)}' is not a valid path: {error}"
        ) from error
    if path.is_dir():
        raise ConfigurationError(f"{source}: mesh file '{reference}' is a folder ({path})")
    if not path.is_file():
        hint = "; write '/' between its folders, not '\\'" if '\\' in reference else ''
        raise ConfigurationError(
            f"{source}: mesh file '{reference}' does not exist ({path}){hint}"
        )
    return str(path.resolve())


def _mesh_path(reference: str, source: Path, packages: Mapping[str, str | Path]) -> Path:
    scheme, _, rest = reference.partition('://')
    if scheme in ('package', 'model') and rest:
        return _path_in_package(reference, rest, source, packages)
    if scheme == 'file' and rest:
        return Path(unquote(urlparse(reference).path))
    if '://' in reference:
        raise ConfigurationError(
            f"{source}: mesh file '{excerpt(reference)}': '{excerpt(scheme)}' is not read; valid: "
            'package://NAME/..., model://NAME/..., file:///..., or a path'
        )
    return source.parent / reference


def _path_in_package(
    reference: str,
    rest: str,
    source: Path,
    packages: Mapping[str, str | Path],
) -> Path:
    """Return the path of a ``package://`` or ``model://`` reference."""
    package, _, inner = rest.partition('/')
    folder = find_package(package, source, packages)
    if folder is None:
        raise ConfigurationError(f"{source}: mesh file '{reference}': {missing_package(package)}")
    return folder / inner


@cache
def mesh_vertices(file: str) -> FloatArray:
    """
    Return the vertices of a .obj, .stl or .dae file in its own units, (v, 3), read-only.

    Raises
    ------
    ConfigurationError
        For another format, or a file without vertices.

    """
    readers = {'.obj': _obj_vertices, '.stl': _stl_vertices, '.dae': _dae_vertices}
    reader = readers.get(Path(file).suffix.lower())
    if reader is None:
        raise ConfigurationError(
            f"mesh file '{file}' has a format that cannot be read; valid: {', '.join(readers)}"
        )
    try:
        content = read_bytes(file)
    except ConfigurationError as error:
        raise ConfigurationError(f"mesh file '{file}' cannot be read: {error}") from error
    try:
        # Products of transforms may overflow; the check below reports them.
        with np.errstate(over='ignore', invalid='ignore'):
            positions = reader(content)
    except (LookupError, ValueError) as error:
        raise ConfigurationError(f"mesh file '{file}' cannot be read: {error}") from error
    if not len(positions) or not np.all(np.isfinite(positions)):
        raise ConfigurationError(f"mesh file '{file}' holds no finite vertices")
    if np.abs(positions).max() > MAX_COORDINATE:
        raise ConfigurationError(
            f"mesh file '{file}' has a coordinate beyond the limit of {MAX_COORDINATE:g}"
        )
    vertices = np.unique(positions, axis=0)
    vertices.flags.writeable = False
    return vertices


def _obj_vertices(content: bytes) -> FloatArray:
    return _read_rows(content, b'v')


def _read_rows(content: bytes, keyword: bytes) -> FloatArray:
    """Return the three numbers after a keyword at the start of lines, (v, 3); else ValueError."""
    rows = []
    for number, line in enumerate(content.splitlines(), start=1):
        words = line.split()
        if words and words[0] == keyword:
            try:
                x, y, z = map(float, words[1:4])
            except ValueError as error:
                shown = excerpt(line.decode(errors='replace').strip())
                raise ValueError(f"line {number} is '{shown}', expected 3 numbers") from error
            rows.append((x, y, z))
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _stl_vertices(content: bytes) -> FloatArray:
    """Return the vertices of a binary or text STL file, (v, 3), with repetitions."""
    count = struct.unpack_from('<I', content, 80)[0] if len(content) >= 84 else -1
    # Some binary files begin with "solid" too: only the length distinguishes them from text.
    if len(content) != 84 + 50 * count:
        vertices = _read_rows(content, b'vertex')
        if not len(vertices) and count >= 0:
            raise ValueError(
                f'it has {len(content)} bytes and no line "vertex ..."; a binary STL of {count} '
                f'facets has {84 + 50 * count}'
            )
        return vertices
    record = np.dtype([('numbers', '<f4', (12,)), ('attribute', '<u2')])
    facets = np.frombuffer(content, dtype=record, count=count, offset=84)
    return np.asarray(facets['numbers'][:, 3:], dtype=np.float64).reshape(-1, 3)


def _dae_vertices(content: bytes) -> FloatArray:
    """
    Return the vertices of the scene of a Collada file, in metres and z up, (v, 3).

    Without a scene, all geometries are taken as they are.
    """
    root = parse_xml(content)
    space = root.tag.partition('}')[0] + '}' if root.tag.startswith('{') else ''
    unit = root.find(f'{space}asset/{space}unit')
    scale = float(unit.get('meter', '1')) if unit is not None else 1.0
    if not 0.0 < scale <= MAX_COORDINATE:
        raise ValueError(f'its unit is {scale:g} m, expected more than 0')
    shapes = {
        geometry.get('id', ''): _dae_positions(geometry, space)
        for geometry in root.iter(f'{space}geometry')
    }
    nodes = {node.get('id', ''): node for node in root.iter(f'{space}node')}
    scene = _DaeScene(space, shapes, nodes)
    for shown in root.iter(f'{space}visual_scene'):
        for node in shown.findall(f'{space}node'):
            scene.add_node(node, np.eye(4))
    vertices = scale * np.concatenate([*(scene.placed or shapes.values()), np.zeros((0, 3))])
    if root.findtext(f'{space}asset/{space}up_axis') == 'Y_UP':
        # A turn by 90 degrees about x: (x, y, z) becomes (x, -z, y).
        vertices = vertices[:, [0, 2, 1]] * np.array([1.0, -1.0, 1.0])
    return vertices


def _dae_positions(geometry: Element, space: str) -> FloatArray:
    """Return the positions of the vertices of a geometry, (v, 3)."""
    source_ids = {
        entry.get('source', '').lstrip('#')
        for vertices in geometry.iter(f'{space}vertices')
        for entry in vertices
        if entry.get('semantic') == 'POSITION'
    }
    arrays = [
        np.array((numbers.text or '').split(), dtype=np.float64)
        for source in geometry.iter(f'{space}source')
        if source.get('id') in source_ids
        and (numbers := source.find(f'{space}float_array')) is not None
    ]
    return np.concatenate([*arrays, np.zeros(0)]).reshape(-1, 3)


class _DaeScene:
    """
    Vertices of the geometries of a Collada scene, in ``placed``, (v, 3) each.

    Nodes may instantiate other nodes, so that a short file could expand without end: depth and
    counts are limited.
    """

    def __init__(
        self,
        space: str,
        shapes: Mapping[str, FloatArray],
        nodes: Mapping[str, Element],
    ) -> None:
        self._space, self._shapes, self._nodes = space, shapes, nodes
        self._visited = self._vertices = 0
        self.placed: list[FloatArray] = []

    def add_node(self, node: Element, outer: FloatArray, depth: int = 0) -> None:
        """Add the geometries of a node and its children; ValueError beyond a limit."""
        self._visited += 1
        if depth > _MAX_DEPTH or self._visited > _MAX_NODES:
            raise ValueError(
                f'its scene has more than {_MAX_NODES} nodes or nests them deeper than '
                f'{_MAX_DEPTH}'
            )
        frame = outer
        for entry in node:
            tag, name = entry.tag.removeprefix(self._space), entry.get('url', '').lstrip('#')
            if tag in _DAE_NUMBERS:
                # Transforms of a node are applied in the order of their elements.
                frame = frame @ _dae_transform(tag, (entry.text or '').split())
            elif tag == 'node':
                self.add_node(entry, frame, depth + 1)
            elif tag == 'instance_node' and name in self._nodes:
                self.add_node(self._nodes[name], frame, depth + 1)
            elif tag == 'instance_geometry' and name in self._shapes:
                self._add_vertices(self._shapes[name] @ frame[:3, :3].T + frame[:3, 3])

    def _add_vertices(self, vertices: FloatArray) -> None:
        self._vertices += len(vertices)
        if self._vertices > _MAX_VERTICES:
            raise ValueError(f'its scene has more than {_MAX_VERTICES} vertices')
        self.placed.append(vertices)


def _dae_transform(tag: str, words: list[str]) -> FloatArray:
    """Return the (4, 4) transform of a matrix, translate, rotate (degrees) or scale element."""
    numbers = np.array(words, dtype=np.float64)
    if len(numbers) != _DAE_NUMBERS[tag]:
        raise ValueError(f'{tag} has {len(numbers)} values, expected {_DAE_NUMBERS[tag]}')
    # Nested transforms multiply: numbers beyond this would soon overflow.
    if not np.all(np.abs(numbers) <= MAX_COORDINATE):
        raise ValueError(f'{tag} has a value beyond the limit of {MAX_COORDINATE:g}')
    if tag == 'matrix':
        return np.asarray(numbers.reshape(4, 4))
    frame = np.eye(4)
    if tag == 'translate':
        frame[:3, 3] = numbers
    elif tag == 'scale':
        frame[:3, :3] = np.diag(numbers)
    else:
        length = np.linalg.norm(numbers[:3])
        if not length > 0.0:
            raise ValueError('rotate has an axis of length zero')
        rotation_vector = np.deg2rad(numbers[3]) * numbers[:3] / length
        frame[:3, :3] = Rotation.from_rotvec(rotation_vector).as_matrix()
    return frame


@cache
def mesh_hull(file: str) -> tuple[FloatArray, IntArray]:
    """
    Return the convex hull of a mesh: vertices (v, 3) in the units of the file, faces (f, 3).

    A sheet or a line, which engines of rigid bodies refuse, gets a thickness of a thousandth of
    its extent. ConfigurationError if all vertices of the mesh are one point.
    """
    vertices = mesh_vertices(file)
    extent = float(np.ptp(vertices, axis=0).max())
    if not extent > 0.0:
        raise ConfigurationError(f"mesh file '{file}' has no volume; it cannot collide")
    try:
        hull = ConvexHull(vertices)
    except QhullError:
        hull = None
    if hull is None or hull.volume < _MIN_VOLUME_RATIO * extent**3:
        vertices = _thicken(vertices, _THICKNESS_RATIO * extent)
        hull = ConvexHull(vertices)
    row = np.full(len(vertices), -1, dtype=np.int64)
    row[hull.vertices] = np.arange(len(hull.vertices))
    return vertices[hull.vertices], row[hull.simplices]


def _thicken(vertices: FloatArray, thickness: float) -> FloatArray:
    """Return vertices on both sides of a sheet, or around a line, a thickness apart."""
    centred = vertices - vertices.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    for axis, span in zip(axes.T, np.ptp(centred @ axes, axis=0), strict=True):
        if span < thickness:
            offset = 0.5 * thickness * axis
            vertices = np.concatenate([vertices - offset, vertices + offset])
    return vertices
