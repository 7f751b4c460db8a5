"""Kernels that find where clitics, abbreviations and addresses begin and end."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.text.characters import SPACE, SYMBOL, apostrophe, byte_set, lower, read
from bagpack.corpus.text.languages import language
from bagpack.kernels import kernel, lower_bound


def packed(words: str) -> NDArray[np.int64]:
    """Pack words of up to seven bytes into one number each, sorted for a binary search."""
    numbers = np.array(sorted(int.from_bytes(word.encode(), "big") for word in words.split()), np.int64)
    numbers.flags.writeable = False  # like constants of numba, so that one compiled kernel serves all lists
    return numbers


@cache
def abbreviations(lang: str) -> NDArray[np.int64]:
    """The abbreviations of a language, for `is_listed`."""
    found = language(lang)
    return packed(f"{found.abbreviations} {found.titles}")


CLITICS = packed("s m d re ve ll em")  # behind the apostrophe, n't aside
_N, _T, _C = ord("n"), ord("t"), ord("c")
# French pronouns behind a verb (vas-tu, donne-moi), and a noun that looks like it (rendez-vous).
_PRONOUNS = packed("je tu il elle on nous vous ils elles ce moi toi lui leur le la les y en")
_NO_VERBS = packed("rendez")
# What an apostrophe does not divide: aujourd'hui, prud'homme, quelqu'un, presqu'île, entr'ouvert, grand'mère.
_UNDIVIDED = packed("aujourd prud quelqu presqu entr grand")
_THAT_IS = np.frombuffer("est-à-dire".encode(), np.uint8)

_OPEN, _CLOSE, _PERIOD, _HYPHEN = (ord(character) for character in "().-")
_NEVER_IN_URL = byte_set('"<>')
_MAY_END_URL = byte_set("/#&=%+~$_-")
_ALPHANUMERIC = byte_set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


@kernel
def is_listed(data: NDArray[np.uint8], start: int, stop: int, words: NDArray[np.int64]) -> bool:
    """Whether the bytes, lower-cased, are one of the packed words."""
    if stop - start > 7 or stop == start:
        return False
    packed = np.int64(0)
    for i in range(start, stop):
        packed = packed << 8 | lower(data[i])
    found = lower_bound(words, np.int64(0), len(words), packed)
    return bool(found < len(words) and words[found] == packed)


@kernel
def clitic_start(data: NDArray[np.uint8], start: int, stop: int) -> int:
    """Return where the English clitic that ends a word begins; ``stop`` if there is none."""
    for letters in range(1, 3):
        tail = stop - letters
        for width in (1, 3):
            at = tail - width
            if at > start and apostrophe(data, at, tail) == width:
                if is_listed(data, tail, stop, CLITICS):
                    return at
                if letters == 1 and lower(data[tail]) == _T and at - 1 > start and lower(data[at - 1]) == _N:
                    return at - 1
    return stop


@kernel
def pronoun_start(data: NDArray[np.uint8], start: int, stop: int) -> int:
    """Return where the pronoun behind a French verb begins (vas|-tu, demanda|-t-elle); ``stop`` if there is none."""
    for letters in range(1, 6):
        at = stop - letters - 1
        if at <= start:
            break
        if data[at] == _HYPHEN:
            if not is_listed(data, at + 1, stop, _PRONOUNS) or is_listed(data, start, at, _NO_VERBS):
                break
            if at - 2 > start and data[at - 2] == _HYPHEN and lower(data[at - 1]) == _T:
                return at - 2
            return at
    return stop


@kernel
def undivided_stop(data: NDArray[np.uint8], start: int, apostrophe_at: int, width: int, stop: int) -> int:
    """The least end of a French word that continues after its apostrophe (c'est-à-dire), or -1."""
    after = apostrophe_at + width
    if is_listed(data, start, apostrophe_at, _UNDIVIDED):
        return after
    if apostrophe_at - start == 1 and lower(data[start]) == _C and after + _THAT_IS.size <= stop:
        for k in range(_THAT_IS.size):
            if data[after + k] != _THAT_IS[k]:
                return -1
        return after + _THAT_IS.size
    return -1


@kernel
def url_stop(data: NDArray[np.uint8], start: int, stop: int, classes: NDArray[np.uint8]) -> int:
    """Return where an address ends whose scheme or ``www.`` ends at start: less final punctuation."""
    i = start
    brackets = 0
    while i < stop and not _NEVER_IN_URL[data[i]]:
        kind, width = read(data, i, stop, classes)
        if kind == SPACE or (kind == SYMBOL and data[i] >= 0x80):
            break
        if data[i] == _OPEN:
            brackets += 1
        i += width
    while i > start:
        last = data[i - 1]
        if last >= 0x80 or classes[last] != SYMBOL or _MAY_END_URL[last] or (last == _CLOSE and brackets > 0):
            break
        i -= 1
    return i


@kernel
def domain_stop(data: NDArray[np.uint8], start: int, stop: int) -> int:
    """Return where the domain name at start ends; start if there is none with a period in it."""
    i = start
    dotted = False
    while i < stop:
        byte = data[i]
        if not _ALPHANUMERIC[byte]:
            inner = i > start and i + 1 < stop and _ALPHANUMERIC[data[i - 1]] and _ALPHANUMERIC[data[i + 1]]
            if not inner or not _HYPHEN <= byte <= _PERIOD:  # they are neighbours
                break
            dotted = dotted or byte == _PERIOD
        i += 1
    return i if dotted else start
