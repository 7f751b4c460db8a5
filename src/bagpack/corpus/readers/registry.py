"""All readers by name, and which of them a file is for."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Reader, Source
from bagpack.corpus.readers.io import place_at, read_head, sample
from bagpack.corpus.readers.sniff import check_text, nothing_uncompressed
from bagpack.corpus.text.decoding import (
    AUTO,
    check_encoding,
    codec_name,
    decode,
    detect_encoding,
    encoding_error,
    encoding_of,
)
from bagpack.errors import UsageError

BUILT_IN = ("vertical", "conllu", "jsonl", "parquet", "mediawiki", "text")  # text takes whatever is left


@cache
def readers() -> dict[str, Reader]:
    """All readers by name, built-in ones first."""
    found = {name: _built_in(name) for name in BUILT_IN}
    for entry in entry_points(group="bagpack.readers"):
        if entry.name not in found:
            found[entry.name] = _load(entry)
    return found


def _built_in(name: str) -> Reader:
    reader: Reader = importlib.import_module(f"bagpack.corpus.readers.{name}").READER
    return reader


def _load(entry: EntryPoint) -> Reader:
    try:
        reader: Reader = entry.load()
    except Exception as error:
        package = entry.dist.name if entry.dist else entry.value
        raise UsageError(
            f"the reader {entry.name!r} of the package {package} cannot be loaded ({type(error).__name__}: {error}); "
            f"update or uninstall that package, or choose a --format of bagpack's own"
        ) from error
    return reader


def reader_for(name: str) -> Reader:
    """The reader of a format; a sentence if there is none."""
    if name in BUILT_IN:
        return _built_in(name)
    known = readers()
    if name not in known:
        raise UsageError(f"--format {name} is unknown; choose one of auto, {', '.join(sorted(known))}")
    return known[name]


def recognise(source: Source, options: TextOptions) -> Source:
    """Settle a source's format and encoding, from the options, its name, or its content."""
    source = replace(source, format=_format_of(source, options))
    if source.format == "parquet":
        return source
    return replace(source, encoding=settle_encoding(source, options))


def settle_encoding(source: Source, options: TextOptions) -> str:
    """The encoding of a source; a sample of it is decoded, so that a wrong one is reported before long work."""
    encoding = encoding_of(source.name, options.encoding)
    if encoding == AUTO:
        return detect_encoding(piece for _, piece in sample(source))
    check_encoding(encoding)
    if options.encoding_errors == "strict":
        for offset, piece in sample(source):
            try:
                decode(piece, encoding)
            except UnicodeDecodeError as error:
                raise encoding_error(place_at(source, offset + error.start), error, encoding) from error
    return codec_name(encoding) if codec_name(encoding) == "utf-8" else encoding


def _format_of(source: Source, options: TextOptions) -> str:
    if options.format != "auto":
        return reader_for(options.format).name
    others = [reader for reader in readers().values() if reader.name != "text"]
    head = read_head(source)
    if not head:
        raise nothing_uncompressed(source.name)
    by_name = [reader for reader in others if source.stem.endswith(reader.suffixes)]
    for reader in (*by_name, *others):
        if reader.recognises(head):
            return reader.name
    if by_name:
        return by_name[0].name
    check_text(source.name, head)
    return "text"
