"""From bytes to text: named and detected encodings, HTML entities."""

from __future__ import annotations

import codecs
import html
from collections.abc import Iterable
from contextlib import suppress
from fnmatch import fnmatch
from functools import cache
from pathlib import PurePath

from bagpack.corpus.text.languages import language
from bagpack.errors import InputError, UsageError

AUTO = "auto"
MAX_UNESCAPES = 3  # WaCky files hold doubly escaped entities (&amp;amp;)
DETECT_BYTES = 1 << 15

# Latin-1 as browsers read it: 0x80-0x9f are windows-1252 where that defines them.
_WEB_LATIN1 = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))

# The encodings that texts of a language had before UTF-8; any other language counts as Western European.
# Arabic and Hebrew ones are not detected: any bytes read as one of these look like the language.
_CENTRAL_EUROPEAN, _CYRILLIC = ("cp1250", "iso8859-2"), ("cp1251", "koi8_r")
_LEGACY = {
    **dict.fromkeys(("cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"), _CENTRAL_EUROPEAN),
    **dict.fromkeys(("bg", "mk", "ru", "sr", "uk"), _CYRILLIC),
    "el": ("cp1253",), "tr": ("cp1254",), "lt": ("cp1257",), "lv": ("cp1257",),
    "ja": ("cp932", "euc_jp"), "ko": ("cp949",), "zh": ("gb18030", "big5"),
}  # fmt: skip
_WESTERN = ("cp1252",)
_LATIN = (*_CENTRAL_EUROPEAN, "cp1254", "cp1257")


@cache
def codec_name(encoding: str) -> str:
    """Python's own name of an encoding; `utf-8-sig` is `utf-8`, since byte-order marks are removed anyway."""
    name = codecs.lookup(encoding).name
    return "utf-8" if name == "utf-8-sig" else name


def decode(raw: bytes, encoding: str, errors: str = "strict") -> str:
    """Bytes to text; latin-1 is read as browsers read it, and `skip` drops what cannot be decoded."""
    name = codec_name(encoding)
    if name == "iso8859-1":
        return codecs.charmap_decode(raw, "strict", _WEB_LATIN1)[0]
    return raw.decode(name, "ignore" if errors == "skip" else errors)


def unescape(text: str) -> str:
    """Resolve HTML entities, doubly escaped ones too."""
    for _ in range(MAX_UNESCAPES):
        plain = html.unescape(text)
        if plain == text or not plain:
            break
        text = plain
    return text


@cache
def check_encoding(encoding: str) -> None:
    """Refuse encodings in which the byte of a line feed, a tab or `<` may mean something else.

    UTF-16, UTF-7, EBCDIC and the ISO-2022 family are such; files in them cannot be cut into lines or slices.
    """
    try:
        plain = "a\n\t<".encode(codec_name(encoding)) == b"a\n\t<"
    except (LookupError, ValueError) as error:  # the latter from a codec that is no text encoding
        raise UsageError(f"--encoding {encoding} is not a known encoding; try utf-8 or latin-1") from error
    if not plain or not all(map(_is_separable, _encoded_characters(codec_name(encoding)))):
        raise UsageError(
            f"--encoding {encoding} cannot be read directly; convert the file to UTF-8 (iconv does it)"
        )


def _encoded_characters(codec: str) -> Iterable[bytes]:
    for point in (*range(0x80, 0xD800), *range(0xE000, 0xFFFE)) if codec != "utf-8" else ():
        with suppress(UnicodeError):  # it has no such character
            yield chr(point).encode(codec)


def _is_separable(encoded: bytes) -> bool:
    """Whether the bytes of a character beyond ASCII cannot be mistaken for a line feed, a tab, `<` or `&`."""
    if len(encoded) < 2:
        return True
    return encoded[0] >= 0x80 and all(byte >= 0x40 or 0x30 <= byte <= 0x39 for byte in encoded)


def encoding_error(place: str, error: UnicodeDecodeError, encoding: str) -> InputError:
    """Bytes that are not the encoding."""
    bad = " ".join(f"0x{byte:02x}" for byte in error.object[error.start : error.end][:4])
    other = "latin-1" if encoding.lower().startswith("utf") else "utf-8"
    return InputError(
        f"{place} is not {encoding} (byte {bad}); name the encoding (--encoding {other}?), let --encoding auto detect "
        f"it for each file, or use --encoding-errors replace or skip"
    )


def encoding_of(path: str, spec: str) -> str:
    """The encoding that `--encoding` names for a file: NAME, or PATTERN=NAME for some files, comma-separated.

    >>> encoding_of("old/a.txt", "utf-8,old/*=latin-1")
    'latin-1'
    """
    fallback = "utf-8"
    for entry in filter(None, (entry.strip() for entry in spec.split(","))):
        pattern, given, name = entry.rpartition("=")
        if not given:
            fallback = name
        elif fnmatch(path, pattern) or fnmatch(PurePath(path).name, pattern):
            return name
    return fallback


def detect_encoding(sample: Iterable[bytes], lang: str) -> str:
    """UTF-8 if all of the sample is; else an encoding that texts of the language had before UTF-8.

    Other languages' encodings are taken only if they do not use Latin letters: those are too much alike.
    """
    odd = b"".join(
        line
        for piece in sample
        if _read_as("utf-8", piece) is None
        for line in piece.splitlines(keepends=True)
        if not line.isascii()
    )[:DETECT_BYTES]
    if not odd:
        return "utf-8"
    own = [name for name in _LEGACY.get(language(lang).code, _WESTERN) if _read_as(name, odd) is not None]
    if len(own) == 1 and own[0] not in _WESTERN:
        return own[0]
    others = (
        () if len(own) > 1 else (name for names in _LEGACY.values() for name in names if name not in _LATIN)
    )
    from charset_normalizer import from_bytes

    found = from_bytes(odd, cp_isolation=sorted({*own, *others})).best()
    best = codec_name(found.encoding) if found else ""
    return "latin-1" if best in ("", *map(codec_name, _WESTERN)) else best


def _read_as(encoding: str, data: bytes) -> str | None:
    """The text, if the bytes are in this encoding; the last character may be incomplete."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return None
