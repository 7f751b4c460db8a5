"""Finding new pairs of a relation in a whole corpus: candidates, a cheap ranking, full vectors for the best."""
