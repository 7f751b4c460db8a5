"""All readers by name, and which of them a file is for."""

from __future__ import annotations

import importlib
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from itertools import islice

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Reader, Source, TextBatch
from bagpack.corpus.readers.io import place_at, read_head, sample
from bagpack.corpus.readers.sniff import UnsuitableError, check_text
from bagpack.corpus.text.decoding import (
    AUTO,
    check_encoding,
    codec_name,
    decode,
    detect_encoding,
    encoding_error,
    encoding_of,
)
from bagpack.corpus.text.identify import CERTAIN, identify
from bagpack.corpus.text.languages import is_plausible, language
from bagpack.corpus.text.tagsets import identify_tagset, tagset
from bagpack.errors import InputError, UsageError

TOKENISED = ("vertical", "conllu")
SAMPLE_BATCHES = 50
TAGGED_HEAD = 1 << 17
SAMPLE_CHARACTERS = 1 << 13
ENOUGH_CHARACTERS = 200  # less says too little about the language
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
    """The reader of a format; an error if there is none."""
    if name in BUILT_IN:
        return _built_in(name)
    known = readers()
    if name not in known:
        raise UsageError(f"--format {name} is unknown; choose one of auto, {', '.join(sorted(known))}")
    return known[name]


def recognise(source: Source, options: TextOptions) -> Source:
    """Settle a source's format and encoding, from the options, its name, or its content."""
    source = replace(source, format=_format_of(source, options))
    source = replace(source, encoding=settle_encoding(source, options))
    if source.format in TOKENISED:
        return replace(source, tagset=_tagset_of(source, options))
    if options.lang == AUTO:
        return replace(source, lang=identify(sample_text(source, options))[0])
    return replace(source, looks_like=_other_language(source, options))


def _tagset_of(source: Source, options: TextOptions) -> str:
    """The tagset of annotated text: the one that was named, or the one that knows its first tags."""
    tags = reader_for(source.format).tags(read_head(source, TAGGED_HEAD), options)  # type: ignore[attr-defined]
    if not tags or options.tagset == AUTO:
        return identify_tagset(tags)
    return tagset(options.tagset).name


def sample_text(source: Source, options: TextOptions) -> str:
    """Some paragraphs from the beginning of a source."""
    reader = reader_for(source.format)
    size = 0
    texts: list[str] = []
    part = reader.slices(source, max(source.size, 1), options)[0]
    with suppress(InputError):  # a line that cannot be read is reported when it is its turn
        for batch in islice(reader.read(part, options), SAMPLE_BATCHES):
            for paragraph in batch.paragraphs if isinstance(batch, TextBatch) else ():
                if isinstance(paragraph, str) and size < SAMPLE_CHARACTERS:
                    texts.append(paragraph[:SAMPLE_CHARACTERS])
                    size += len(paragraph)
            if size >= SAMPLE_CHARACTERS:
                break
    return "\n".join(texts)


def _other_language(source: Source, options: TextOptions) -> str:
    """The language that a text clearly is in, if it is not the one that was named; an empty string otherwise."""
    text = sample_text(source, options)
    if len(text) < ENOUGH_CHARACTERS or is_plausible(text, options.lang):
        return ""
    found, probability = identify(text)
    return found if found != language(options.lang).code and probability > CERTAIN else ""


def settle_encoding(source: Source, options: TextOptions) -> str:
    """The encoding of a source; a sample of it is decoded, so that a wrong one is reported before long work."""
    if source.format == "parquet":
        return "utf-8"
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
    return "utf-8" if codec_name(encoding) == "utf-8" else encoding


def _format_of(source: Source, options: TextOptions) -> str:
    if options.format != "auto":
        return reader_for(options.format).name
    others = [reader for reader in readers().values() if reader.name != "text"]
    head = read_head(source)
    if not head:
        raise UnsuitableError(f"{source.name} holds nothing once it is uncompressed; remove it", "empty")
    by_name = [reader for reader in others if source.stem.endswith(reader.suffixes)]
    for reader in (*by_name, *others):
        if reader.recognises(head):
            return reader.name
    if by_name:
        return by_name[0].name
    check_text(source.name, head)
    return "text"
