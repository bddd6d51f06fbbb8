# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check of the unpacked size of an MCAP file, before any of its chunks is unpacked."""

from __future__ import annotations

from collections.abc import Iterator
import struct

from gait_core.files.access import MEBIBYTE

MAX_UNPACKED_SIZE = 1024 * MEBIBYTE
"""Largest total size [bytes] of the unpacked chunks of a file."""

_MAGIC_SIZE = 8
_FOOTER, _CHUNK, _INDEX = 0x02, 0x06, 0x08


def check_chunks(content: bytes) -> None:
    """
    Raise ValueError if the chunks unpack to over ``MAX_UNPACKED_SIZE`` or state wrong sizes.

    The format of the records is that of https://mcap.dev/spec.
    """
    chunks: dict[int, tuple[int, int]] = {}
    starts, unpacked, summary = set(), 0, 0
    for start, kind, body in _records(content):
        starts.add(start)
        if kind == _CHUNK:
            chunks[start] = _chunk_sizes(body)
            unpacked += chunks[start][1]
        elif kind == _INDEX:
            (offset,) = struct.unpack_from('<Q', body, 16)
            # Each chunk may be indexed once: readers unpack a chunk for every index entry.
            if chunks.pop(offset, None) != struct.unpack('<QQ', body[-16:]):
                raise ValueError('its index names a chunk that does not exist')
        elif kind == _FOOTER:
            (summary,) = struct.unpack_from('<Q', body, 0)
        if unpacked > MAX_UNPACKED_SIZE:
            limit = MAX_UNPACKED_SIZE // MEBIBYTE
            raise ValueError(f'its messages are larger than the limit of {limit} MiB')
    if summary and summary not in starts:
        raise ValueError('its footer gives a wrong position of the summary')


def _records(content: bytes) -> Iterator[tuple[int, int, memoryview]]:
    """Yield the offset, the kind and the body of each record; ValueError if one is cut off."""
    view, start, end = memoryview(content), _MAGIC_SIZE, len(content) - _MAGIC_SIZE
    while start < end:
        if start + 9 > end:
            raise ValueError('it is cut off')
        kind, size = struct.unpack_from('<BQ', content, start)
        if start + 9 + size > end:
            raise ValueError('it is cut off')
        yield start, kind, view[start + 9 : start + 9 + size]
        start += 9 + size


def _chunk_sizes(body: memoryview) -> tuple[int, int]:
    """Return the packed and the unpacked size of a chunk."""
    try:
        unpacked, _, length = struct.unpack_from('<QII', body, 16)
        compression = bytes(body[32 : 32 + length])
        (packed,) = struct.unpack_from('<Q', body, 32 + length)
        data = bytes(body[40 + length : 40 + length + 18])
    except struct.error as error:
        raise ValueError('it is cut off') from error
    if compression not in (b'', b'zstd'):
        raise ValueError('its chunks are not compressed by zstd')
    if compression == b'zstd' and _zstd_content_size(data) != unpacked:
        raise ValueError('a chunk has another size than it states')
    return packed, unpacked


def _zstd_content_size(data: bytes) -> int:
    """Return the unpacked size in the header of a zstd frame (RFC 8878, 3.1.1.1); -1 if none."""
    if len(data) < 18 or data[:4] != b'\x28\xb5\x2f\xfd':
        return -1
    descriptor = data[4]
    single = bool(descriptor & 0x20)
    width = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    start = 5 + (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3]
    size = int.from_bytes(data[start : start + width], 'little')
    return size + 256 if width == 2 else size if width else -1
