"""Writing a shard: types and keys in order, postings, the form table, documents; all files at once.

docs/formats.md describes every file byte by byte.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus import format
from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.format import FACTS, GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import NONE, DocumentStart, Source, TokenBatch
from bagpack.corpus.segment import AttributeColumns, bytes_of_keys, fold_all
from bagpack.corpus.strings import Strings
from bagpack.corpus.text.casefold import compose, fold_case, folding
from bagpack.corpus.text.encoding import unescape
from bagpack.corpus.text.lemmas import FormAnnotator, get_annotator
from bagpack.corpus.text.tags import UNIVERSAL, tagset
from bagpack.errors import InputError
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


FIRST_TOKENS = 1 << 18
MOST_NAMES = 1000  # of attributes in a segment


class TagTable:
    """The distinct tags of a tagset that occurred, and their universal tags."""

    def __init__(self, name: str) -> None:
        self.tagset = tagset(name)
        self.table = InternTable(1 << 8)
        self.codes = np.empty(0, np.uint8)

    def codes_of(self, batch: TokenBatch) -> NDArray[np.uint8]:
        """The universal tag of each token of a batch."""
        tags, ids = (batch.tag_starts, batch.tag_stops), np.empty(batch.tag_starts.size, np.uint32)
        self.table.add_spans(batch.data, tags, (NONE, NONE), np.zeros_like(ids), ids)
        new = list(self.table)[self.codes.size :] if len(self.table) > self.codes.size else []
        known = [self.tagset.code(tag.decode(errors="replace").strip()) for tag in new]
        self.codes = np.concatenate([self.codes, np.array(known, np.uint8)])
        return self.codes[ids]


class ShardBuilder:
    """Collects batches of tokens; `draft` is the shard that they make."""

    def __init__(self, options: TextOptions) -> None:
        self.options = options
        self.documents: list[DocumentStart] = []
        self._tagsets: dict[str, TagTable] = {}
        self._clear()

    def _clear(self) -> None:
        self.table = InternTable()
        self.names: set[str] = set()  # of attributes
        self.tokens = np.empty(FIRST_TOKENS, np.uint32)
        self.tags: NDArray[np.uint8] | None = None
        self.count = 0
        self.closed = True  # whether the last sentence is over
        self.source = ""  # the last
        self._entities = False
        self._has_lemmas = False

    def add(self, batch: TokenBatch) -> None:
        """Append the tokens of a batch, and open its documents."""
        for document in batch.documents:
            self._check_names(document, batch.source)
            self._open(document._replace(position=self.count + document.position))
        if not batch.starts.size:
            return
        if self.count + batch.starts.size > self.tokens.size:
            # Pages of np.empty that no token reaches are never touched, so only the copy costs memory.
            larger = np.empty(max(self.count + batch.starts.size, 2 * self.tokens.size), np.uint32)
            larger[: self.count] = self.tokens[: self.count]
            self.tokens = larger
        ids = self.tokens[self.count : self.count + batch.starts.size]
        self.table.add_tokens(batch, ids)
        self._add_tags(batch)
        self.count += batch.starts.size
        self.closed = batch.closed
        self.source = batch.source.name
        self._entities = batch.entities
        self._has_lemmas |= batch.lemma_starts.size > 0

    def _check_names(self, document: DocumentStart, source: Source) -> None:
        """Refuse records whose keys are data: a name of its own for each record."""
        self.names.update(name for name, _ in document.attributes)
        if len(self.names) > MOST_NAMES:
            raise InputError(
                f"{source.name} has more than {MOST_NAMES:,} different attributes of documents, the last in "
                f"{document.name[:100]!r}; put what differs between documents into the values of a few attributes"
            )

    def _open(self, document: DocumentStart) -> None:
        """From its position on, tokens belong to this document.

        A provisional document at the same position never had a token, nor had one carried over from the shard before.
        """
        if self.documents and self.documents[-1].position == document.position:
            empty = self.documents[-1]
            if empty.provisional or empty.continued:
                self.documents.pop()
        self.documents.append(document)

    def _add_tags(self, batch: TokenBatch) -> None:
        """Append the parts of speech of a batch; those of text without tags are X."""
        if batch.tag_starts.size and self.tags is None:
            self.tags = np.zeros(self.tokens.size, np.uint8)
        if self.tags is None:
            return
        if self.tags.size < self.tokens.size:
            self.tags = np.concatenate([self.tags, np.zeros(self.tokens.size - self.tags.size, np.uint8)])
        if batch.tag_starts.size:
            table = self._tagsets.setdefault(batch.tagset, TagTable(batch.tagset))
            self.tags[self.count : self.count + batch.starts.size] = table.codes_of(batch)

    def draft(self, types: NormalisedTypes) -> ShardDraft:
        """The shard, ready to be written."""
        tags = None if self.tags is None else self.tags[: self.count]
        return ShardDraft(self.tokens[: self.count], types, self.documents, self.options, self.source, tags)

    def next_shard(self) -> None:
        """Start again, in the open document."""
        self.documents = [document._replace(position=0, continued=True) for document in self.documents[-1:]]
        self._clear()

    def types(self) -> NormalisedTypes:
        """Forms and keys of the raw strings, each distinct one looked at once."""
        raw = self.table.strings()
        if self._has_lemmas:
            return normalise_columns(raw, self.options, entities=self._entities)
        forms = [entry.decode() for entry in raw]
        return normalise_forms(raw, forms, self._lemmas(forms), self.options)

    def _lemmas(self, forms: list[str]) -> list[str]:
        """What raw text is counted by; an annotator in context leaves no raw text."""
        if self.options.level == "form":
            return forms
        annotator = cast(FormAnnotator, get_annotator(self.options.annotator, self.options.lang))
        return annotator.lemmatize([form if form.isascii() else compose(form) for form in forms])


UNKNOWN_LEMMAS = frozenset({"<unknown>"})
CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


@dataclass
class NormalisedTypes:
    """Form and key per raw string; `dropped` marks raw strings that are no tokens."""

    forms: Strings
    keys: Strings
    dropped: NDArray[np.bool_]


@kernel
def _scan(blob, offsets, slow, plain, divider, letters):  # type: ignore[no-untyped-def]
    """Per entry: is it without `slow` bytes or a lemma that starts with `<`; where is its TAB; has it alnum."""
    for i in range(offsets.size - 1):
        plain[i] = True
        letters[i] = False
        divider[i] = offsets[i + 1]
        for k in range(offsets[i], offsets[i + 1]):
            c = blob[k]
            if c == 9 and divider[i] == offsets[i + 1]:
                divider[i] = k
            if slow[c] or (c == 60 and divider[i] == k - 1):
                plain[i] = False
            if divider[i] == offsets[i + 1] and (48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122):
                letters[i] = True


def clean_word(word: str) -> str:
    """A word whose white space is plain and single, without control characters; of nothing else, a replacement.

    >>> clean_word("New\\N{NO-BREAK SPACE}York\\0"), clean_word("\\0")
    ('New York', '\N{REPLACEMENT CHARACTER}')
    """
    if word.isascii() and word.isprintable():
        return word
    return CONTROLS.sub(" ", word).strip() or "\N{REPLACEMENT CHARACTER}"


def is_punctuation(form: str) -> bool:
    """No letter, digit or mark in it."""
    return not any(unicodedata.category(c)[0] in "LNM" for c in form)


def normalise_columns(raw: Strings, options: TextOptions, entities: bool) -> NormalisedTypes:
    """Raw strings FORM TAB LEMMA."""
    count = len(raw)
    plain = np.empty(count, np.bool_)
    letters = np.empty(count, np.bool_)
    divider = np.empty(count, np.int64)
    small, slow = bytes_of_keys(options)
    slow[[*range(9), *range(10, 32), 127, ord("&")]] = True
    _scan(raw.blob, raw.offsets, slow, plain, divider, letters)
    dropped = ~letters if options.punctuation == "drop" else np.zeros(count, np.bool_)
    forms: list[str] = []
    keys: list[str] = []
    folded = folding(options)
    for index in np.flatnonzero(~plain).tolist():
        text = raw.bytes_at(index).decode()
        form, _, lemma = text.partition("\t")
        if entities and "&" in text:
            form, lemma = unescape(form), unescape(lemma)
        form, lemma = clean_word(form), clean_word(lemma) if lemma else ""
        lemma = form if lemma in UNKNOWN_LEMMAS else lemma
        forms.append(form)
        keys.append(folded(form if options.level == "form" else lemma or form))
        if options.punctuation == "drop":
            dropped[index] = is_punctuation(form)
    starts, ends = raw.offsets[:-1], raw.offsets[1:]
    by_lemma = (divider < ends) & (options.level == "lemma")
    key_starts, key_ends = np.where(by_lemma, divider + 1, starts), np.where(by_lemma, ends, divider)
    return NormalisedTypes(
        Strings.of_spans(raw.blob, starts, divider).replaced(~plain, Strings.of(forms)),
        Strings.of_spans(small[raw.blob], key_starts, key_ends).replaced(~plain, Strings.of(keys)),
        dropped,
    )


def normalise_forms(
    raw: Strings, forms: list[str], lemmas: list[str], options: TextOptions
) -> NormalisedTypes:
    """Raw strings are forms in UTF-8; the lemmas (or the forms themselves) become keys."""
    folded = folding(options)
    if folded is fold_case:  # plain forms are not worth a call each
        keys = [text.lower() if text.isascii() else fold_case(text) for text in lemmas]
    else:
        keys = list(map(folded, lemmas))
    dropped = np.zeros(len(forms), np.bool_)
    if options.punctuation == "drop":
        dropped = np.fromiter((is_punctuation(form) for form in forms), np.bool_, len(forms))
    return NormalisedTypes(raw, Strings.of(keys), dropped)
