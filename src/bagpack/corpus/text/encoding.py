"""From bytes to text: named and detected encodings, HTML entities."""

from __future__ import annotations

import codecs
import html
from contextlib import suppress
from functools import cache

from bagpack.corpus.text.languages import language
from bagpack.errors import InputError, UsageError

AUTO = "auto"
PIECE = 1 << 14
MAX_UNESCAPES = 3  # WaCky files hold doubly escaped entities (&amp;amp;)

# Latin-1 as browsers read it: 0x80-0x9f are windows-1252 where that defines them.
_WEB_LATIN1 = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))


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


def is_utf8(data: bytes | memoryview, whole: bool = True) -> bool:
    """Whether all of it is; the last character may be incomplete if it is not the whole.

    It is decoded in pieces that stay in the cache: three times as fast as at once.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), PIECE):
            decoder.decode(data[at : at + PIECE])
        decoder.decode(b"", whole)
    except UnicodeDecodeError:
        return False
    return True


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
    """Refuse encodings in which an ASCII byte may be part of another character, or mean something else.

    UTF-16, UTF-7, EBCDIC and the ISO-2022 family are such; files in them cannot be cut into lines.
    """
    try:
        plain = "a\n\t<".encode(codec_name(encoding)) == b"a\n\t<"
    except (LookupError, ValueError) as error:  # the latter from a codec that is no text encoding
        raise UsageError(f"--encoding {encoding} is not a known encoding; try utf-8 or latin-1") from error
    for character in "éжあ中한":
        with suppress(UnicodeError):  # it has no such character
            plain = plain and not character.encode(codec_name(encoding)).isascii()
    if not plain:
        raise UsageError(f"--encoding {encoding} cannot be read directly; convert the file to UTF-8")


def encoding_error(place: str, error: UnicodeDecodeError, encoding: str) -> InputError:
    bad = " ".join(f"0x{byte:02x}" for byte in error.object[error.start : error.end][:4])
    other = "latin-1" if encoding.lower().startswith("utf") else "utf-8"
    return InputError(
        f"{place} is not {encoding} (byte {bad}); name the encoding (--encoding {other}?), let --encoding auto detect "
        f"it for each file, or use --encoding-errors replace or skip"
    )


def detect_encoding(sample: bytes, lang: str) -> str:
    """UTF-8 if all of the sample is, whose last character may be incomplete; else the old one of the language."""
    return "utf-8" if is_utf8(sample, whole=False) else language(lang).encoding
