"""The corpus: text/ (tokens, sentences, lemmas), readers/ (input formats), build/ (indexing), and the store itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.corpus.build.index import index_corpus as index_corpus
    from bagpack.corpus.corpus import Corpus as Corpus
    from bagpack.corpus.options import TextOptions as TextOptions
    from bagpack.corpus.readers.base import Reader as Reader

_NAMES = {
    "bagpack.corpus.build.index": ("index_corpus",),
    "bagpack.corpus.options": ("TextOptions",),
    "bagpack.corpus.readers.base": ("Reader",),
    "bagpack.corpus.corpus": ("Corpus",),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
