"""Finding new pairs of a relation in a whole corpus: candidates, a cheap ranking, full vectors for the best.

The names below load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.find.examples import Examples as Examples
    from bagpack.find.examples import as_examples as as_examples
    from bagpack.find.examples import read_examples as read_examples
    from bagpack.find.like import make_prototype as make_prototype
    from bagpack.find.ranking import FindOptions as FindOptions
    from bagpack.find.ranking import Found as Found
    from bagpack.find.ranking import FoundPair as FoundPair
    from bagpack.find.ranking import find_pairs as find_pairs
    from bagpack.find.sentences import best_lines as best_lines
    from bagpack.find.training import Trained as Trained
    from bagpack.find.training import train_on_examples as train_on_examples
    from bagpack.find.vocabulary import Vocabulary as Vocabulary
    from bagpack.find.vocabulary import corpus_vocabulary as corpus_vocabulary
    from bagpack.find.vocabulary import read_vocabulary as read_vocabulary

_NAMES = {
    "bagpack.find.examples": ("Examples", "as_examples", "read_examples"),
    "bagpack.find.like": ("make_prototype",),
    "bagpack.find.ranking": ("FindOptions", "Found", "FoundPair", "find_pairs"),
    "bagpack.find.sentences": ("best_lines",),
    "bagpack.find.training": ("Trained", "train_on_examples"),
    "bagpack.find.vocabulary": ("Vocabulary", "corpus_vocabulary", "read_vocabulary"),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
