"""Pairs that are not in a relation, drawn from a corpus: co-occurring pairs that are not among the examples.

Some share a word with an example, in its place: they show which collocates of a word are in the relation.
Others are of any two words: they show what most candidates are like. The reverse of each example is one too, unless
the relation is symmetric. A drawn pair may be in the relation after all; among thousands of pairs that co-occur, few
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.candidates import find_candidates
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
    source: ContextSource, examples: Examples, number: int, *, reverse: bool = True, seed: int = 0, between: int = 5,
) -> list[Pair]:  # fmt: skip
    """At most ``number`` co-occurring pairs that are not examples, in either order; the same for the same seed.

    With ``reverse``, the examples in reverse are among them, unless the relation is symmetric. Half of the others have
    the first word of an example in the first place, or the second in the second; half are of any word, each as likely,
    and a word that it co-occurs with.
    """
    rng = np.random.default_rng(seed)
    found: dict[Pair, None] = {}
    if reverse and not examples.is_symmetric:
        swapped = [(w2, w1) for w1, w2 in examples.positives if w1 != w2]
        found |= dict.fromkeys(swapped[: number // 2])
    target_of = targets_of(source, examples.pairs)
    firsts, seconds = (
        _some(dict.fromkeys(target_of[pair[side]] for pair in examples.positives), rng) for side in (0, 1)
    )
    near = round(NEAR * (number - len(found)))
    drawer = _Drawer(source, examples, [*firsts, *seconds], between, rng)
    found |= dict.fromkeys(drawer.draw(firsts, near // 2))
    found |= dict.fromkeys((two, one) for one, two in drawer.draw(seconds, near - near // 2))
    anywhere = _some(corpus_vocabulary(source).targets, rng)
    drawn = _Drawer(source, examples, anywhere, between, rng).draw(anywhere, number - len(found))
    turned = rng.random(len(drawn)) < 0.5
    found |= {pair[::-1] if turn else pair: None for pair, turn in zip(drawn, turned.tolist(), strict=True)}
    return list(found)[:number]


def draw_background(
    source: ContextSource, pairs: Iterable[Pair], number: int, *, seed: int = 0, between: int = 5
) -> list[Pair]:
    """At most ``number`` pairs with the label `none`, for a model of several relations.

    A model that is trained on the pairs of its labels alone has to give each pair one of these labels. Most pairs that
    co-occur in a corpus have none of them, and in a search through the whole corpus they fill the list. The pairs
    themselves are excluded in both orders, since one of the relations may be symmetric.
    """
    known = {word for word, target in targets_of(source, pairs).items() if target is not None}
    usable = tuple(pair for pair in dict.fromkeys(pairs) if known.issuperset(pair))
    drawn = draw_negatives(source, Examples("", usable), number, reverse=False, seed=seed, between=between)
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


class _Drawer:
    """The partners of some words, which are found once, and draws from them."""

    def __init__(
        self, source: ContextSource, examples: Examples, words: Sequence[Target], between: int,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        target_of = targets_of(source, examples.pairs)
        self.word_of = {target: word for word, target in reversed(target_of.items()) if target is not None}
        self.taken = {frozenset((target_of[w1], target_of[w2])) for w1, w2 in examples.pairs}
        self.rng = rng
        corpus, vocabulary = corpus_of(source), corpus_vocabulary(source)
        for least in (MIN_TOGETHER, 1):
            self.found = find_candidates(
                corpus, vocabulary.targets, w1=words, windows=Windows(between=between), min_together=least
            )
            if len(self.found):
                break
        self.number = {target: k for k, target in enumerate(self.found.words)}

    def draw(self, words: Sequence[Target], number: int) -> list[Pair]:
        """Pairs of these words with their partners; the words take turns, each partner of a word is as likely."""
        if not words or number <= 0:
            return []
        found = self.found.take(np.isin(self.found.first, [self.number.get(word, -1) for word in words]))
        number = min(number, -(-len(found) // SHARE))
        order = self.rng.permutation(len(found))
        order = order[np.argsort(_turns(found.first[order]), kind="stable")]
        pairs: dict[Pair, None] = {}
        seen = set()
        for index in order.tolist():
            if len(pairs) >= number:
                break
            one, two = found.words[found.first[index]], found.words[found.second[index]]
            both = frozenset((one, two))
            if both not in self.taken and both not in seen:
                seen.add(both)
                pairs[self._name(one), self._name(two)] = None
        return list(pairs)

    def _name(self, target: Target) -> str:
        return self.word_of.get(target) or str(target)


def _turns(words: NDArray[Any]) -> NDArray[np.int64]:
    """How many of the same word came before each."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    turns = np.empty(words.size, np.int64)
    turns[order] = np.arange(words.size) - np.searchsorted(ordered, ordered)
    return turns
