"""From a decision back to named contexts, and on to the corpus lines that were counted."""

from bagpack.explain.explanation import Explanation as Explanation
from bagpack.explain.explanation import explain_pair as explain_pair
from bagpack.explain.similar import similar_pairs as similar_pairs
from bagpack.explain.sketch import PairSketch as PairSketch
from bagpack.explain.sketch import WordSketch as WordSketch
from bagpack.explain.sketch import sketch_pair as sketch_pair
from bagpack.explain.sketch import sketch_word as sketch_word
