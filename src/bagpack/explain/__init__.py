"""From a decision back to named contexts, and on to the corpus lines that were counted; sketches of words and pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.explain.explanation import Explanation as Explanation
    from bagpack.explain.explanation import explain_pair as explain_pair
    from bagpack.explain.pair import PairSketch as PairSketch
    from bagpack.explain.pair import sketch_pair as sketch_pair
    from bagpack.explain.word import WordSketch as WordSketch
    from bagpack.explain.word import sketch_word as sketch_word

_NAMES = {
    "bagpack.explain.explanation": ("Explanation", "explain_pair"),
    "bagpack.explain.pair": ("PairSketch", "sketch_pair"),
    "bagpack.explain.word": ("WordSketch", "sketch_word"),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
