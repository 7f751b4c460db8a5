"""BagPack: find the relation between two words in a corpus, the sentences that show it, and more pairs like them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack._version import __version__ as __version__
from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.basis import Basis as Basis
    from bagpack.contexts.windows import Windows as Windows
    from bagpack.corpus.build.index import index_corpus as index_corpus
    from bagpack.corpus.options import TextOptions as TextOptions
    from bagpack.corpus.store.corpus import Corpus as Corpus
    from bagpack.evaluate import cross_validate as cross_validate
    from bagpack.find import find_pairs as find_pairs
    from bagpack.learn import RatingRegressor as RatingRegressor
    from bagpack.learn import RelationClassifier as RelationClassifier
    from bagpack.learn.model_io import load as load
    from bagpack.vectors import BlockMatrix as BlockMatrix
    from bagpack.vectors import PairVectorizer as PairVectorizer

_MODULES = {
    "Basis": "bagpack.basis",
    "Corpus": "bagpack.contexts.concordance",
    "BlockMatrix": "bagpack.vectors",
    "PairVectorizer": "bagpack.vectors",
    "RatingRegressor": "bagpack.learn",
    "RelationClassifier": "bagpack.learn",
    "TextOptions": "bagpack.corpus.options",
    "Windows": "bagpack.contexts.windows",
    "cross_validate": "bagpack.evaluate",
    "find_pairs": "bagpack.find",
    "index_corpus": "bagpack.corpus.build.index",
    "load": "bagpack.learn.model_io",
}
__all__ = ["__version__", *_MODULES]  # noqa: PLE0604 (strings, from the table above)
__getattr__ = lazy_names(__name__, _MODULES)
