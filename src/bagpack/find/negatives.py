"""Pairs that are not in a relation, drawn from a corpus: co-occurring pairs that are not among the examples.

Some share a word with an example, in its place: they show which collocates of a word are in the relation.
Others are of any two words: they show what most candidates are like. The reverse of each example is one too, unless
the relation is symmetric. A drawn pair may be in the relation after all; among thousands of pairs that co-occur, few
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.candidates import Candidates, find_candidates
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import Windows
from bagpack.find.examples import Examples, Pair
from bagpack.find.vocabulary import Vocabulary, corpus_of, targets_of

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
    source: ContextSource, examples: Examples, vocabulary: Vocabulary, number: int, *, reverse: bool = True,
    seed: int = 0, between: int = 5,
) -> list[Pair]:  # fmt: skip
    """At most ``number`` co-occurring pairs that are not examples, in either order; the same for the same seed.

    With ``reverse``, the examples in reverse are among them, unless the relation is symmetric.
    """
    rng = np.random.default_rng(seed)
    drawer = _Drawer(source, examples, vocabulary, between)
    found: dict[Pair, None] = {}
    if reverse and not examples.is_symmetric:
        swapped = [(w2, w1) for w1, w2 in examples.positives if w1 != w2]
        found |= dict.fromkeys(swapped[: number // 2])
    left = number - len(found)
    near = drawer.near_examples(round(NEAR * left), rng)
    found |= dict.fromkeys(near)
    found |= dict.fromkeys(drawer.anywhere(number - len(found), rng))
    return list(found)[:number]


class _Drawer:
    def __init__(
        self, source: ContextSource, examples: Examples, vocabulary: Vocabulary, between: int
    ) -> None:  # fmt: skip
        self.corpus, self.vocabulary = corpus_of(source), vocabulary
        self.between = between
        self.target_of = targets_of(source, examples.pairs)
        self.word_of = {
            target: word for word, target in reversed(self.target_of.items()) if target is not None
        }
        self.examples = examples
        self.taken = {frozenset((self.target_of[w1], self.target_of[w2])) for w1, w2 in examples.pairs}

    def near_examples(self, number: int, rng: np.random.Generator) -> list[Pair]:
        """Pairs with the first word of an example in the first place, or with the second in the second."""
        firsts, seconds = (
            self._some(dict.fromkeys(self.target_of[pair[side]] for pair in self.examples.positives), rng)
            for side in (0, 1)
        )
        drawn = self._draw(firsts, number // 2, rng)
        swapped = self._draw(seconds, number - number // 2, rng)
        return [*drawn, *((two, one) for one, two in swapped)]

    def anywhere(self, number: int, rng: np.random.Generator) -> list[Pair]:
        """Pairs of any vocabulary word, each as likely, and a word that it co-occurs with, in either order."""
        words = self._some(dict.fromkeys(self.vocabulary.targets), rng)
        drawn = self._draw(words, number, rng)
        turned = rng.random(len(drawn)) < 0.5
        return [pair[::-1] if turn else pair for pair, turn in zip(drawn, turned.tolist(), strict=True)]

    def _some(
        self, targets: dict[Target | None, None] | dict[Target, None], rng: np.random.Generator
    ) -> list[Target]:
        known = [target for target in targets if target is not None]
        if len(known) <= WORDS:
            return known
        return [known[k] for k in sorted(rng.choice(len(known), WORDS, replace=False).tolist())]

    def _draw(self, words: Sequence[Target], number: int, rng: np.random.Generator) -> list[Pair]:
        """Pairs of these words with their partners; the words take turns, each partner of a word is as likely."""
        if not words or number <= 0:
            return []
        found = self._partners(words)
        number = min(number, -(-len(found) // SHARE))
        order = rng.permutation(len(found))
        turn = _turns(found.first[order])
        order = order[np.argsort(turn, kind="stable")]
        pairs: dict[Pair, None] = {}
        seen = set()
        for index in order.tolist():
            if len(pairs) == number:
                break
            one, two = found.words[found.first[index]], found.words[found.second[index]]
            both = frozenset((one, two))
            if both not in self.taken and both not in seen:
                seen.add(both)
                pairs[self._name(one), self._name(two)] = None
        return list(pairs)

    def _partners(self, words: Sequence[Target]) -> Candidates:
        for least in (MIN_TOGETHER, 1):
            found = find_candidates(
                self.corpus, self.vocabulary.targets, w1=words, windows=Windows(between=self.between),
                min_together=least,
            )  # fmt: skip
            if len(found):
                break
        return found

    def _name(self, target: Target) -> str:
        return self.word_of.get(target) or self.vocabulary.name(target)


def _turns(words: NDArray[Any]) -> NDArray[np.int64]:
    """How many of the same word came before each."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    turns = np.empty(words.size, np.int64)
    turns[order] = np.arange(words.size) - np.searchsorted(ordered, ordered)
    return turns
