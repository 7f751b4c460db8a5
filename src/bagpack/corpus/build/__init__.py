"""Building a store: plan, workers, segments, lexicon, commit."""
