"""Finding new pairs of a relation in a whole corpus: candidates, a cheap ranking, full vectors for the best.

The names below load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.find.examples import Examples as Examples
    from bagpack.find.options import FindOptions as FindOptions
    from bagpack.find.ranking import Found as Found
    from bagpack.find.ranking import find_pairs as find_pairs
    from bagpack.find.training import train_on_examples as train_on_examples

_NAMES = {
    "bagpack.find.examples": ("Examples",),
    "bagpack.find.options": ("FindOptions",),
    "bagpack.find.ranking": ("Found", "find_pairs"),
    "bagpack.find.training": ("train_on_examples",),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
