"""Which features are one reason, and what the reason is in words.

Features say the same thing again and again: *such*, *as* and *such as* are counted in the same place, and *of* after
the first word is *of* before the second. Two rules make reasons of them, in this order:

1. Terms of one place (before or after a word, between the two …) belong together when one is nested in the other. A
   bigram joins its rarer word, and every word that mostly occurs inside the bigram: *of the* joins *of*, and *the* only
   where it has few others. Commas do not join phrases. Whole phrases join through the bigrams that overlap in a word.
2. The same term on both sides is one: before and after, of the first word and of the second.

What the two words have around them is kept apart from what is around the two together, and so are the two orders.
Grouping depends on the counts alone, so that every label has the same reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.explain.lines import TERM, W1, W2, PairEvidence, Span, feature_parts
from bagpack.learn.features import evidence
from bagpack.names import COSINE, PRODUCT, STATISTICS, WORD_SEGMENTS, Feature
from bagpack.vectors.counts import PairCounts
from bagpack.wording import say_feature, say_times

CONTEXT, PUNCTUATION, FREQUENCY, SIMILARITY = "context", "punctuation", "frequency", "similarity"
_WITHOUT_TERMS = {STATISTICS: FREQUENCY, COSINE: SIMILARITY}
LONGEST = 5  # words of a phrase
NAMED = 3  # further terms that a reason names


@dataclass(frozen=True)
class Like:
    """A training word or a training pair, and what it adds to a decision."""

    name: str
    value: float


@dataclass(frozen=True)
class FeaturePart:
    """What one feature adds to a decision."""

    name: str
    count: int
    value: float


@dataclass(frozen=True)
class Reason:
    """What features that say the same thing add to a decision together.

    Attributes
    ----------
    value
        The sum of its features' values.
    kind
        ``context``, ``punctuation``, ``frequency`` (how often the two occur together) or ``similarity`` (of their
        contexts).
    words, spans
        The reason in words, and the same with the terms and the two words marked.
    note
        Where the term was counted and how often, where the words do not say it.
    also
        Further terms among the features: *of the* of *of*.
    lines_of, total, lines
        The feature whose lines are shown, how many there are, and some of them; 0 and none if not asked for.
    pairs
        Training pairs that have the context too, with what they add; only of contexts of both words.
    """

    value: float
    kind: str
    words: str
    spans: tuple[Span, ...]
    note: str
    also: tuple[str, ...]
    features: tuple[FeaturePart, ...]
    lines_of: str
    total: int = 0
    lines: list[dict[str, Any]] = field(default_factory=list)
    pairs: tuple[Like, ...] = ()


class ReasonWriter:
    """Puts the groups of one pair into words."""

    def __init__(self, one: PairCounts, lines_of: PairEvidence | None) -> None:
        self.one = one
        self.w1, self.w2 = one.pairs[0]
        self.lines_of = lines_of
        self._column = {term: number for number, term in enumerate(one.basis.terms)}

    def reason(self, features: Sequence[FeaturePart], kind: str, lines: int) -> Reason:
        """A group's reason, strongest feature first."""
        value = float(np.sum([feature.value for feature in features]))
        ordered = sorted(features, key=lambda feature: -abs(feature.value))
        # The words are about the strongest feature that pulls the way the sum does.
        main = next((feature for feature in ordered if feature.value * value > 0), ordered[0])
        taken = {feature.name: feature_parts(feature.name) for feature in ordered}
        own = taken[main.name]
        note, also = "", tuple[str, ...]()
        if kind == FREQUENCY:
            spans = self._say_frequency()
        elif kind == SIMILARITY:
            spans = self._say_similarity(main.count)
        else:
            parts = [(taken[feature.name], abs(feature.count)) for feature in ordered]
            phrase = phrase_around(own.term, {part.term: n for part, n in parts if part[:2] == own[:2]})
            others = dict.fromkeys(taken[feature.name].term for feature in ordered)
            also = tuple(term for term in others if _adds(term, phrase))[:NAMED]
            if own.block == "v12":
                spans = pattern_spans(own, phrase, self.w1, self.w2)
                place = say_feature(main.name, self.w1, self.w2).place
                note = f"{place}; {main.count:,}×"
            else:
                spans = self._say_place(own, phrase)
        total, shown = 0, []
        if lines and self.lines_of is not None:
            marked = list(dict.fromkeys(feature.term for feature in taken.values() if feature.term))
            found = self.lines_of.lines(main.name, lines, marked)
            total, shown = found.total, found.line_dicts()
        text = "".join(span.text for span in spans)
        return Reason(value, kind, text, spans, note, also, tuple(ordered), main.name, total, shown)

    def _say_place(self, own: Feature, phrase: str) -> tuple[Span, ...]:
        """“species” occurs after feather (12×), and after bird (3×) if the feature is a product of both words."""
        where = "before" if own.segment == "pre" else "after"
        column = WORD_SEGMENTS.index(own.segment) * len(self.one.basis.terms) + self._column[own.term]
        spans = [Span("“"), Span(phrase, TERM), Span("” occurs ")]
        for block in ("v1", "v2") if own.block == PRODUCT else (own.block,):
            word = Span(self.w1, W1) if block == "v1" else Span(self.w2, W2)
            count = int(evidence(self.one, block, np.array([column]))[0])
            joined = " and " if len(spans) > 3 else ""
            spans += [Span(f"{joined}{where} "), word, Span(f" ({count:,}×)")]
        return tuple(spans)

    def _say_similarity(self, shared: int) -> tuple[Span, ...]:
        one, two = Span(self.w1, W1), Span(self.w2, W2)
        shown = f" are ({shared:,} {'term' if shared == 1 else 'terms'} in common)"
        return Span("how similar the contexts of "), one, Span(" and "), two, Span(shown)

    def _say_frequency(self) -> tuple[Span, ...]:
        plus, minus, together = (
            int(values[0]) for values in (self.one.n_plus, self.one.n_minus, self.one.seen)
        )
        one, two = Span(self.w1, W1), Span(self.w2, W2)
        if self.w1 == self.w2:
            return one, Span(f" occurs near itself {say_times(plus)}")
        first, often = (one, plus) if plus >= minus else (two, minus)
        share = "" if together == 1 else "always " if often == together else f"{often:,} "
        order = [Span(f", {share}with "), first, Span(" first")] if together else []
        return one, Span(" and "), two, Span(f" occur together {say_times(together)}"), *order


def phrase_around(term: str, counts: Mapping[str, int]) -> str:
    """The longest phrase that a term is always part of, as far as the counts of overlapping bigrams say so.

    >>> phrase_around("as", {"such": 3, "as": 3, "such as": 3, "as the": 1})
    'such as'
    >>> phrase_around("of", {"of": 5, "of the": 2})
    'of'
    """
    words = term.split(" ")
    often = counts.get(term, 0)

    def neighbour(word: str, left: bool) -> str | None:
        if counts.get(word) != often:
            return None
        for bigram, count in counts.items():
            pair = bigram.split(" ")
            if count == often and len(pair) == 2 and pair[1 if left else 0] == word:
                return pair[0 if left else 1]
        return None

    while len(words) < LONGEST and (found := neighbour(words[0], True)):
        words.insert(0, found)
    while len(words) < LONGEST and (found := neighbour(words[-1], False)):
        words.append(found)
    return " ".join(words)


def pattern_spans(feature: Feature, phrase: str, w1: str, w2: str) -> tuple[Span, ...]:
    """A phrase before, between or after the two words: `leaf … of the … tree`."""
    order, place = feature.segment[0], feature.segment[1:]
    parts = [Span(w1, W1), Span(w2, W2)] if order == "+" else [Span(w2, W2), Span(w1, W1)]
    parts.insert(("pre", "betw", "post").index(place), Span(phrase, TERM))
    first, second, third = parts
    dots = Span(" … ")
    return first, dots, second, dots, third


def _adds(term: str, phrase: str) -> bool:
    """Whether a term is worth naming next to a phrase: one with other words, and without punctuation."""
    return f" {term} " not in f" {phrase} " and not any(map(is_punctuation, term.split(" ")))


# Groups ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Features that are one reason: what they are (contexts, punctuation, frequency, similarity), and their numbers."""

    kind: str
    members: tuple[int, ...]


def is_punctuation(term: str) -> bool:
    """Whether a term has neither letters nor digits.

    >>> is_punctuation(","), is_punctuation(", and")
    (True, False)
    """
    return not any(map(str.isalnum, term))


def cluster_terms(counts: Mapping[str, int]) -> list[list[str]]:
    """Terms of one place that are nested or overlap, by how often each was counted there.

    >>> cluster_terms({"as": 3, "such": 3, "such as": 3, "the": 9, "of": 5, "of the": 2})
    [['as', 'such', 'such as'], ['the'], ['of', 'of the']]
    """
    root = {term: term for term in counts}

    def find(term: str) -> str:
        while root[term] != term:
            root[term] = term = root[root[term]]
        return term

    for bigram, count in counts.items():
        words = [word for word in bigram.split(" ") if word in counts] if " " in bigram else []
        if not words:
            continue
        own = min(words, key=lambda word: (is_punctuation(word), counts[word]))
        for word in words:
            if word == own or (2 * count > counts[word] and not is_punctuation(word)):
                root[find(bigram)] = find(word)
    clusters: dict[str, list[str]] = {}
    for term in counts:
        clusters.setdefault(find(term), []).append(term)
    return list(clusters.values())


def group_features(
    places: Sequence[str], place: NDArray[np.int64], term: NDArray[np.int64], counts: NDArray[np.int64],
    terms: Sequence[str],
) -> list[Group]:  # fmt: skip
    """Groups of features; every feature is in one of them.

    Parameters
    ----------
    places
        Block and segment, such as ``v12:+betw``.
    place, term, counts
        Of each feature: the number of its place and of its term (−1: none), and how often it was counted.
    """
    sides = [_side(name) for name in places]
    at: dict[tuple[str, str], dict[str, list[int]]] = {}
    for number, (where, which) in enumerate(zip(place.tolist(), term.tolist(), strict=True)):
        name = terms[which] if which >= 0 else ""
        at.setdefault(sides[where], {}).setdefault(name, []).append(number)
    number_of = {terms[which]: which for which in set(term.tolist()) if which >= 0}
    sizes = np.abs(counts).tolist()
    groups = []
    merged: dict[tuple[str, str], list[int]] = {}
    spoken: dict[tuple[str, str], bool] = {}
    for (side, _), features in at.items():
        if side in _WITHOUT_TERMS:
            groups.append(Group(_WITHOUT_TERMS[side], tuple(chain.from_iterable(features.values()))))
            continue
        seen = {name: sum(sizes[number] for number in numbers) for name, numbers in features.items()}
        for cluster in cluster_terms(seen):
            # The rarest word names the cluster, if it has at least half as many counts as the commonest; terms are
            # numbered by their frequency in the corpus.
            names = [name for name in cluster if " " not in name] or cluster
            words = [name for name in names if not is_punctuation(name)] or names
            most = max(seen[name] for name in words)
            key = side, max((name for name in words if 2 * seen[name] >= most), key=number_of.__getitem__)
            merged.setdefault(key, []).extend(number for name in cluster for number in features[name])
            spoken[key] = spoken.get(key, False) or not all(map(is_punctuation, cluster))
    for key, numbers in merged.items():
        groups.append(Group(CONTEXT if spoken[key] else PUNCTUATION, tuple(numbers)))
    return groups


def _side(place: str) -> tuple[str, str]:
    """What is one reason if the term is the same, and the place within it."""
    block, _, segment = place.partition(":")
    if block in _WITHOUT_TERMS:
        return block, ""
    if block != "v12":
        return "words", segment
    order, where = segment[0], segment[1:]
    return (segment, "") if where == "betw" else (f"{order}outside", where)
