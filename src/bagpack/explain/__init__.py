"""From a decision back to named contexts, and on to the corpus lines that were counted; sketches of words and pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.explain.explanation import Explanation as Explanation
    from bagpack.explain.explanation import explain_pair as explain_pair
    from bagpack.explain.similar import similar_pairs as similar_pairs
    from bagpack.explain.sketch import PairSketch as PairSketch
    from bagpack.explain.sketch import sketch_pair as sketch_pair
    from bagpack.explain.words import WordComparison as WordComparison
    from bagpack.explain.words import WordSketch as WordSketch
    from bagpack.explain.words import compare_words as compare_words
    from bagpack.explain.words import sketch_word as sketch_word

_MODULES = {
    "Explanation": "bagpack.explain.explanation",
    "PairSketch": "bagpack.explain.sketch",
    "WordComparison": "bagpack.explain.words",
    "WordSketch": "bagpack.explain.words",
    "compare_words": "bagpack.explain.words",
    "explain_pair": "bagpack.explain.explanation",
    "similar_pairs": "bagpack.explain.similar",
    "sketch_pair": "bagpack.explain.sketch",
    "sketch_word": "bagpack.explain.words",
}
__all__ = sorted(_MODULES)  # noqa: PLE0605
__getattr__ = lazy_names(__name__, _MODULES)
