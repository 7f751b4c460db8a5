"""A subcorpus: the documents of a store that satisfy a condition.

Nothing is copied. Tokens, postings and vocabulary are those of the store; the occurrences of a word are its postings
inside the selected documents. Every document begins with a sentence, so no window leaves one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bagpack.arrays import I64, U32, Bools
from bagpack.corpus.corpus import WHERE, Corpus, Segments, divide_name, most_frequent
from bagpack.corpus.format import SENTENCE_START
from bagpack.corpus.options import TextOptions
from bagpack.corpus.segment import FormCounts, Segment, count_types, fold_all, sum_keys
from bagpack.corpus.strings import FEW
from bagpack.corpus.text.tags import UNIVERSAL
from bagpack.corpus.where import Where
from bagpack.errors import UsageError
from bagpack.files import digest
from bagpack.kernels import read_only

FEW_POSITIONS = 1 << 16  # that are looked up run by run: marking all tokens of the segment would take longer


def selected_tokens(segment: Segment) -> Bools:
    starts, ends = segment.runs
    changes = np.zeros(segment.tokens.size + 1, np.int8)
    changes[starts], changes[ends] = 1, -1
    return np.cumsum(changes[:-1], dtype=np.int8).view(np.bool_)


class SegmentPart(Segment):
    """A segment of which only the documents count that a condition selects. Positions are those of the segment."""

    def __init__(self, directory: Path, condition: str, options: TextOptions) -> None:
        super().__init__(directory)
        self.condition = condition
        self.options = options

    @cached_property
    def selected(self) -> Bools:
        return Where(self.condition).documents(self)

    @cached_property
    def document_lengths(self) -> I64:
        """Tokens of each document, 0 if it is not selected."""
        return np.where(self.selected, super().document_lengths, 0)

    @cached_property
    def own_documents(self) -> I64:
        own = super().own_documents
        return own[self.selected[own]]

    @cached_property
    def runs(self) -> tuple[I64, I64]:
        """Starts and ends of the selected tokens; documents that follow each other are one run."""
        lengths = self.document_lengths
        starts = self.document_starts[lengths > 0].astype(np.int64)
        ends = starts + lengths[lengths > 0]
        apart = starts[1:] != ends[:-1]
        return starts[np.append(True, apart)[: starts.size]], ends[np.append(apart, True)[: starts.size]]

    def positions_of(self, keys: I64) -> tuple[U32, I64, I64]:
        """Positions of the keys in selected documents, and where those of each key begin and end; -1 is no key."""
        postings, lows, highs = super().positions_of(keys)
        own = np.concatenate([postings[:0], *(postings[i:j] for i, j in zip(lows, highs, strict=True))])
        if own.size <= FEW_POSITIONS:
            starts, ends = self.runs
            run = np.searchsorted(starts, own, side="right") - 1
            inside = (run >= 0) & (own < ends[run])
        else:
            inside = selected_tokens(self)[own]
        kept = np.append(0, np.cumsum(inside))
        bounds = kept[np.append(0, np.cumsum(highs - lows))]
        return read_only(own[inside]), bounds[:-1], bounds[1:]

    @cached_property
    def type_counts(self) -> U32:  # type: ignore[override]
        counts = np.zeros(len(self.forms), np.uint32)
        count_types(self.tokens, *self.runs, counts)
        return counts

    def other_keys(self, forms: Sequence[str]) -> FormCounts:
        found = super().other_keys(forms)
        if not found:
            return found
        asked = np.zeros(len(self.keys), np.bool_)
        asked[self.keys.find({key for _, key in found})] = True
        types = np.flatnonzero(asked[self.key_of_type] & (self.type_counts > 0))
        folded = fold_all(self.forms.take(types), self.options)
        keys = self.keys.take(self.key_of_type[types].astype(np.int64))
        counts: Counter[tuple[str, str]] = Counter()
        for form, key, count in zip(folded, keys, self.type_counts[types].tolist(), strict=True):
            counts[form.decode(), key.decode()] += count
        return {pair: counts[pair] for pair in found if counts[pair]}


class PartLexicon:
    """The keys of the store, sorted, with their counts in a subcorpus, where some do not occur."""

    def __init__(self, segments: Sequence[Segment], whole: Corpus) -> None:
        self._segments = segments
        self._whole = whole.lexicon
        self.keys = whole.lexicon.keys

    @cached_property
    def counts(self) -> I64:
        counts = np.zeros(len(self.keys), np.int64)
        for segment in self._segments:
            own = np.bincount(segment.key_of_type, segment.type_counts, len(segment.keys)).astype(np.int64)
            occurring = np.flatnonzero(own)
            counts[self.keys.find(segment.keys.take(occurring))] += own[occurring]
        return counts

    def counts_of(self, numbers: I64) -> I64:
        """Selected tokens of some keys by number; of few without a pass over the subcorpus."""
        if numbers.size > FEW:
            return self.counts[numbers]
        words = self.keys.take(numbers)
        total = np.zeros(numbers.size, np.int64)
        for segment in self._segments:
            _, lows, highs = segment.positions_of(segment.keys.find(words))
            total += highs - lows
        return total

    def find(self, words: Iterable[str]) -> I64:
        """Key index of each word: as a key, failing that as a form; -1 if the subcorpus has neither."""
        listed = list(words)
        found = self.keys.find(listed)
        keys = np.flatnonzero(found >= 0)
        found[keys[self.counts_of(found[keys]) == 0]] = -1
        missing = np.flatnonzero(found < 0)
        missing = missing[self._whole.find(listed[k] for k in missing.tolist()) >= 0]
        if missing.size:
            forms = [listed[k] for k in missing.tolist()]
            sums = sum_keys(segment.other_keys(forms) for segment in self._segments)
            usual = {form: min(keys, key=lambda key: (-keys[key], key)) for form, keys in sums.items()}
            found[missing] = self.keys.find(usual.get(form, "") for form in forms)
        return found


class Subcorpus(Corpus):
    """The corpus of the documents that a condition selects; all numbers are those of an index of these alone."""

    def __init__(self, whole: Corpus, condition: str) -> None:
        super().__init__(whole.path, whole.manifest)
        self.whole = whole
        self.condition = condition
        opened = partial(SegmentPart, condition=condition, options=whole.options)
        every = [opened(directory) for directory in whole.segments.directories]
        self._selected = [segment.selected for segment in every]
        tokens = [int(segment.document_lengths.sum()) for segment in every]
        self.name = f"{whole.name}{WHERE}{condition}"
        self.absolute_name = f"{whole.absolute_name}{WHERE}{condition}"
        self.tokens, self.documents = sum(tokens), sum(segment.own_documents.size for segment in every)
        self.segment_tokens = [own for own in tokens if own]
        used = [segment.directory for segment, own in zip(every, tokens, strict=True) if own]
        self.segments = Segments(used, opened)

    def __reduce__(self) -> tuple[Any, ...]:
        return Subcorpus, (self.whole, self.condition)

    @cached_property
    def sentences(self) -> int:
        opening = (segment.tokens[selected_tokens(segment)] & SENTENCE_START for segment in self.segments)
        return sum(map(int, map(np.count_nonzero, opening)))

    @cached_property
    def types(self) -> int:
        return int(np.count_nonzero(self.lexicon.counts))

    @cached_property
    def attribute_names(self) -> list[str]:
        return list(self.attributes)

    @cached_property
    def content_hash(self) -> str:
        """Depends on the store and on which documents are selected, not on how the condition is written."""
        selections = "\n".join(digest(np.packbits(selected).tobytes()) for selected in self._selected)
        identity = [self.whole.content_hash, digest(selections.encode())]
        return digest("\n".join([*identity, str(sorted(self.options.to_dict().items()))]).encode())

    @cached_property
    def tags(self) -> dict[str, int]:
        total = np.zeros(len(UNIVERSAL), np.int64)
        for segment in self.segments:
            if segment.has_tags:
                total += np.bincount(segment.tags[selected_tokens(segment)], minlength=total.size)
        return most_frequent(dict(zip(UNIVERSAL, total.tolist(), strict=True)))

    @cached_property
    def lexicon(self) -> PartLexicon:  # type: ignore[override]
        return PartLexicon(self.segments, self.whole)

    def verify(self) -> list[str]:
        return self.whole.verify()


def select_documents(corpus: Corpus, condition: str) -> Subcorpus:
    """The corpus of the documents that satisfy a condition on their attributes; see `bagpack.corpus.where`."""
    where = Where(condition)
    where.check_names(corpus.attribute_names)
    if isinstance(corpus, Subcorpus):
        return _select(corpus.whole, f"({corpus.condition}) and ({where.text})")
    return _select(corpus, where.text)


@lru_cache(maxsize=4)  # a command opens it several times
def _select(corpus: Corpus, condition: str) -> Subcorpus:
    part = Subcorpus(corpus, condition)
    if not part.segments:
        raise UsageError(
            f"no document of {corpus.name} satisfies {condition!r}; bagpack info lists the values"
        )
    return part


def open_corpus(name: str | Path) -> Corpus:
    """Open a store, or by a name such as `my.bp where year >= 1900` a part of it."""
    path, condition = divide_name(name)
    corpus = Corpus.open(path)
    return corpus if condition is None else select_documents(corpus, condition)
