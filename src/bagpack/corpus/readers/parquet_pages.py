"""The pages of a Parquet column, from the headers in front of them.

A page is uncompressed whole, so its size bounds the memory. What the footer says about sizes and rows may be wrong; the
header of a page is what a reader allocates by. Headers are Thrift structs in the compact protocol, of which only two
numbers are needed.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

PLAIN_SIZE, PACKED_SIZE = 2, 3  # fields of a page header
STOP, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
MAX_DEPTH = 16


def page_sizes(path: str, column: Any) -> Iterator[int]:
    """Uncompressed size of each page of a column of a row group; ValueError where its headers are damaged."""
    at = column.data_page_offset
    if column.has_dictionary_page and 0 < (column.dictionary_page_offset or 0) < at:
        at = column.dictionary_page_offset
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = min(at + column.total_compressed_size, len(data))
        if at < 0:
            raise ValueError(f"the column begins at byte {at}")
        while at < end:
            try:
                header, at = _struct(data, at)
            except IndexError:
                raise ValueError("a page header is cut off") from None
            if PLAIN_SIZE not in header or header.get(PACKED_SIZE, -1) < 0:
                raise ValueError(f"the page header before byte {at} has no sizes")
            yield header[PLAIN_SIZE]
            at += header[PACKED_SIZE]


def _struct(data: mmap.mmap, at: int, depth: int = 0) -> tuple[dict[int, int], int]:
    """The integer fields of the struct at a position, and where it ends."""
    if depth > MAX_DEPTH:
        raise ValueError("a page header is nested too deeply")
    values: dict[int, int] = {}
    field = 0
    while (first := data[at]) != STOP:
        at += 1
        kind = first & 15
        if first >> 4:
            field += first >> 4
        else:
            field, at = _signed(data, at)
        if kind in INTEGERS:
            values[field], at = _signed(data, at)
        elif kind > 2:  # 1 and 2 are true and false, without a value
            at = _skip(data, at, kind, depth)
    return values, at + 1


def _skip(data: mmap.mmap, at: int, kind: int, depth: int) -> int:
    """Where a value of a kind ends."""
    if kind in INTEGERS:
        return _unsigned(data, at)[1]
    if kind <= BYTE:
        return at + 1
    if kind == DOUBLE:
        return at + 8
    if kind == BINARY:
        length, at = _unsigned(data, at)
        return at + length
    if kind == STRUCT:
        return _struct(data, at, depth + 1)[1]
    if kind not in (LIST, SET, MAP):
        raise ValueError(f"a page header has a value of the unknown kind {kind}")
    kinds: tuple[int, ...]
    if kind == MAP:
        count, at = _unsigned(data, at)
        kinds = (data[at] >> 4, data[at] & 15) if count else ()
        at += bool(count)
    else:
        count, kinds = data[at] >> 4, (data[at] & 15,)
        at += 1
        if count == 15:
            count, at = _unsigned(data, at)
    for _ in range(count):
        for inner in kinds:
            at = _skip(data, at, inner, depth + 1)
        if at >= len(data):
            raise ValueError("a page header is cut off")
    return at


def _unsigned(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("a page header has a number of more than 64 bits")


def _signed(data: mmap.mmap, at: int) -> tuple[int, int]:
    value, at = _unsigned(data, at)
    return value >> 1 ^ -(value & 1), at
