"""From a decision back to named contexts, and on to the corpus lines that were counted; sketches of words and pairs."""

from bagpack.lazy import lazy_names

_NAMES = {
    "bagpack.explain.explanation": ("Explanation", "explain_pair"),
    "bagpack.explain.pair": ("PairSketch", "sketch_pair"),
    "bagpack.explain.word": ("WordSketch", "sketch_word"),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
