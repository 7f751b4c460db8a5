"""The observations behind a count: which corpus lines made `v12:+betw:such as` twelve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis.terms import split_term
from bagpack.contexts import kernels
from bagpack.contexts.basis_tables import NO_TAGS
from bagpack.contexts.concordance import Context, show
from bagpack.contexts.observations import ShardObservations, observe
from bagpack.contexts.source import ContextSource, CorpusSource
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import TYPE_MASK
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.text.tagsets import CODES
from bagpack.errors import UsageError
from bagpack.explain.keyness import reach
from bagpack.explain.marking import Span, mark_line
from bagpack.jit import kernel
from bagpack.names import COSINE, DIFFERENCE, JOINED, STATISTICS, WORD_SEGMENTS, Feature, parse_feature

I64 = NDArray[np.int64]
ANY = -1  # instead of a key or a tag
ORDERS: dict[str, tuple[int, ...]] = {"+": (kernels.PLUS, kernels.BOTH), "-": (kernels.MINUS, kernels.BOTH)}
ORDERS |= {"w1 first": ORDERS["+"], "w2 first": ORDERS["-"]}


@kernel
def _hits(tokens, tags, key_of_type, starts, ends, keys, wanted_tags, out):  # type: ignore[no-untyped-def]
    """How often the term of these words, each a key and a tag (or ANY), occurs in each segment."""
    for i in range(starts.size):
        out[i] = 0
        for position in range(starts[i], ends[i] - keys.size + 1):
            found = True
            for n in range(keys.size):
                found &= keys[n] == ANY or key_of_type[tokens[position + n] & TYPE_MASK] == keys[n]
                found &= wanted_tags[n] == ANY or tags[position + n] == wanted_tags[n]
            out[i] += found


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
    """All counted observations of one pair, from which any feature's lines can be taken."""

    def __init__(
        self, source: ContextSource, w1: Target, w2: Target, settings: CountSettings, tagged: bool = False
    ) -> None:
        """`tagged`: whether terms may have parts of speech (`Basis.tagged`)."""
        self.targets = (w1, w2)
        self.settings = settings
        self.tagged = tagged
        self.word_corpus, self.pair_corpus = corpora_of(source)

    @cached_property
    def _words(self) -> dict[Target, list[ShardObservations]]:
        limit, sample = self.settings.limit, self.settings.sample
        return {
            target: observe(self.word_corpus, [target], 0, limit, sample).shards
            for target in set(self.targets)
        }

    @cached_property
    def _pairs(self) -> list[ShardObservations]:
        return pair_observations(self.pair_corpus, *self.targets, self.settings)

    def lines(
        self, feature: str, most: int | None = None, marked: Sequence[str] | None = None
    ) -> FeatureLines:
        """The contexts that contain a feature's term, in corpus order, `most` of them shown.

        Products and differences of v1 and v2 have the lines of both words, half of each; statistics of the pair have
        the lines where it is seen; the cosine of v1 and v2 has none. `marked` are the terms to mark; None marks the
        feature's own.
        """
        block, segment, term = feature_parts(feature)
        if block == COSINE:
            return FeatureLines(feature, 0, 0, (), ())
        if marked is None:
            marked = [term] if term else []
        if block in JOINED:
            half = None if most is None else (most + 1) // 2
            one, two = (self.lines(f"{single}:{segment}:{term}", half, marked) for single in ("v1", "v2"))
            count = one.count - two.count if block == DIFFERENCE else min(one.count, two.count)
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
        count = total = 0
        shown: list[Context] = []
        spans: list[tuple[Span, ...]] = []
        lengths, windows = [len(target.keys) for target in targets], self.settings.windows
        for item in observed:
            shard = corpus.shards[item.shard]
            hits, keep, starts, ends = self._hits(shard, item, segment, term, lengths)
            total += int((hits > 0).sum())
            count += int(hits.sum()) if self.settings.count == "token" else int((hits > 0).sum())
            for index in np.flatnonzero(hits > 0).tolist():
                if most is not None and len(shown) >= most:
                    break
                shown.append(show(corpus, item.at(keep[index]), lengths, windows))
                place = int(starts[index]), int(ends[index])
                spans.append(
                    mark_line(shard, shown[-1], self.targets, lengths, windows, place, marked, self.tagged)
                )
        return FeatureLines(feature, count, total, tuple(shown), tuple(spans))

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
        words = term_words(shard, term, self.tagged)
        if words is None:
            hits[:] = 0
        else:
            tags = shard.tags if self.tagged else NO_TAGS
            _hits(shard.tokens, tags, shard.key_of_type, starts, ends, *words, hits)
        return hits, keep, starts, ends


def line_dict(context: Context) -> dict[str, Any]:
    """A line as plain data: its fields, and `pieces`, which joined are the text as written."""
    return {**context.to_dict(), "pieces": list(context.pieces)}


def term_words(shard: Shard, term: str, tagged: bool = False) -> tuple[I64, I64] | None:
    """The shard's key and the tag of each word of a term, ANY for either; None if the shard lacks one of the keys."""
    words = [term] if shard.keys.find([term])[0] >= 0 else term.split(" ", 1)
    split = [split_term(word) if tagged else (word, "") for word in words]
    keys = shard.keys.find([word for word, _ in split])
    if any(key < 0 and (word or not tag) for (word, tag), key in zip(split, keys.tolist(), strict=True)):
        return None
    return keys, np.array([CODES[tag] if tag else ANY for _, tag in split], np.int64)


def feature_parts(feature: str) -> Feature:
    """A feature's name taken apart; any other name is an error."""
    found = parse_feature(feature)
    if found is None:
        raise UsageError(f"{feature!r} is not a feature; features look like v12:+betw:such as")
    return found


def corpora_of(source: ContextSource) -> tuple[Corpus, Corpus]:
    """The corpora in which a source's single contexts and pair contexts are counted."""
    if isinstance(source, CorpusSource):
        return source.corpus, source.corpus
    return source.for_words, source.for_pairs  # type: ignore[attr-defined]  # a snippet corpus keeps them apart


def pair_observations(
    corpus: Corpus, w1: Target, w2: Target, settings: CountSettings
) -> list[ShardObservations]:
    """The co-occurrences of a pair that are counted."""
    return observe(corpus, [w1, w2], settings.windows.between, settings.limit, settings.sample).shards
