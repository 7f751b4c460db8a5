"""Writing a shard: types and keys in order, postings, the form table, documents; all files at once.

docs/formats.md describes every file byte by byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.build.normalise import NormalisedTypes
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import DocumentStart
from bagpack.corpus.store import format
from bagpack.corpus.store.attributes import AttributeColumns
from bagpack.corpus.store.format import GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.store.manifest import FACTS
from bagpack.corpus.store.shard import fold_all
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.text.tagsets import UNIVERSAL
from bagpack.files import write_json
from bagpack.kernels import kernel

I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]


@kernel
def remap_tokens(tokens, type_of_raw):  # type: ignore[no-untyped-def]
    """Replace raw ids by type ids in place; a dropped token (-1) hands its sentence start on to the next one.

    Returns how many tokens are left.
    """
    left = 0
    pending = np.uint32(0)
    apart = np.uint32(0)
    for i in range(tokens.size):
        found = type_of_raw[tokens[i] & TYPE_MASK]
        flags = tokens[i] & (SENTENCE_START | GLUED)
        if found < 0:
            pending |= flags & SENTENCE_START
            apart |= ~flags & GLUED  # white space before what was dropped is white space before what follows
            continue
        flags |= pending
        if flags & SENTENCE_START:
            apart = GLUED
        tokens[left] = np.uint32(found) | (flags & ~apart)
        pending = np.uint32(0)
        apart = np.uint32(0)
        left += 1
    return left


@kernel
def keep_tags(tokens, type_of_raw, tags):  # type: ignore[no-untyped-def]
    """Move the tags of the tokens that are kept to the front; returns how many there are."""
    left = 0
    for i in range(tokens.size):
        tags[left] = tags[i]
        if type_of_raw[tokens[i] & TYPE_MASK] >= 0:
            left += 1
    return left


@kernel
def _count_into(tokens, counts):  # type: ignore[no-untyped-def]
    for i in range(tokens.size):
        counts[tokens[i] & TYPE_MASK] += 1


def count_ids(tokens: U32, ids: int) -> I64:
    """Tokens per id; unlike np.bincount, without a copy of the tokens as 64-bit numbers."""
    counts = np.zeros(ids, np.int64)
    _count_into(tokens, counts)
    return counts


@kernel
def kept_before(tokens, type_of_raw, positions, out):  # type: ignore[no-untyped-def]
    """For each old position, how many tokens before it are kept; positions are sorted."""
    left = 0
    at = 0
    for i in range(tokens.size + 1):
        while at < positions.size and positions[at] == i:
            out[at] = left
            at += 1
        if i < tokens.size and type_of_raw[tokens[i] & TYPE_MASK] >= 0:
            left += 1


@kernel
def fill_postings(tokens, key_of_type, cursor, postings):  # type: ignore[no-untyped-def]
    """Counting sort of positions by key; `cursor` starts as each key's first place. Counts sentences too."""
    sentences = 0
    for position in range(tokens.size):
        if tokens[position] & SENTENCE_START:
            sentences += 1
        key = key_of_type[tokens[position] & TYPE_MASK]
        postings[cursor[key]] = position
        cursor[key] += 1
    return sentences


def intern_pairs(first: Strings, second: Strings, skip: NDArray[np.bool_]) -> tuple[I64, InternTable]:
    """Ids of the pairs (first[i], second[i]), -1 where skipped, and their table."""
    table = InternTable(max(1 << 10, len(first)))
    return table.add_pairs(first, second, skip), table


def split_pairs(pairs: Strings) -> tuple[Strings, Strings]:
    """Back from FORM TAB KEY to forms and keys; neither holds a TAB of its own."""
    tabs = np.flatnonzero(pairs.blob == 9)
    forms = Strings.of_spans(pairs.blob, pairs.offsets[:-1], tabs)
    return forms, Strings.of_spans(pairs.blob, tabs + 1, pairs.offsets[1:])


@dataclass
class ShardDraft:
    """A shard's content before it is written."""

    tokens: U32  # raw ids with flags
    types: NormalisedTypes
    documents: list[DocumentStart]
    options: TextOptions
    source: str  # the file it ends in, for those who look into shard.json
    tags: NDArray[np.uint8] | None = None  # parts of speech, if the text has any


def write_shard(draft: ShardDraft, directory: Path) -> dict[str, Any]:
    """Sort out types and keys, build postings and the form table, and write all files; returns the shard's facts."""
    tokens = draft.tokens
    raw_types, table = intern_pairs(draft.types.forms, draft.types.keys, draft.types.dropped)
    raw_counts = count_ids(tokens, raw_types.size)
    kept = raw_types >= 0
    counts = np.bincount(raw_types[kept], weights=raw_counts[kept], minlength=len(table)).astype(np.int64)
    by_count = np.argsort(-counts, kind="stable")  # frequent types get small ids, near each other in memory
    type_of_raw = np.where(kept, _ranks(by_count)[raw_types], -1)
    documents = draft.documents
    starts = np.array([document.position for document in documents], np.int64)
    if not kept.all():
        kept_starts = np.empty_like(starts)
        kept_before(tokens, type_of_raw, starts, kept_starts)
        starts = kept_starts
    tags = draft.tags
    if tags is not None and not kept.all():
        tags = tags[: keep_tags(tokens, type_of_raw, tags)]
    tokens = tokens[: remap_tokens(tokens, type_of_raw)]
    firsts = starts[starts < tokens.size]
    # Subcorpora rely on it: no window leaves a document.
    tokens[firsts] = (tokens[firsts] | SENTENCE_START) & ~GLUED

    forms, keys_of_types = split_pairs(table.strings().take(by_count))
    keys, key_of_type = _sorted_keys(keys_of_types)
    columns = AttributeColumns.of([document.attributes for document in documents])
    names = Strings.of(document.name for document in documents)
    counts = counts[by_count]
    key_counts = np.bincount(key_of_type, weights=counts, minlength=len(keys)).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(key_counts)])
    postings = np.empty(tokens.size, np.uint32)
    sentences = fill_postings(tokens, key_of_type, bounds[:-1].copy(), postings)
    form_pairs, form_counts = _form_table(forms, keys_of_types, counts, draft.options)

    arrays: dict[str, NDArray[Any]] = {
        "tokens": tokens,
        "postings": postings,
        "keys.blob": keys.blob,
        "keys.offsets": keys.offsets,
        "keys.postings": bounds,
        "types.blob": forms.blob,
        "types.offsets": forms.offsets,
        "types.key": key_of_type,
        "types.count": counts,
        "forms.blob": form_pairs.blob,
        "forms.offsets": form_pairs.offsets,
        "forms.count": form_counts,
        "documents.start": starts,
        "documents.blob": names.blob,
        "documents.offsets": names.offsets,
    }
    if tags is not None:
        arrays["tags"] = tags
    if columns.names:
        arrays |= columns.arrays()
    directory.mkdir(parents=True, exist_ok=True)
    checksums = format.write_arrays(directory, arrays, format.SHARD)
    shard = {
        "tokens": int(tokens.size),
        "sentences": int(sentences),
        "documents": sum(not document.continued for document in documents),
        "keys": len(keys),
        "types": len(forms),
        "source": draft.source,
        "checksums": checksums,
    }
    if columns.names:
        shard["attributes"] = list(columns.names)
    if tags is not None:
        shard["tags"] = {UNIVERSAL[code]: count for code, count in enumerate(_count_bytes(tags)) if count}
    write_json(directory / FACTS, shard)
    return shard


def _count_bytes(values: NDArray[np.uint8]) -> list[int]:
    """How often each value occurs; np.bincount would make 64-bit numbers of all of them at once."""
    step = 1 << 20
    parts = (np.bincount(values[at : at + step], minlength=256) for at in range(0, values.size, step))
    return [int(count) for count in sum(parts, np.zeros(256, np.int64))]


def _ranks(order: I64) -> I64:
    """The place of each index in an order."""
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return ranks


def _sorted_keys(keys_of_types: Strings) -> tuple[Strings, U32]:
    """The distinct keys in byte order, and which of them each type has."""
    table = InternTable(max(1 << 10, len(keys_of_types)))
    first_seen = table.add(keys_of_types)
    keys = table.strings()
    order = keys.sort_order()
    return keys.take(order), _ranks(order)[first_seen].astype(np.uint32)


def _form_table(forms: Strings, keys: Strings, counts: I64, options: TextOptions) -> tuple[Strings, I64]:
    """FOLDED FORM TAB KEY with counts, sorted, for the forms that are not their own key."""
    folded = fold_all(forms, options)
    same = folded.equals(keys)
    found, table = intern_pairs(folded, keys, same)
    kept = found >= 0
    totals = np.bincount(found[kept], weights=counts[kept], minlength=len(table)).astype(np.int64)
    pairs = table.strings()
    order = pairs.sort_order()
    return pairs.take(order), totals[order]
