"""Where native code finds the fields of MuJoCo's structures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import ctypes
from functools import cache
from typing import Any

from mujoco.introspect import ast_nodes, structs
import numpy as np

from gait_core.errors import ConfigurationError
from gait_core.scene import NOTHING

_SCALARS = {
    'int': ctypes.c_int,
    'float': ctypes.c_float,
    'mjtNum': ctypes.c_double,
    'mjtBool': ctypes.c_bool,
    'mjtByte': ctypes.c_ubyte,
    'mjtSize': ctypes.c_int64,
    'size_t': ctypes.c_size_t,
    'uintptr_t': ctypes.c_size_t,
    'uint64_t': ctypes.c_uint64,
}


def layout(
    struct: str, fields: Sequence[str], formats: Mapping[str, str] = NOTHING
) -> np.dtype[Any]:
    """
    Return a record of some fields of a structure at their places.

    A field is an integer, also where MuJoCo has a pointer, unless ``formats`` gives its format.

    Raises
    ------
    ConfigurationError
        If the installed MuJoCo describes its structure otherwise than this code knows.

    """
    try:
        made, _ = _structure(struct)
        places = [getattr(made, field) for field in fields]
    except (KeyError, AttributeError) as error:
        raise ConfigurationError(
            f'the installed MuJoCo has another {struct} than this engine knows: {error}'
        ) from None
    return np.dtype(
        {
            'names': list(fields),
            'formats': [
                formats.get(field, f'i{place.size}')
                for field, place in zip(fields, places, strict=True)
            ],
            'offsets': [place.offset for place in places],
            'itemsize': ctypes.sizeof(made),
        }
    )


@cache
def _structure(name: str) -> tuple[Any, bool]:
    """Return a structure up to the first field of a type that is not known; and if that is all."""
    fields = []
    described = structs.STRUCTS[name].fields
    for field in described:
        made = _type(getattr(field, 'type', None))
        if made is None:
            break
        fields.append((field.name, made))
    return type(name, (ctypes.Structure,), {'_fields_': fields}), len(fields) == len(described)


def _type(kind: Any) -> Any:
    if isinstance(kind, ast_nodes.PointerType):
        return ctypes.c_void_p
    if isinstance(kind, ast_nodes.ArrayType):
        made = _type(kind.inner_type)
        for extent in reversed(kind.extents):
            made = made and made * extent
        return made
    name = getattr(kind, 'name', '')
    if name in _SCALARS:
        return _SCALARS[name]
    made, whole = _structure(name) if name in structs.STRUCTS else (None, False)
    return made if whole else None


def structure(record: np.dtype[Any], held: Any) -> np.ndarray[Any, Any]:
    """
    Return MuJoCo's structure as an array of one record, for as long as its owner lives.

    Raises
    ------
    ConfigurationError
        If the record finds there other than MuJoCo's own interface says.

    """
    check_layout(record, held)
    raw: Any = (ctypes.c_char * record.itemsize).from_address(held._address)
    made: np.ndarray[Any, Any] = np.frombuffer(raw, dtype=record, count=1)
    return made


def check_layout(record: np.dtype[Any], held: Any) -> None:
    """
    Compare what a record finds in a structure with what MuJoCo's own interface says.

    Raises
    ------
    ConfigurationError
        If they differ.

    """
    raw = ctypes.string_at(held._address, record.itemsize)
    found = np.frombuffer(raw, dtype=record, count=1)[0]
    for field in record.names or ():
        known: Any = getattr(held, field)
        if isinstance(known, np.ndarray):
            # An array of nothing has no address.
            known = known.ctypes.data if known.size else found[field]
        if isinstance(known, (int, np.integer)) and int(found[field]) != int(known):
            raise ConfigurationError(
                f"the installed MuJoCo keeps '{field}' elsewhere than it describes; "
                'install the version that requirements.txt names'
            )
