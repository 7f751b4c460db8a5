"""From counts of word pairs to features, and linear support vector machines over them."""
