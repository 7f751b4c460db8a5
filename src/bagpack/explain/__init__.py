"""From a decision back to named contexts, and on to the corpus lines that were counted."""

from bagpack.explain.explanation import Explanation as Explanation
from bagpack.explain.explanation import explain_pair as explain_pair
