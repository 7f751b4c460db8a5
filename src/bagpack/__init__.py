"""BagPack: find the relation between two words in a corpus, the sentences that show it, and more pairs like them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bagpack._version import __version__ as __version__

if TYPE_CHECKING:
    from bagpack.basis import Basis as Basis
    from bagpack.contexts.windows import Windows as Windows
    from bagpack.corpus.build.index import index_corpus as index_corpus
    from bagpack.corpus.corpus import Corpus as Corpus
    from bagpack.corpus.options import TextOptions as TextOptions
    from bagpack.evaluate.crossval import cross_validate as cross_validate
    from bagpack.find.ranking import find_pairs as find_pairs
    from bagpack.learn.estimators import RatingRegressor as RatingRegressor
    from bagpack.learn.estimators import RelationClassifier as RelationClassifier
    from bagpack.learn.model_io import load as load
    from bagpack.vectors.counts import PairCounts as PairCounts
    from bagpack.vectors.vectorizer import PairVectorizer as PairVectorizer

_MODULES = {
    "Basis": "bagpack.basis",
    "Corpus": "bagpack.corpus.corpus",
    "PairCounts": "bagpack.vectors.counts",
    "PairVectorizer": "bagpack.vectors.vectorizer",
    "RatingRegressor": "bagpack.learn.estimators",
    "RelationClassifier": "bagpack.learn.estimators",
    "TextOptions": "bagpack.corpus.options",
    "Windows": "bagpack.contexts.windows",
    "cross_validate": "bagpack.evaluate.crossval",
    "find_pairs": "bagpack.find.ranking",
    "index_corpus": "bagpack.corpus.build.index",
    "load": "bagpack.learn.model_io",
}
__all__ = ["__version__", *_MODULES]  # noqa: PLE0604 (strings, from the table above)


def __getattr__(name: str) -> Any:
    """The names above are imported when they are first used (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
