"""From a decision back to named contexts, and on to the corpus lines that were counted; sketches of words and pairs."""
