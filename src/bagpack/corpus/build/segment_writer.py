"""A segment in the making: batches of tokens are interned, then types and keys sorted out, and all files written.

A type is a form as written with its key: what is counted, the lemma (or form), composed (NFC) and case-folded by
default. That work is done once per distinct string. docs/formats.md describes every file byte by byte.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np

from bagpack.arrays import I64, U8, U32, Bools, Values
from bagpack.corpus import format
from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.format import FACTS, GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, DocumentStart
from bagpack.corpus.segment import AttributeColumns, bytes_of_keys, count_types, fold_all
from bagpack.corpus.strings import Strings, split_pairs
from bagpack.corpus.text.casefold import clean_word, compose, folding
from bagpack.corpus.text.encoding import unescape
from bagpack.corpus.text.lemmas import get_annotator
from bagpack.corpus.text.tags import UNIVERSAL, tag_code
from bagpack.errors import InputError
from bagpack.files import disk_errors, write_json
from bagpack.kernels import kernel, read_only

FIRST_TOKENS = 1 << 18
MOST_NAMES = 1000  # of attributes in a segment


class SegmentWriter:
    """Collects batches of tokens; `write` makes a segment of them, and begins the next one in the open document."""

    def __init__(self, options: TextOptions) -> None:
        self.options = options
        self.documents: list[DocumentStart] = []
        # Distinct tags of each tagset, and their universal tags.
        self._tagsets: dict[str, tuple[InternTable, list[int]]] = {}
        self._clear()

    def _clear(self) -> None:
        self.table = InternTable()
        self.names: set[str] = set()  # of attributes
        self.tokens = np.empty(FIRST_TOKENS, np.uint32)  # raw ids with flags
        self.tags = np.empty(0, np.uint8)  # as long as `tokens` if the text has tags
        self.count = 0
        self.source = ""  # the last
        self._entities = False
        self._has_lemmas = False

    def add(self, batch: Batch) -> None:
        for document in batch.documents:
            self._open(document._replace(position=self.count + document.position), batch)
        size = batch.flags.size
        if not size:
            return
        if self.count + size > self.tokens.size:
            # Pages of np.empty that no token reaches are never touched, so only the copy costs memory.
            larger = np.empty(max(self.count + size, 2 * self.tokens.size), np.uint32)
            larger[: self.count] = self.tokens[: self.count]
            self.tokens = larger
        self._has_lemmas |= len(batch.spans) > 2
        ids = self.tokens[self.count : self.count + size]
        self.table.add_spans(batch.data, batch.spans[:4], batch.flags, ids)
        if (batch.tagset or self.tags.size) and self.tags.size < self.tokens.size:
            self.tags = np.append(self.tags, np.zeros(self.tokens.size - self.tags.size, np.uint8))
        if batch.tagset:
            self.tags[self.count : self.count + size] = self._codes(batch)
        self.count += size
        self.source = batch.source.name
        self._entities = batch.entities

    def _open(self, document: DocumentStart, batch: Batch) -> None:
        """From its position on, tokens belong to this document.

        A provisional document at the same position never had a token, nor had one carried over from the segment
        before. Records whose keys are data, a name of its own for each record, are refused.
        """
        if self.documents and self.documents[-1].position == document.position:
            empty = self.documents[-1]
            if empty.provisional or empty.continued:
                self.documents.pop()
        self.documents.append(document._replace(name=clean_word(document.name)))
        self.names.update(name for name, _ in document.attributes)
        if len(self.names) > MOST_NAMES:
            raise InputError(
                f"{batch.source.name} has more than {MOST_NAMES:,} names of attributes, the last in "
                f"{document.name[:100]!r}; put what differs between documents into values, not into names"
            )

    def _codes(self, batch: Batch) -> U8:
        table, codes = self._tagsets.setdefault(batch.tagset, (InternTable(1 << 8), []))
        ids = np.empty(batch.flags.size, np.uint32)
        table.add_spans(batch.data, batch.spans[4:6], np.zeros_like(ids), ids)
        for number in range(len(codes), len(table)):
            tag = table.bytes_at(number).decode(errors="replace").strip()
            codes.append(tag_code(batch.tagset, tag) or 0)
        return np.array(codes, np.uint8)[ids]

    def _types(self) -> tuple[Strings, Strings, Bools]:
        """Form and key of each raw string, and which of them are no tokens."""
        raw, options = self.table.strings(), self.options
        if self._has_lemmas:
            return split_columns(raw, options, self._entities)
        forms, keys = [entry.decode() for entry in raw], raw
        if options.level == "lemma":  # an annotator in context leaves no raw text
            annotator = get_annotator(options.annotator, options.lang)
            lemmas = annotator.lemmatize([form if form.isascii() else compose(form) for form in forms])
            keys = Strings.of(lemmas)
        dropped = np.zeros(len(forms), np.bool_)
        if options.punctuation == "drop":
            dropped = np.fromiter(map(is_punctuation, forms), np.bool_, len(forms))
        return raw, fold_all(keys, options), dropped

    def write(self, directory: Path) -> dict[str, Any] | None:
        """Write the tokens so far as a segment; returns its facts, or None if there is nothing to write."""
        raw = self._types()
        facts = None
        if not raw[-1].all():  # else all is dropped
            with disk_errors(directory):
                directory.mkdir()
            facts = self._write(directory, *raw)
        self.documents = [document._replace(position=0, continued=True) for document in self.documents[-1:]]
        self._clear()
        return facts

    def _write(
        self, directory: Path, raw_forms: Strings, raw_keys: Strings, dropped: Bools
    ) -> dict[str, Any]:
        tokens, tags, documents = self.tokens[: self.count], self.tags[: self.count], self.documents
        table = InternTable(len(raw_forms))
        raw_types = table.add_pairs(raw_forms, raw_keys, dropped)
        raw_counts = np.zeros(raw_types.size, np.uint32)
        count_types(read_only(tokens), np.zeros(1, np.int64), np.array([tokens.size]), raw_counts)
        kept = raw_types >= 0
        counts = np.bincount(raw_types[kept], weights=raw_counts[kept], minlength=len(table)).astype(np.int64)
        # Frequent types get small ids, near each other in memory.
        by_count = np.argsort(-counts, kind="stable")
        starts = np.array([document.position for document in documents], np.int64)
        left = keep_tokens(tokens, np.where(kept, _ranks(by_count)[raw_types], -1), tags, starts)
        tokens, tags = tokens[:left], tags[:left]
        firsts = starts[starts < left]
        # Subcorpora rely on it: no window leaves a document.
        tokens[firsts] = (tokens[firsts] | SENTENCE_START) & ~GLUED

        forms, keys_of_types = split_pairs(table.strings().take(by_count))
        keys, key_of_type = _sorted_keys(keys_of_types)
        columns = AttributeColumns.of([document.attributes for document in documents])
        counts = counts[by_count]
        key_counts = np.bincount(key_of_type, weights=counts, minlength=len(keys)).astype(np.int64)
        bounds = np.concatenate([[0], np.cumsum(key_counts)])
        postings = np.empty(left, np.uint32)
        sentences = fill_postings(tokens, key_of_type, bounds[:-1].copy(), postings)
        form_pairs, form_counts = _form_table(forms, keys_of_types, counts, self.options)
        arrays: dict[str, Values] = {
            "tokens": tokens,
            "postings": postings,
            **keys.files("keys"),
            "keys.postings": bounds,
            **forms.files("types"),
            "types.key": key_of_type,
            "types.count": counts,
            **form_pairs.files("forms"),
            "forms.count": form_counts,
            "documents.start": starts,
            **Strings.of(document.name for document in documents).files("documents"),
            **({"tags": tags} if self.tags.size else {}),
            **(columns.arrays() if columns.names else {}),
        }
        facts = {
            "tokens": left,
            "sentences": int(sentences),
            "documents": sum(not document.continued for document in documents),
            "keys": len(keys),
            "types": len(forms),
            "source": self.source,
            "checksums": format.write_arrays(directory, arrays, format.SEGMENT),
        }
        if columns.names:
            facts["attributes"] = list(columns.names)
        if self.tags.size:
            # A piece at a time: np.bincount makes 64-bit numbers of the tags.
            pieces = (np.bincount(tags[at : at + (1 << 20)], minlength=256) for at in range(0, left, 1 << 20))
            totals = sum(pieces, np.zeros(256, np.int64)).tolist()
            facts["tags"] = {UNIVERSAL[code]: count for code, count in enumerate(totals) if count}
        write_json(directory / FACTS, facts)
        return facts


def split_columns(raw: Strings, options: TextOptions, entities: bool) -> tuple[Strings, Strings, Bools]:
    """Form and key of raw strings FORM TAB LEMMA, and which are no tokens.

    Plain ASCII goes through a kernel; the few others (accents, entities, controls) through Python.
    """
    count = len(raw)
    plain, letters = np.empty(count, np.bool_), np.empty(count, np.bool_)
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
        lemma = form if lemma == "<unknown>" else lemma
        forms.append(form)
        keys.append(folded(form if options.level == "form" else lemma or form))
        if options.punctuation == "drop":
            dropped[index] = is_punctuation(form)
    starts, ends = raw.offsets[:-1], raw.offsets[1:]
    by_lemma = (divider < ends) & (options.level == "lemma")
    key_starts, key_ends = np.where(by_lemma, divider + 1, starts), np.where(by_lemma, ends, divider)
    return (
        Strings.of_spans(raw.blob, starts, divider).replaced(~plain, Strings.of(forms)),
        Strings.of_spans(small[raw.blob], key_starts, key_ends).replaced(~plain, Strings.of(keys)),
        dropped,
    )


def is_punctuation(form: str) -> bool:
    return not any(unicodedata.category(c)[0] in "LNM" for c in form)


def _ranks(order: I64) -> I64:
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return ranks


def _sorted_keys(keys_of_types: Strings) -> tuple[Strings, U32]:
    """The distinct keys in byte order, and which of them each type has."""
    table = InternTable(len(keys_of_types))
    first_seen = table.add_pairs(keys_of_types, Strings.of([]), np.zeros(len(keys_of_types), np.bool_))
    keys = table.strings()
    order = keys.sort_order()
    return keys.take(order), _ranks(order)[first_seen].astype(np.uint32)


def _form_table(forms: Strings, keys: Strings, counts: I64, options: TextOptions) -> tuple[Strings, I64]:
    """FOLDED FORM TAB KEY with counts, sorted, for the forms that are not their own key."""
    folded = fold_all(forms, options)
    table = InternTable(len(forms))
    found = table.add_pairs(folded, keys, folded.equals(keys))
    kept = found >= 0
    totals = np.bincount(found[kept], weights=counts[kept], minlength=len(table)).astype(np.int64)
    pairs = table.strings()
    order = pairs.sort_order()
    return pairs.take(order), totals[order]


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


@kernel
def keep_tokens(tokens, type_of_raw, tags, starts):  # type: ignore[no-untyped-def]
    """Replace raw ids by type ids in place; a dropped token (-1) hands its sentence start on to the next one.

    Tags, if there are any, move with their tokens; `starts`, ascending positions, become those among the tokens that
    are kept. Returns the number of tokens that are kept.
    """
    left = 0
    document = 0
    pending = np.uint32(0)
    apart = np.uint32(0)
    for i in range(tokens.size):
        while document < starts.size and starts[document] == i:
            starts[document] = left
            document += 1
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
        if tags.size > 0:
            tags[left] = tags[i]
        pending = np.uint32(0)
        apart = np.uint32(0)
        left += 1
    while document < starts.size:
        starts[document] = left
        document += 1
    return left


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
