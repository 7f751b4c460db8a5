"""Background pairs for a model of several relations: co-occurring pairs of the corpus that are not in its data.

A model that is trained on the pairs of its labels alone has to give each pair one of these labels. Most pairs that
co-occur in a corpus have none of them, and in a search through the whole corpus they fill the list. Background pairs
show the model what they are like. One of them may have a label after all; among thousands that co-occur, few do.
"""

from __future__ import annotations

from collections.abc import Iterable

from bagpack.contexts.targets import ContextSource
from bagpack.errors import InputError
from bagpack.find.examples import Examples, Pair
from bagpack.find.negatives import draw_negatives
from bagpack.find.vocabulary import corpus_vocabulary, targets_of


def draw_background(
    source: ContextSource, pairs: Iterable[Pair], number: int, *, seed: int = 0, between: int = 5,
) -> list[Pair]:  # fmt: skip
    """At most ``number`` co-occurring pairs, half of them with a word of ``pairs`` in its place, half of any two words.

    The pairs themselves are excluded in both orders, since one of the relations may be symmetric.
    """
    known = {word for word, target in targets_of(source, pairs).items() if target is not None}
    usable = tuple(pair for pair in dict.fromkeys(pairs) if known.issuperset(pair))
    drawn = draw_negatives(
        source, Examples("", usable), corpus_vocabulary(source), number, reverse=False, seed=seed,
        between=between,
    )  # fmt: skip
    if not drawn:
        raise InputError(
            "no background pair could be drawn from the corpus: no two words of it co-occur; train without --background"
        )
    return drawn
