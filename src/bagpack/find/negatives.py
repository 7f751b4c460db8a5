"""Pairs that are not in a relation, drawn from a corpus: co-occurring pairs that are not among the examples.

Some share a word with an example, in its place: they show which collocates of a word are in the relation.
Others are of any two words: they show what most candidates are like. A drawn pair may be in the relation after all;
among thousands of pairs that co-occur, few are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bagpack.arrays import I64, Values
from bagpack.contexts.candidates import Candidates, find_candidates
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import Windows
from bagpack.errors import InputError
from bagpack.find.examples import Examples, Pair
from bagpack.find.vocabulary import corpus_of, corpus_vocabulary, targets_of

PER_POSITIVE = 10  # drawn pairs for each positive example
LEAST, MOST = 200, 4_000
NEAR = 0.5  # share of them that have a word of an example
WORDS = 400  # at most, whose partners are enumerated
MIN_TOGETHER = 2
SHARE = 5  # one pair in five at most: in a small corpus, pairs of the relation would be drawn too


def number_to_draw(positives: int) -> int:
    """How many pairs are drawn where the user does not say."""
    return min(max(PER_POSITIVE * positives, LEAST), MOST)


def draw_negatives(
    source: ContextSource, examples: Examples, number: int, *, seed: int = 0, between: int = 5
) -> list[Pair]:
    """At most ``number`` co-occurring pairs that are not examples, in either order; the same for the same seed.

    Half of them have the first word of an example in the first place, or the second in the second; half are of any
    word, each as likely, and a word that it co-occurs with.
    """
    rng = np.random.default_rng(seed)
    target_of = targets_of(source, examples.pairs)
    word_of = {target: word for word, target in reversed(target_of.items()) if target is not None}
    taken = {frozenset((target_of[w1], target_of[w2])) for w1, w2 in examples.pairs}

    def draw(partners: Candidates, words: Sequence[Target], number: int) -> list[Pair]:
        """Pairs of these words with their partners; the words take turns, each partner of a word is as likely."""
        row = {target: k for k, target in enumerate(partners.words)}
        found = partners.take(np.isin(partners.first, [row.get(word, -1) for word in words]))
        number = min(number, -(-len(found) // SHARE))
        order = rng.permutation(len(found))
        order = order[np.argsort(_turns(found.first[order]), kind="stable")]
        pairs: dict[frozenset[Target], Pair] = {}
        for index in order.tolist():
            if len(pairs) >= number:
                break
            one, two = found.words[found.first[index]], found.words[found.second[index]]
            both = frozenset((one, two))
            if both not in taken and both not in pairs:
                pairs[both] = word_of.get(one) or str(one), word_of.get(two) or str(two)
        return list(pairs.values())

    firsts, seconds = (
        _some(dict.fromkeys(target_of[pair[side]] for pair in examples.positives), rng) for side in (0, 1)
    )
    near = round(NEAR * number)
    partners = _partners(source, [*firsts, *seconds], between)
    drawn = dict.fromkeys(draw(partners, firsts, near // 2))
    drawn |= dict.fromkeys((two, one) for one, two in draw(partners, seconds, near - near // 2))
    anywhere = _some(corpus_vocabulary(corpus_of(source)), rng)
    others = draw(_partners(source, anywhere, between), anywhere, number - len(drawn))
    turned = rng.random(len(others)) < 0.5
    drawn |= {pair[::-1] if turn else pair: None for pair, turn in zip(others, turned.tolist(), strict=True)}
    return list(drawn)


def draw_background(
    source: ContextSource, pairs: Iterable[Pair], number: int, *, seed: int = 0, between: int = 5
) -> list[Pair]:
    """At most ``number`` pairs with the label `none`, for a model of several relations.

    A model that is trained on the pairs of its labels alone has to give each pair one of these labels. Most pairs that
    co-occur in a corpus have none of them, and in a search through the whole corpus they fill the list. The pairs
    themselves are excluded in both orders, since one of the relations may be symmetric.
    """
    drawn = draw_negatives(source, Examples("", tuple(pairs)), number, seed=seed, between=between)
    if not drawn:
        raise InputError(
            "no background pair could be drawn from the corpus: no two words of it co-occur; train without --background"
        )
    return drawn


def _some(targets: Iterable[Target | None], rng: np.random.Generator) -> list[Target]:
    known = [target for target in targets if target is not None]
    if len(known) <= WORDS:
        return known
    return [known[k] for k in sorted(rng.choice(len(known), WORDS, replace=False).tolist())]


def _partners(source: ContextSource, words: Sequence[Target], between: int) -> Candidates:
    """The words that each of some words co-occurs with, at least twice if there are such."""
    corpus, windows = corpus_of(source), Windows(between=between)
    for least in (MIN_TOGETHER, 1):
        found = find_candidates(
            corpus, corpus_vocabulary(corpus), w1=words, windows=windows, min_together=least
        )
        if len(found):
            break
    return found


def _turns(words: Values) -> I64:
    """How many of the same word came before each."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    turns = np.empty(words.size, np.int64)
    turns[order] = np.arange(words.size) - np.searchsorted(ordered, ordered)
    return turns
