"""Tokens of raw text: one pass of a numba kernel over UTF-8 bytes.

The rules, close to those of the Penn Treebank and of TreeTagger:

- White space and control characters separate tokens and are in none. No token crosses a sentence end.
- A word is a run of letters, marks, digits and numbers. It may hold single joiners between two of them:
  hyphens, apostrophes and underscores anywhere (``mother-in-law``, ``o'clock``); ``. , : /`` between digits
  (``1,000.50``, ``12:30``, ``1/2``); ``&`` between capitals (``AT&T``); a period between letters
  (``e.g``, ``example.com``), unless a capital follows three letters or more (``end.Next`` is three tokens).
- A period after a word belongs to it when the word is made of pieces of one or two letters with periods
  between (``U.S.``, ``Ph.D.``), when it is a single letter and not the last word of its sentence
  (``J. Smith``), or when it is on the language's list of abbreviations (``Mr.``, ``etc.``).
- English clitics are split off: ``'s 'm 'd 're 've 'll 'em n't`` (``lion|'s``, ``do|n't``, ``I|'d|'ve``),
  at most two, with either apostrophe; ``cannot`` stays. On their own they are one token.
- French, Italian, Catalan and Occitan elisions are split off: ``l'|eau``, ``dell'|acqua``; in French not from
  ``aujourd'hui``, ``quelqu'un`` or ``c'est-à-dire``, but pronouns behind a verb are: ``vas|-tu``, ``dit|-elle``,
  ``demanda|-t-elle``.
- What begins with ``letters://`` or ``www.`` is one token up to white space, a quotation mark, an angle
  bracket or a symbol beyond ASCII, less the punctuation at its end; so is an e-mail address.
- Ideographs and kana are one token each. (Thai, Lao, Khmer and Burmese are cut where they have spaces.)
- Any other character is a token, with the marks after it; a run of one and the same of
  ``. - * = _ ~ # + ! ? '`` or the backquote, ``–``, ``—``, ``…`` is one token.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np

from bagpack.arrays import I64, U8, Bools
from bagpack.corpus.text.languages import ELIDING, ENGLISH, FRENCH, STYLES, language
from bagpack.kernels import kernel, lower_bound, read_only

# The classes, in an order that makes everything from MARK on a part of words.
SPACE, SYMBOL, IDEOGRAPH, MARK, DIGIT, LETTER, UPPER = range(7)

_OF_CATEGORY = {
    "L": LETTER, "M": MARK, "N": DIGIT, "Z": SPACE, "Lu": UPPER, "Lt": UPPER, "Cc": SPACE, "Cf": MARK,
}  # fmt: skip
_IDEOGRAPHIC = (
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3040, 0x312F), (0x31A0, 0x31BF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D),
    (0x1B000, 0x1B16F),
)  # fmt: skip


@cache
def character_classes() -> U8:
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
    ranges = (*_IDEOGRAPHIC, (0x20000, 0x3FFFF))
    return not text.isascii() and any(low <= ord(c) <= high for c in text for low, high in ranges)


@cache
def _class_of(category: str) -> int:
    return _OF_CATEGORY.get(category, _OF_CATEGORY.get(category[0], SYMBOL))


def byte_set(characters: str) -> Bools:
    table = np.zeros(256, dtype=np.bool_)
    table[list(characters.encode("ascii"))] = True
    return table


@kernel
def read(data: U8, i: int, stop: int, classes: U8) -> tuple[int, int]:
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
    return byte | 0x20 if 65 <= byte <= 90 else byte


@kernel
def apostrophe(data: U8, i: int, stop: int) -> int:
    """Return the width of an apostrophe at i, straight or curly; 0 if there is none."""
    if data[i] == 0x27:
        return 1
    if i + 2 < stop and data[i] == 0xE2 and data[i + 1] == 0x80 and data[i + 2] == 0x99:
        return 3
    return 0


def packed(words: str) -> I64:
    """Pack words of up to seven bytes into one number each, sorted for a binary search."""
    numbers = np.array(sorted(int.from_bytes(word.encode(), "big") for word in words.split()), np.int64)
    numbers.flags.writeable = False  # like constants of numba, so that one compiled kernel serves all lists
    return numbers


@cache
def abbreviations(lang: str) -> I64:
    found = language(lang)
    return packed(f"{found.abbreviations} {found.titles}")


CLITICS = packed("s m d re ve ll em")  # behind the apostrophe, n't aside
_N, _T, _C, _OPEN, _CLOSE, _PERIOD, _HYPHEN, _COLON, _SLASH, _AT, _AND = map(ord, "ntc().-:/@&")
# French pronouns behind a verb (vas-tu, donne-moi), and a noun that looks like it (rendez-vous).
_PRONOUNS = packed("je tu il elle on nous vous ils elles ce moi toi lui leur le la les y en")
_NO_VERBS = packed("rendez")
# What an apostrophe does not divide: aujourd'hui, prud'homme, quelqu'un, presqu'île, entr'ouvert, grand'mère.
_UNDIVIDED = packed("aujourd prud quelqu presqu entr grand")
_THAT_IS = np.frombuffer("est-à-dire".encode(), np.uint8)
_WWW = packed("www")

_NEVER_IN_URL = byte_set('"<>')
_MAY_END_URL = byte_set("/#&=%+~$_-")
_ALPHANUMERIC = byte_set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


@kernel
def is_listed(data: U8, start: int, stop: int, words: I64) -> bool:
    """Whether the bytes, lower-cased, are one of the packed words."""
    if stop - start > 7 or stop == start:
        return False
    packed = np.int64(0)
    for i in range(start, stop):
        packed = packed << 8 | lower(data[i])
    found = lower_bound(words, np.int64(0), len(words), packed)
    return bool(found < len(words) and words[found] == packed)


@kernel
def clitic_start(data: U8, start: int, stop: int) -> int:
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
def pronoun_start(data: U8, start: int, stop: int) -> int:
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
def undivided_stop(data: U8, start: int, apostrophe_at: int, width: int, stop: int) -> int:
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
def url_stop(data: U8, start: int, stop: int, classes: U8) -> int:
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
def domain_stop(data: U8, start: int, stop: int) -> int:
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


NO_SPACE_BEFORE, OPENS_SENTENCE = 1, 2  # flags: no white space before the token; the first of its sentence


_JOINS_ALL = byte_set("-'_")
_JOINS_DIGITS = byte_set(".,:/")
_REPEATS = byte_set(".-*=_~#+!?'`")


class Tokens(NamedTuple):
    starts: I64
    stops: I64
    flags: U8

    @classmethod
    def empty(cls, size: int) -> Tokens:
        """Arrays to be filled. Pages of an empty array that no token reaches are never touched."""
        return cls(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint8))


def tokenize(data: bytes | U8, sentence_ends: I64, lang: str, space: Tokens | None = None) -> Tokens:
    """Split UTF-8 text into tokens; bytes that are not UTF-8 count as symbols.

    `sentence_ends` are ascending byte offsets, which no token crosses; text after the last is one more sentence.
    `space` are arrays to be filled, each at least as long as the data.

    >>> text = b"The lion's share, e.g. 1,000."
    >>> tokens = tokenize(text, np.array([len(text)]), "en")
    >>> [text[a:b].decode() for a, b in zip(tokens.starts, tokens.stops)]
    ['The', 'lion', "'s", 'share', ',', 'e.g.', '1,000', '.']
    """
    array = np.frombuffer(data, dtype=np.uint8) if isinstance(data, bytes) else data
    space = Tokens.empty(len(array)) if space is None else space
    if min(len(own) for own in space) < len(array):  # a token has at least a byte
        raise ValueError(f"the output arrays must hold {len(array)} tokens, one per byte of text")
    ends = read_only(np.asarray(sentence_ends, dtype=np.int64))
    rules = (character_classes(), abbreviations(lang), STYLES.index(language(lang).style))
    count = _tokenize(read_only(array), ends, *rules, *space)
    return Tokens(space.starts[:count], space.stops[:count], space.flags[:count])


def split_word(word: str, lang: str) -> list[str]:
    """The tokens that a word is split into within a text.

    >>> split_word("lion's", "en")
    ['lion', "'s"]
    """
    data = word.encode()
    spans = tokenize(data, np.array([len(data)]), lang)
    return [data[a:b].decode() for a, b in zip(spans.starts, spans.stops, strict=True)]


@kernel
def _tokenize(data, sentence_ends, classes, abbreviations, style, starts, stops, flags):  # type: ignore[no-untyped-def]
    count = 0
    i = np.int64(0)  # for a plain 0, every kernel that is called would be compiled a second time
    glued = 0
    for sentence in range(len(sentence_ends) + 1):
        stop = len(data)
        if sentence < len(sentence_ends):
            stop = sentence_ends[sentence] if sentence_ends[sentence] < stop else stop
        opening = OPENS_SENTENCE
        while i < stop:
            kind, width = read(data, i, stop, classes)
            if kind == SPACE:
                i += width
                glued = 0
                continue
            start = i
            divisible = False
            if kind >= MARK:
                i, divisible = _word(data, start, stop, classes, abbreviations, style)
            else:
                i = _symbol(data, start, start + width, stop, classes, style)
            # At most two clitics: I'd've.
            last = i
            if style == FRENCH:
                last = pronoun_start(data, start, i)
            elif divisible and style == ENGLISH:
                last = clitic_start(data, start, i)
            first = last
            if last < i and style == ENGLISH:
                first = clitic_start(data, start, last)
            for end in (first, last, i):
                if end > start:
                    starts[count] = start
                    stops[count] = end
                    flags[count] = glued | opening
                    count += 1
                    start = end
                    opening = 0
                    glued = NO_SPACE_BEFORE
    return count


@kernel
def _word(data, start, stop, classes, abbreviations, style):  # type: ignore[no-untyped-def]
    """Return where the word at start ends, and whether it holds an apostrophe that may divide it."""
    i = start
    before = np.int64(LETTER)
    only_letters = True
    initials = True  # letters and periods only, never more than two letters together
    divisible = False
    periods = piece = np.int64(0)
    while i < stop:
        kind, width = read(data, i, stop, classes)
        if kind >= DIGIT:
            piece += 1
            before = kind
            if kind == DIGIT:
                only_letters = False
            i += width
            continue
        if kind == MARK:
            i += width
            continue
        initials = bool(initials and piece <= 2)
        if kind <= SPACE or kind == IDEOGRAPH or i + width >= stop:
            break
        after, _ = read(data, i + width, stop, classes)
        if after < DIGIT:
            break
        if data[i] == _PERIOD and is_listed(data, start, i, _WWW):
            return url_stop(data, i + 1, stop, classes), False
        if not _joins(data, i, width, before, after, piece):
            break
        if data[i] == _PERIOD:
            periods += 1
        else:
            initials = False
            if apostrophe(data, i, stop) > 0:
                divisible = True
                if style >= ELIDING and only_letters and periods == 0:
                    if style == ELIDING:
                        return i + width, False
                    onwards = undivided_stop(data, start, i, width, stop)
                    if onwards < 0:
                        return i + width, False
                    if onwards > i + width:
                        return onwards, False
            only_letters = False
        piece = np.int64(0)
        i += width
    if i >= stop:
        return i, divisible
    if data[i] == _AT:
        end = domain_stop(data, i + 1, stop)
        return (end, False) if end > i + 1 else (i, divisible)
    if only_letters and periods == 0 and data[i] == _COLON and i + 3 < stop:
        if data[i + 1] == _SLASH and data[i + 2] == _SLASH and read(data, i + 3, stop, classes)[0] >= DIGIT:
            return url_stop(data, i + 3, stop, classes), False
    elif only_letters and data[i] == _PERIOD and (i + 1 == stop or data[i + 1] != _PERIOD):
        if periods > 0:
            return (i + 1, False) if initials else (i, False)
        if piece == 1 and not _ends_sentence(data, i + 1, stop, classes):
            return i + 1, False
        if is_listed(data, start, i, abbreviations):
            return i + 1, False
    return i, divisible


@kernel
def _joins(data: U8, i: int, width: int, before: int, after: int, piece: int) -> bool:
    """Whether the character at i may be inside a word, between the classes ``before`` and ``after``."""
    byte = data[i]
    if width == 3:  # ‐ ‑ ’
        third = data[i + 2]
        return bool(byte == 0xE2 and data[i + 1] == 0x80 and (third == 0x99 or 0x90 <= third <= 0x91))
    if _JOINS_ALL[byte]:
        return True
    if before == DIGIT or after == DIGIT:  # noqa: PLR1714 (a tuple takes longer to compile)
        return bool(before == after and _JOINS_DIGITS[byte])
    if byte == _PERIOD:
        return after != UPPER or piece <= 2
    return bool(byte == _AND and before == UPPER and after == UPPER)


@kernel
def _ends_sentence(data: U8, i: int, stop: int, classes: U8) -> bool:
    """Whether no word follows in the sentence."""
    while i < stop:
        kind, width = read(data, i, stop, classes)
        if kind >= IDEOGRAPH:
            return False
        i += width
    return True


@kernel
def _symbol(data, start, i, stop, classes, style):  # type: ignore[no-untyped-def]
    """Return where the symbol from start to i ends: a run of it, its marks, or the clitic that it opens."""
    if style == ENGLISH and apostrophe(data, start, stop) > 0:
        end = i
        while end < stop and end - i < 3 and read(data, end, stop, classes)[0] >= MARK:
            end += 1
        if is_listed(data, i, end, CLITICS) and (end == stop or apostrophe(data, end, stop) == 0):
            return end
    if i - start == 1:
        while _REPEATS[data[start]] and i < stop and data[i] == data[start]:
            i += 1
    elif i - start == 3 and data[start] == 0xE2 and data[start + 1] == 0x80:
        last = data[start + 2]
        if 0x93 <= last <= 0x94 or last == 0xA6:  # – — …
            while i + 2 < stop and data[i] == 0xE2 and data[i + 1] == 0x80 and data[i + 2] == last:
                i += 3
    while i < stop:
        kind, width = read(data, i, stop, classes)
        if kind != MARK:
            break
        i += width
    return i
