"""One segment of a store, opened for reading: token ids, postings, its own lexicon and documents.

docs/formats.md describes every file byte by byte; `build/segment_writer.py` writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bagpack.arrays import I64, U8, U32, Bools, Values
from bagpack.corpus import format
from bagpack.corpus.format import TYPE_MASK, read_facts
from bagpack.corpus.options import TextOptions
from bagpack.corpus.strings import Strings
from bagpack.corpus.text.casefold import folding
from bagpack.corpus.text.tags import UNIVERSAL
from bagpack.files import map_array
from bagpack.kernels import kernel, read_only

FormCounts = dict[tuple[str, str], int]  # of a form and its key


def _array(name: str) -> Any:
    """A file of a segment, mapped into memory when it is first used."""
    return cached_property(lambda segment: segment._map(name))


def _strings(name: str) -> Any:
    return cached_property(lambda segment: segment._strings(name))


class Segment:
    tokens: U32 = _array("tokens")  # type id of each token, with the flag bits
    postings: U32 = _array("postings")  # positions of all keys, key by key, ascending
    posting_bounds: I64 = _array("keys.postings")  # key k's positions are postings[bounds[k]:bounds[k+1]]
    keys: Strings = _strings("keys")  # sorted
    forms: Strings = _strings("types")  # of each type, as written
    key_of_type: U32 = _array("types.key")
    type_counts: U32 = _array("types.count")
    document_starts: U32 = _array("documents.start")  # position of the first token
    documents: Strings = _strings("documents")  # their ids, in order

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def _map(self, name: str) -> Values:
        return read_only(map_array(self._checked / name, format.SEGMENT[name].dtype))

    def _strings(self, name: str) -> Strings:
        return Strings(self._map(f"{name}.blob"), self._map(f"{name}.offsets"))

    @cached_property
    def _checked(self) -> Path:
        """The directory, all of whose files hold what is declared: kernels do not check bounds."""
        format.check(self.directory, self.declared, self.numbers)
        return self.directory

    @property
    def declared(self) -> dict[str, format.Array]:
        """The files that the segment has, by what segment.json says."""
        return format.required(format.SEGMENT, self.facts["checksums"])

    @cached_property
    def facts(self) -> dict[str, Any]:
        return read_facts(self.directory)

    @property
    def numbers(self) -> dict[str, int]:
        """Tokens, types and keys: what the lengths and values of the files depend on."""
        own = {name: self.facts[name] for name in ("tokens", "types", "keys")}
        if "attributes.bounds" in self.facts["checksums"]:
            own["attributes"] = len(self.facts.get("attributes", ()))
        return {**own, "universal tags": len(UNIVERSAL)}

    @property
    def has_tags(self) -> bool:
        return "tags" in self.facts["checksums"]

    @cached_property
    def tags(self) -> U8:
        """Universal part of speech of each token, as a code of `bagpack.corpus.text.tags`; X without tags."""
        return self._map("tags") if self.has_tags else np.zeros(self.facts["tokens"], np.uint8)

    @cached_property
    def form_keys(self) -> tuple[Strings, U32]:
        """FOLDED FORM TAB KEY, sorted, and how often."""
        return self._strings("forms"), self._map("forms.count")

    @cached_property
    def document_lengths(self) -> I64:
        return np.diff(np.append(self.document_starts.astype(np.int64), self.facts["tokens"]))

    @cached_property
    def own_documents(self) -> I64:
        """Numbers of the documents that begin here: the first may be the rest of one that began in another segment."""
        return np.arange(max(0, len(self.documents) - self.facts["documents"]), len(self.documents))

    @cached_property
    def runs(self) -> tuple[I64, I64]:
        """Starts and ends of the runs of tokens that count: here all, in a subcorpus those of selected documents."""
        return np.zeros(1, np.int64), np.array([self.facts["tokens"]], np.int64)

    @cached_property
    def attributes(self) -> AttributeColumns:
        names = tuple(self.facts.get("attributes", ()))
        if not names:
            return AttributeColumns.of([()] * len(self.documents))
        bounds, where, what = (self._map(f"attributes.{name}") for name in ("bounds", "document", "value"))
        values = self._strings("attributes")
        return AttributeColumns(names, bounds, where, what, values, len(self.documents))

    def other_keys(self, forms: Sequence[str]) -> FormCounts:
        """How often each folded form occurs under keys that are not the form itself."""
        pairs, counts = self.form_keys
        # Entries are FORM TAB KEY, and a line feed is the byte after TAB.
        opening, closing = (Strings.of(form + end for form in forms) for end in "\t\n")
        lows, highs = pairs.first_not_below(opening), pairs.first_not_below(closing)
        return {
            (forms[i], pairs[entry].partition("\t")[2]): int(counts[entry])
            for i in np.flatnonzero(lows < highs).tolist()
            for entry in range(int(lows[i]), int(highs[i]))
        }

    def positions_of(self, keys: I64) -> tuple[U32, I64, I64]:
        """An array of positions, and where in it those of each key begin and end; -1 is no key."""
        bounds, known = self.posting_bounds, keys >= 0
        lows = np.where(known, bounds[np.where(known, keys, 0)], 0)
        highs = np.where(known, bounds[np.where(known, keys + 1, 0)], 0)
        return self.postings, lows.astype(np.int64), highs.astype(np.int64)

    def key_positions(self, key: int) -> U32:
        positions, lows, highs = self.positions_of(np.array([key]))
        return positions[lows[0] : highs[0]]


@kernel
def count_types(tokens, starts, ends, counts):  # type: ignore[no-untyped-def]
    """Count the types of the tokens in some runs; np.bincount would copy the tokens as 64-bit numbers."""
    for r in range(starts.size):
        for i in range(np.uint64(starts[r]), np.uint64(ends[r])):
            counts[tokens[i] & TYPE_MASK] += 1


def sum_keys(found: Iterable[FormCounts]) -> dict[str, Counter[str]]:
    """Of each form, how often it occurs under each of its keys in several segments."""
    sums: dict[str, Counter[str]] = {}
    for own in found:
        for (form, key), count in own.items():
            sums.setdefault(form, Counter())[key] += count
    return sums


def bytes_of_keys(options: TextOptions) -> tuple[U8, Bools]:
    """What each byte becomes in a key, and which bytes are left to `folding`."""
    small = np.arange(256, dtype=np.uint8)
    slow = small >= 128
    if options.case == "fold":
        small[65:91] += 32
    return small, slow


def fold_all(strings: Strings, options: TextOptions) -> Strings:
    return strings.mapped(*bytes_of_keys(options), folding(options))


Attributes = tuple[tuple[str, str], ...]  # names and values, such as genre and fiction


@dataclass(frozen=True)
class AttributeColumns:
    """Attribute k is that of documents[bounds[k]:bounds[k + 1]], ascending; `numbers` are those of its values."""

    names: tuple[str, ...]
    bounds: I64
    documents: U32
    numbers: U32
    values: Strings
    size: int  # documents

    @classmethod
    def of(cls, documents: Sequence[Attributes]) -> AttributeColumns:
        """From the attributes of each document; of a repeated one, the last is taken. Empty values are none."""
        listed = [{name: value for name, value in own if value} for own in documents]
        names = sorted({name for own in listed for name in own})
        values = sorted({value for own in listed for value in own.values()}, key=str.encode)
        row = {name: index for index, name in enumerate(names)}
        number = {value: index for index, value in enumerate(values)}
        cells = sorted(
            (row[name], document, number[value])
            for document, own in enumerate(listed)
            for name, value in own.items()
        )
        table = np.array(cells, np.int64).reshape(-1, 3)
        bounds = np.searchsorted(table[:, 0], np.arange(len(names) + 1))
        where, what = table[:, 1].astype(np.uint32), table[:, 2].astype(np.uint32)
        return cls(tuple(names), bounds, where, what, Strings.of(values), len(documents))

    def arrays(self) -> dict[str, Values]:
        names = [f"attributes.{name}" for name in ("bounds", "document", "value")]
        arrays: list[Values] = [self.bounds, self.documents, self.numbers]
        return {**self.values.files("attributes"), **dict(zip(names, arrays, strict=True))}

    def column(self, name: str) -> tuple[U32, list[str]]:
        """For each document the place of its value in the list, whose first item, an empty string, means none."""
        places = np.zeros(self.size, np.uint32)
        if name not in self.names:
            return places, [""]
        which = self.names.index(name)
        cells = slice(int(self.bounds[which]), int(self.bounds[which + 1]))
        used, inverse = np.unique(self.numbers[cells], return_inverse=True)
        places[self.documents[cells]] = inverse + 1
        return places, ["", *(self.values[int(number)] for number in used.tolist())]

    def counts(self, name: str, documents: I64) -> Counter[str]:
        """Of some documents, how many have each value of an attribute."""
        places, texts = self.column(name)
        counted = np.bincount(places[documents], minlength=len(texts)).tolist()
        return Counter({text: count for text, count in zip(texts, counted, strict=True) if text and count})


class Lexicon:
    """The corpus's keys, sorted, with counts; memory-mapped.

    All files are mapped at once, so that a corpus that is open stays usable while another process appends to it: an
    append writes a new lexicon and removes the old one.
    """

    def __init__(self, directory: Path, tokens: int, keys: int) -> None:
        format.check(directory, format.LEXICON, {"tokens": tokens, "keys": keys})
        files = format.LEXICON.items()
        arrays = {name: read_only(map_array(directory / name, array.dtype)) for name, array in files}
        self.keys = Strings(arrays["keys.blob"], arrays["keys.offsets"])  # in code-point order
        self.counts: I64 = arrays["keys.count"]  # tokens of each key
        self.forms = Strings(arrays["forms.blob"], arrays["forms.offsets"])
        self.form_keys: I64 = arrays["forms.key"]

    def counts_of(self, numbers: I64) -> I64:
        return self.counts[numbers]

    def find(self, words: Iterable[str]) -> I64:
        """Key index of each word: as a key, failing that as a form; -1 if the corpus has neither."""
        wanted = Strings.of(words)
        found = self.keys.find(wanted)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            by_form = self.forms.find(wanted.take(missing))
            known = by_form >= 0
            found[missing[known]] = self.form_keys[by_form[known]]
        return found
