"""Classes of characters, and kernels that read them straight from UTF-8 bytes."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bagpack.kernels import kernel

SPACE, SYMBOL, IDEOGRAPH, MARK, DIGIT, LETTER, UPPER = range(7)
"""The classes, in an order that makes everything from MARK on a part of words."""

_OF_CATEGORY = {
    "L": LETTER,
    "M": MARK,
    "N": DIGIT,
    "Z": SPACE,
    "Lu": UPPER,
    "Lt": UPPER,
    "Cc": SPACE,
    "Cf": MARK,
}

_IDEOGRAPHIC = (
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3040, 0x312F), (0x31A0, 0x31BF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D),
    (0x1B000, 0x1B16F),
)  # fmt: skip


@cache
def character_classes() -> NDArray[np.uint8]:
    """Return the class of each code point of planes 0 and 1; the few rules for the rest are in `read`."""
    categories = map(unicodedata.category, map(chr, range(0x20000)))
    classes = np.fromiter(map(_class_of, categories), dtype=np.uint8, count=0x20000)
    for low, high in _IDEOGRAPHIC:
        block = classes[low : high + 1]
        block[block >= DIGIT] = IDEOGRAPH
    classes[[0x200B, 0xFEFF]] = SPACE  # zero-width space and byte-order mark
    classes.flags.writeable = False
    return classes


def is_ideographic(text: str) -> bool:
    """Whether any of its characters is one that the tokenizer cuts off: an ideograph or kana."""
    return not text.isascii() and any(
        any(low <= point <= high for low, high in _IDEOGRAPHIC) or 0x20000 <= point < 0x40000
        for point in map(ord, text)
    )


@cache
def _class_of(category: str) -> int:
    return _OF_CATEGORY.get(category, _OF_CATEGORY.get(category[0], SYMBOL))


def byte_set(characters: str) -> NDArray[np.bool_]:
    """Return a table of whether each byte is one of these ASCII characters."""
    table = np.zeros(256, dtype=np.bool_)
    table[list(characters.encode("ascii"))] = True
    return table


@kernel
def read(data: NDArray[np.uint8], i: int, stop: int, classes: NDArray[np.uint8]) -> tuple[int, int]:
    """Return the class and the width in bytes of the character at i; a byte that is not UTF-8 is a symbol."""
    first = np.int64(data[i])
    if first < 0x80:
        return int(classes[first]), 1
    if first < 0xC2 or first > 0xF4:
        return SYMBOL, 1
    width = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if i + width > stop:
        return SYMBOL, 1
    point = first & (0x7F >> width)
    for k in range(1, width):
        following = np.int64(data[i + k])
        if following & 0xC0 != 0x80:
            return SYMBOL, 1
        point = point << 6 | following & 0x3F
    if point < 0x20000:
        return int(classes[point]), width
    if point < 0x40000:
        return IDEOGRAPH, width
    return MARK if 0xE0000 <= point < 0xE0200 else SYMBOL, width


@kernel
def lower(byte: int) -> int:
    """Lower-case an ASCII capital."""
    return byte | 0x20 if 65 <= byte <= 90 else byte


@kernel
def apostrophe(data: NDArray[np.uint8], i: int, stop: int) -> int:
    """Return the width of an apostrophe at i, straight or curly; 0 if there is none."""
    if data[i] == 0x27:
        return 1
    if i + 2 < stop and data[i] == 0xE2 and data[i + 1] == 0x80 and data[i + 2] == 0x99:
        return 3
    return 0
