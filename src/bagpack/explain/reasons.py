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
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from bagpack.arrays import I64
from bagpack.explain.lines import TERM, W1, W2, PairEvidence, Span, feature_parts
from bagpack.names import COSINE, PRODUCT, STATISTICS
from bagpack.vectors.counts import PairCounts
from bagpack.wording import say_evidence, say_feature, say_times

CONTEXT, PUNCTUATION, FREQUENCY, SIMILARITY = "context", "punctuation", "frequency", "similarity"
_WITHOUT_TERMS = {STATISTICS: FREQUENCY, COSINE: SIMILARITY}


@dataclass(frozen=True)
class Like:
    """A training word or a training pair, and what it adds to a decision."""

    name: str
    value: float


@dataclass(frozen=True)
class FeaturePart:
    name: str
    count: int
    value: float


@dataclass(frozen=True)
class Reason:
    """What features that say the same thing add to a decision together."""

    value: float
    kind: str
    words: str
    spans: tuple[Span, ...]  # the words, with the terms and the two words marked
    note: str  # where the words were counted, and how often
    features: tuple[FeaturePart, ...]  # the strongest first
    lines_of: str  # the feature whose lines are shown
    total: int = 0  # how many lines it has
    lines: list[dict[str, Any]] = field(default_factory=list)
    pairs: tuple[Like, ...] = ()  # training pairs that share a context of both words, with what they add


def make_reason(
    features: Sequence[FeaturePart], kind: str, counts: PairCounts, cited: PairEvidence | None, lines: int
) -> Reason:
    """The reason that a group of features of one pair is; with some of `cited`'s lines."""
    value = float(np.sum([feature.value for feature in features]))
    ordered = sorted(features, key=lambda feature: -abs(feature.value))
    # The words are about the strongest feature that pulls the way the sum does.
    main = next((feature for feature in ordered if feature.value * value > 0), ordered[0])
    taken = {feature.name: feature_parts(feature.name) for feature in ordered}
    own, note = taken[main.name], ""
    w1, w2 = counts.pairs[0]
    both = Span(w1, W1), Span(" and "), Span(w2, W2)
    if kind == FREQUENCY:
        plus, together = int(counts.n_plus[0]), int(counts.seen[0])
        order = [Span(f", {plus:,} with "), Span(w1, W1), Span(" first")] if together and w1 != w2 else []
        spans = (*both, Span(f" occur together {say_times(together)}"), *order)
    elif kind == SIMILARITY:
        shown = f" are ({main.count:,} {'term' if main.count == 1 else 'terms'} in common)"
        spans = (Span("how similar the contexts of "), *both, Span(shown))
    else:
        nearby = {taken[f.name].term: abs(f.count) for f in ordered if taken[f.name][:2] == own[:2]}
        # A bigram that was counted as often says more than its word: *such as* for *as*.
        longer = [term for term, often in nearby.items() if often == nearby[own.term]]
        phrase = Span(next((t for t in longer if own.term in t.split(" ") and " " in t), own.term), TERM)
        note = say_evidence(main.name, main.count)
        if own.block == "v12":
            words = [Span(w1, W1), Span(w2, W2)] if own.segment[0] == "+" else [Span(w2, W2), Span(w1, W1)]
            words.insert(("pre", "betw", "post").index(own.segment[1:]), phrase)
            dots = Span(" … ")
            spans = (words[0], dots, words[1], dots, words[2])
            note = f"{say_feature(main.name, w1, w2).place}; {note}"
        else:
            where = Span("before " if own.segment == "pre" else "after ")
            marked = [Span(w1, W1)] if own.block == "v1" else [Span(w2, W2)]
            if own.block == PRODUCT:
                marked = [Span(w1, W1), Span(" and "), where, Span(w2, W2)]
            spans = (Span("“"), phrase, Span("” occurs "), where, *marked)
    text = "".join(span.text for span in spans)
    reason = Reason(value, kind, text, spans, note, tuple(ordered), main.name)
    if not lines or cited is None:
        return reason
    found = cited.lines(
        main.name, lines, list(dict.fromkeys(part.term for part in taken.values() if part.term))
    )
    return replace(reason, total=found.total, lines=found.line_dicts())


# Groups ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Features that are one reason: what they are (contexts, punctuation, frequency, similarity), and their numbers."""

    kind: str
    members: list[int]


@cache
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
    places: Sequence[str], place: I64, term: I64, counts: I64,
    terms: Sequence[str], wanted: slice = slice(None),
) -> list[Group]:  # fmt: skip
    """Groups of the wanted features; every one of these is in one of them.

    Parameters
    ----------
    places
        Block and segment, such as ``v12:+betw``.
    place, term, counts
        Of each feature: the number of its place and of its term (−1: none), and how often it was counted.
    """
    sides = [_side(name) for name in places]
    at: dict[tuple[str, str], dict[str, list[int]]] = {}
    own = range(len(term))[wanted], place[wanted].tolist(), term[wanted].tolist()
    for number, where, which in zip(*own, strict=True):
        name = terms[which] if which >= 0 else ""
        at.setdefault(sides[where], {}).setdefault(name, []).append(number)
    number_of = {terms[which]: which for which in set(own[2]) if which >= 0}
    sizes = np.abs(counts).tolist()
    groups = []
    merged: dict[tuple[str, str], list[int]] = {}
    spoken: dict[tuple[str, str], bool] = {}
    for (side, _), features in at.items():
        if side in _WITHOUT_TERMS:
            groups.append(Group(_WITHOUT_TERMS[side], list(chain.from_iterable(features.values()))))
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
    kinds = (CONTEXT if spoken[key] else PUNCTUATION for key in merged)
    return [*groups, *map(Group, kinds, merged.values())]


def _side(place: str) -> tuple[str, str]:
    """What is one reason if the term is the same, and the place within it."""
    block, _, segment = place.partition(":")
    if block in _WITHOUT_TERMS:
        return block, ""
    if block != "v12":
        return "words", segment
    order, where = segment[0], segment[1:]
    return (segment, "") if where == "betw" else (f"{order}outside", where)
