"""The observations behind a count: which corpus lines made `v12:+betw:such as` twelve, with their words marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import words_of
from bagpack.contexts import kernels
from bagpack.contexts.concordance import REST, Context, show
from bagpack.contexts.occurrences import ShardObservations, observe
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.format import GLUED, TYPE_MASK
from bagpack.corpus.segment import Shard
from bagpack.errors import UsageError
from bagpack.explain.keyness import reach
from bagpack.kernels import kernel
from bagpack.names import COSINE, PRODUCT, STATISTICS, WORD_SEGMENTS, Feature, parse_feature

I64 = NDArray[np.int64]
W1, W2, TERM = "w1", "w2", "term"
ORDERS: dict[str, tuple[int, ...]] = {"+": (kernels.PLUS, kernels.BOTH), "-": (kernels.MINUS, kernels.BOTH)}
ORDERS |= {"w1 first": ORDERS["+"], "w2 first": ORDERS["-"]}


@kernel
def _hits(tokens, key_of_type, starts, ends, keys, out):  # type: ignore[no-untyped-def]
    """How often the term of these keys occurs in each segment."""
    for i in range(starts.size):
        out[i] = 0
        for position in range(starts[i], ends[i] - keys.size + 1):
            found = True
            for n in range(keys.size):
                found &= key_of_type[tokens[position + n] & TYPE_MASK] == keys[n]
            out[i] += found


class Span(NamedTuple):
    """A piece of text and what it is: `w1`, `w2`, `term`, or nothing of these."""

    text: str
    mark: str = ""


@dataclass(frozen=True)
class FeatureLines:
    """Lines that made a feature's count: `lines` of the `total` contexts that contain the term.

    `spans` are the same lines with the term and both targets marked.
    """

    name: str
    count: int
    total: int
    lines: tuple[Context, ...]
    spans: tuple[tuple[Span, ...], ...]

    def line_dicts(self) -> list[dict[str, Any]]:
        """The lines as plain data."""
        return [
            {**line_dict(line), "spans": list(spans)}
            for line, spans in zip(self.lines, self.spans, strict=True)
        ]


class PairEvidence:
    """The observations of one pair, found once: sketches, features and lines are taken from them."""

    def __init__(self, source: ContextSource, w1: Target, w2: Target, settings: CountSettings) -> None:
        self.targets = (w1, w2)
        self.settings = settings
        self.word_corpus, self.pair_corpus = source.for_words, source.for_pairs

    @cached_property
    def _words(self) -> dict[Target, list[ShardObservations]]:
        return {
            target: observe(self.word_corpus, [target], 0, self.settings.limit).shards
            for target in set(self.targets)
        }

    @cached_property
    def together(self) -> list[ShardObservations]:
        """All co-occurrences, in corpus order."""
        return observe(self.pair_corpus, self.targets, self.settings.windows.between, None).shards

    @cached_property
    def _pairs(self) -> list[ShardObservations]:
        """The co-occurrences that are counted: the first ones, up to the limit."""
        if "together" not in self.__dict__:  # not all of them were asked for
            between, limit = self.settings.windows.between, self.settings.limit
            return observe(self.pair_corpus, self.targets, between, limit).shards
        left = self.settings.limit
        counted = []
        for item in self.together:
            counted.append(item if left is None else item.take(np.arange(min(left, len(item)))))
            left = None if left is None else left - len(counted[-1])
        return counted

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
            return FeatureLines(feature, 0, 0, (), ())
        if marked is None:
            marked = [term] if term else []
        if block == PRODUCT:
            half = None if most is None else (most + 1) // 2
            one, two = (self.lines(f"{single}:{segment}:{term}", half, marked) for single in ("v1", "v2"))
            count = min(one.count, two.count)
            return FeatureLines(
                feature, count, one.total + two.total, (one.lines + two.lines)[:most],
                (one.spans + two.spans)[:most],
            )  # fmt: skip
        targets: Sequence[Target] = self.targets
        if block in ("v12", STATISTICS):
            corpus, observed = self.pair_corpus, self._pairs
        else:
            targets = self.targets[:1] if block == "v1" else self.targets[1:]
            corpus, observed = self.word_corpus, self._words[targets[0]]
        total = 0
        shown: list[Context] = []
        spans: list[tuple[Span, ...]] = []
        lengths, windows = [len(target.keys) for target in targets], self.settings.windows
        for item in observed:
            shard = corpus.shards[item.shard]
            hits, keep, starts, ends = self._hits(shard, item, segment, term, lengths)
            total += int((hits > 0).sum())
            for index in np.flatnonzero(hits > 0).tolist():
                if most is not None and len(shown) >= most:
                    break
                shown.append(show(corpus, item.at(keep[index]), lengths, windows))
                place = int(starts[index]), int(ends[index])
                spans.append(mark_line(shard, shown[-1], self.targets, lengths, windows, place, marked))
        return FeatureLines(feature, total, total, tuple(shown), tuple(spans))

    def _hits(
        self, shard: Shard, item: ShardObservations, segment: str, term: str, lengths: Sequence[int]
    ) -> tuple[I64, I64, I64, I64]:
        """Hits per observation of the segment's order, which observations those are, and where the segment is.

        A statistic, which has no term, is about every observation of its order.
        """
        single = segment in WORD_SEGMENTS
        keep = np.arange(len(item))
        if not single:
            wanted = ORDERS.get(segment) or ORDERS.get(segment[0], ORDERS["+"] + ORDERS["-"])
            keep = np.flatnonzero(np.isin(item.orders, wanted))
        if not term:
            nowhere = np.zeros(keep.size, np.int64)
            return np.ones_like(nowhere), keep, nowhere, nowhere
        kept = item.take(keep)
        first_ends, second_ends = kept.ends(lengths)
        windows = self.settings.windows
        place = segment.lstrip("+-")
        if place == "pre":
            starts, ends = reach(shard, kept.firsts, windows.before if single else windows.left, True)
        elif place == "betw":
            starts, ends = first_ends, kept.seconds
        elif single:
            starts, ends = reach(shard, first_ends, windows.after, False)
        else:
            starts, ends = reach(shard, second_ends, windows.right, False)
        hits = np.empty(keep.size, np.int64)
        keys = shard.keys.find(words_of(term))
        if keys.min() < 0:
            hits[:] = 0
        else:
            _hits(shard.tokens, shard.key_of_type, starts, ends, keys, hits)
        return hits, keep, starts, ends


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
    shard: Shard, context: Context, targets: Sequence[Target], lengths: Sequence[int], windows: Windows,
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
    minus = context.order == "-"
    first_end = context.position + (lengths[-1] if minus else lengths[0])
    last = first_end if single else context.second + (lengths[0] if minus else lengths[-1])
    before, after = (windows.before, windows.after) if single else (windows.left, windows.right)
    start = int(reach(shard, np.array([context.position]), before + REST, backwards=True)[0][0])
    end = int(reach(shard, np.array([last]), after + REST, backwards=False)[1][0])
    tokens = shard.tokens[start:end]
    types = (tokens & TYPE_MASK).tolist()
    keys = [shard.keys[int(shard.key_of_type[number])] for number in types]
    marks = [""] * len(keys)
    low, high = segment[0] - start, segment[1] - start
    for term in terms:
        _mark(marks, keys[:high], words_of(term), TERM, max(low, 0))
    for target, name in ((targets[1], W2), (targets[0], W1)):
        _mark(marks, keys, list(target.words), name)
    pieces: list[tuple[str, str]] = []  # a space has the mark of its neighbours, if they have the same
    for number, token, mark, last_mark in zip(types, tokens.tolist(), marks, ["", *marks], strict=False):
        if not token & GLUED:
            pieces.append((" ", mark if mark == last_mark else ""))
        pieces.append((shard.forms[number], mark))
    return tuple(Span("".join(text for text, _ in run), mark) for mark, run in groupby(pieces, itemgetter(1)))


def _mark(marks: list[str], keys: Sequence[str], wanted: list[str], name: str, start: int = 0) -> None:
    """Mark tokens, given by their keys, that follow each other as wanted."""
    for at in range(start, len(keys) - len(wanted) + 1):
        if list(keys[at : at + len(wanted)]) == wanted:
            marks[at : at + len(wanted)] = [name] * len(wanted)
