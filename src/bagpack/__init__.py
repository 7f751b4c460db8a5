"""BagPack: find the relation between two words in a corpus, the sentences that show it, and more pairs like them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack._version import __version__ as __version__
from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.basis import Basis as Basis
    from bagpack.contexts.windows import Windows as Windows
    from bagpack.corpus.build.index import index_corpus as index_corpus
    from bagpack.corpus.corpus import Corpus as Corpus
    from bagpack.corpus.options import TextOptions as TextOptions
    from bagpack.evaluate.crossval import cross_validate as cross_validate
    from bagpack.find.ranking import find_pairs as find_pairs
    from bagpack.learn import RatingRegressor as RatingRegressor
    from bagpack.learn import RelationClassifier as RelationClassifier
    from bagpack.learn.model_io import load as load
    from bagpack.vectors import PairCounts as PairCounts
    from bagpack.vectors import PairVectorizer as PairVectorizer

_NAMES = {
    "bagpack.basis": ("Basis",),
    "bagpack.contexts.windows": ("Windows",),
    "bagpack.corpus.build.index": ("index_corpus",),
    "bagpack.corpus.options": ("TextOptions",),
    "bagpack.corpus.corpus": ("Corpus",),
    "bagpack.evaluate": ("cross_validate",),
    "bagpack.find.ranking": ("find_pairs",),
    "bagpack.learn": ("RatingRegressor", "RelationClassifier"),
    "bagpack.learn.model_io": ("load",),
    "bagpack.vectors": ("PairCounts", "PairVectorizer"),
}
__getattr__, _names = lazy_names(__name__, _NAMES)
__all__ = ["__version__", *_names]  # noqa: PLE0604 (strings, from the table above)
