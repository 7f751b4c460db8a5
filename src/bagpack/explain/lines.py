"""The observations of a pair, found once: its counts, and the lines that made `v12:+betw:such as` twelve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, cast

import numpy as np

from bagpack.arrays import I64, Bools, Csr
from bagpack.basis import Basis, words_of
from bagpack.contexts.concordance import REST, Context, show_all
from bagpack.contexts.count import make_rows, sum_features
from bagpack.contexts.kernels import BOTH, MINUS, PLUS
from bagpack.contexts.occurrences import Observations, observe
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import GLUED, TYPE_MASK
from bagpack.corpus.segment import Segment
from bagpack.errors import UsageError
from bagpack.explain.keyness import reach, tokens_in
from bagpack.names import COSINE, PRODUCT, STATISTICS, WORD_SEGMENTS, Feature, parse_feature
from bagpack.vectors.counts import PairCounts, count_pairs

W1, W2, TERM = "w1", "w2", "term"
ORDERS = {"+": (PLUS, BOTH), "-": (MINUS, BOTH), "w1 first": (PLUS, BOTH), "w2 first": (MINUS, BOTH)}


class Span(NamedTuple):
    """A piece of text and what it is: `w1`, `w2`, `term`, or nothing of these."""

    text: str
    mark: str = ""


@dataclass(frozen=True)
class FeatureLines:
    """Lines that made a feature's count: `lines` of the `total` contexts that contain the term.

    `spans` are the same lines with the term and both targets marked.
    """

    count: int
    total: int
    lines: tuple[Context, ...] = ()
    spans: tuple[tuple[Span, ...], ...] = ()

    def line_dicts(self) -> list[dict[str, Any]]:
        both = zip(self.lines, self.spans, strict=True)
        return [{**line_dict(line), "spans": list(spans)} for line, spans in both]


class PairEvidence:
    """The observations of one pair, found once: counts, sketches and lines are taken from them."""

    def __init__(self, source: ContextSource, w1: Target, w2: Target, settings: CountSettings) -> None:
        self.source, self.targets, self.settings = source, (w1, w2), settings
        self.lengths = (len(w1.keys), len(w2.keys))
        self.name, self.content_hash = source.name, source.content_hash

    @classmethod
    def of(cls, source: ContextSource, w1: str, w2: str, settings: CountSettings) -> PairEvidence | None:
        """The evidence of two words; None if one of them is unknown."""
        first, second = source.resolve([w1, w2])
        return cls(source, first, second, settings) if first and second else None

    @cached_property
    def together(self) -> list[Observations]:
        """All co-occurrences, in corpus order."""
        return observe(self.source.for_pairs, self.targets, self.settings.windows.between, None)[0]

    @cached_property
    def counted(self) -> list[Observations]:
        """The co-occurrences that are counted: the first ones, up to the limit."""
        if self.settings.limit is None:
            return self.together
        ends = np.cumsum([len(item) for item in self.together])
        left = self.settings.limit - np.concatenate([[0], ends[:-1]])
        return [item.take(slice(max(0, int(most)))) for item, most in zip(self.together, left, strict=True)]

    @cached_property
    def _words(self) -> dict[Target, list[Observations]]:
        corpus, limit = self.source.for_words, self.settings.limit
        return {target: observe(corpus, [target], 0, limit)[0] for target in set(self.targets)}

    # Counts --------------------------------------------------------------------------------------------------------

    def counts(self, w1: str, w2: str, basis: Basis) -> PairCounts:
        """The pair's counts, as those of any pair, under the words that it was asked for with."""
        target_of = dict(zip((w1, w2), self.targets, strict=True))
        source = cast(ContextSource, self)
        return count_pairs(source, [(w1, w2)], basis, self.settings, target_of=target_of)

    def count_words(
        self, targets: Sequence[Target], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, I64]:
        return self.source.count_words(targets, basis, settings)

    def count_pairs(
        self, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, I64]:
        """The row of the pair, in the order that is asked for, from its observations."""
        if not isinstance(self.source, Corpus):  # snippets are few, and know which pairs were fetched
            return self.source.count_pairs(pairs, basis, settings)
        other = pairs[0] != self.targets
        one, two = (np.array([length]) for length in (self.lengths[::-1] if other else self.lengths))
        order_of = np.array([MINUS, PLUS, BOTH] if other else [PLUS, MINUS, BOTH], np.uint8)
        taken = np.zeros((1, 2), np.int64)
        turned = [
            (replace(item, orders=order_of[item.orders]), np.array([len(item)])) for item in self.counted
        ]
        ends, values, columns = sum_features(self.source.segments, turned, one, two, basis, settings, taken)
        found = sum(
            (np.bincount(order_of[item.orders], minlength=3) for item in self.together), np.zeros(3, np.int64)
        )
        rows = make_rows(values, columns, ends, 6 * len(basis))
        return rows, np.hstack([(found[:2] + found[BOTH])[None, :], taken])

    # Lines ---------------------------------------------------------------------------------------------------------

    def lines(
        self, feature: str, most: int | None = None, marked: Sequence[str] | None = None
    ) -> FeatureLines:
        """The contexts that contain a feature's term, in corpus order, `most` of them shown.

        Products of v1 and v2 have the lines of both words, half of each; statistics of the pair have
        the lines where it is seen; the cosine of v1 and v2 has none. `marked` are the terms to mark; None marks the
        feature's own.
        """
        block, segment, term = feature_parts(feature)
        if block == COSINE:
            return FeatureLines(0, 0)
        if marked is None:
            marked = [term] if term else []
        if block == PRODUCT:
            half = None if most is None else (most + 1) // 2
            one, two = (self.lines(f"{single}:{segment}:{term}", half, marked) for single in ("v1", "v2"))
            count, total = min(one.count, two.count), one.total + two.total
            return FeatureLines(count, total, (one.lines + two.lines)[:most], (one.spans + two.spans)[:most])
        corpus, observed, lengths = self.source.for_pairs, self.counted, list(self.lengths)
        if block not in ("v12", STATISTICS):
            target = self.targets[block == "v2"]
            corpus, observed, lengths = self.source.for_words, self._words[target], [len(target.keys)]
        total = 0
        shown: list[Context] = []
        spans: list[tuple[Span, ...]] = []
        windows = self.settings.windows
        for item in observed:
            stored = corpus.segments[item.segment]
            if (
                segment not in WORD_SEGMENTS
                and (sign := segment if segment in ORDERS else segment[0]) in ORDERS
            ):
                item = item.take(np.flatnonzero(np.isin(item.orders, ORDERS[sign])))
            starts, ends = segment_bounds(stored, item, segment, lengths, windows)
            hits = np.flatnonzero(_holds(stored, starts, ends, term)) if term else np.arange(len(item))
            total += hits.size
            for index in hits[: None if most is None else most - len(shown)].tolist():
                shown += show_all(corpus, item.take(slice(index, index + 1)), lengths, windows)
                place = int(starts[index]), int(ends[index])
                spans.append(mark_line(stored, shown[-1], self.targets, lengths, windows, place, marked))
        return FeatureLines(total, total, tuple(shown), tuple(spans))


def segment_bounds(
    stored: Segment, item: Observations, segment: str, lengths: Sequence[int], windows: Windows
) -> tuple[I64, I64]:
    """Where a segment (`pre`, `+betw` …) of each observation starts and ends; nowhere for that of a statistic."""
    single = segment in WORD_SEGMENTS
    first_ends, second_ends = item.ends(lengths)
    place = segment.lstrip("+-")
    if place == "pre":
        return reach(stored, item.firsts, windows.before if single else windows.left, backwards=True)
    if place == "post":
        after = (first_ends, windows.after) if single else (second_ends, windows.right)
        return reach(stored, *after, backwards=False)
    return first_ends, item.seconds if place == "betw" else first_ends


def _holds(stored: Segment, starts: I64, ends: I64, term: str) -> Bools:
    """Which segments contain a term."""
    keys = stored.keys.find(words_of(term)).tolist()
    positions, window = tokens_in(starts, np.maximum(ends - len(keys) + 1, starts))
    found = np.full(positions.size, min(keys) >= 0)
    for n, key in enumerate(keys):
        found &= stored.key_of_type[stored.tokens[positions + n] & TYPE_MASK] == key
    return np.bincount(window[found], minlength=starts.size) > 0


def line_dict(context: Context) -> dict[str, Any]:
    """A line as plain data: its fields, and `pieces`, which joined are the text as written."""
    return {**context.to_dict(), "pieces": list(context.pieces)}


def feature_parts(feature: str) -> Feature:
    """A feature's name taken apart; any other name is an error."""
    found = parse_feature(feature)
    if found is None:
        raise UsageError(f"{feature!r} is not a feature; features look like v12:+betw:such as")
    return found


def mark_line(
    stored: Segment, context: Context, targets: Sequence[Target], lengths: Sequence[int], windows: Windows,
    segment: tuple[int, int], terms: Iterable[str],
) -> tuple[Span, ...]:  # fmt: skip
    """The text of a context in spans; joined they are the text as written.

    Parameters
    ----------
    targets
        First and second word, both marked wherever the line has them.
    lengths
        Tokens of the targets that the context is of: one for a word, two for a pair.
    segment
        Start and end of the tokens in which the terms were counted.
    """
    single = context.second < 0
    last_length = lengths[0] if context.order == "-" else lengths[-1]
    last = (context.position if single else context.second) + last_length
    before, after = (windows.before, windows.after) if single else (windows.left, windows.right)
    start = int(reach(stored, np.array([context.position]), before + REST, backwards=True)[0][0])
    end = int(reach(stored, np.array([last]), after + REST, backwards=False)[1][0])
    tokens = stored.tokens[start:end]
    types = (tokens & TYPE_MASK).tolist()
    keys = [stored.keys[int(stored.key_of_type[number])] for number in types]
    marks = [""] * len(keys)
    for term in terms:
        _mark(marks, keys[: segment[1] - start], words_of(term), TERM, max(segment[0] - start, 0))
    for target, name in ((targets[1], W2), (targets[0], W1)):
        _mark(marks, keys, list(target.words), name)
    pieces: list[tuple[str, str]] = []  # a space has the mark of its neighbours, if they have the same
    for number, token, mark, last_mark in zip(types, tokens.tolist(), marks, ["", *marks], strict=False):
        if not token & GLUED:
            pieces.append((" ", mark if mark == last_mark else ""))
        pieces.append((stored.forms[number], mark))
    return tuple(Span("".join(text for text, _ in run), mark) for mark, run in groupby(pieces, itemgetter(1)))


def _mark(marks: list[str], keys: Sequence[str], wanted: list[str], name: str, start: int = 0) -> None:
    """Mark tokens, given by their keys, that follow each other as wanted."""
    for at in range(start, len(keys) - len(wanted) + 1):
        if list(keys[at : at + len(wanted)]) == wanted:
            marks[at : at + len(wanted)] = [name] * len(wanted)
