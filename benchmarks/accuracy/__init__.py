"""Accuracy on the open data sets next to the checkout: preset against preset, and against word2vec."""
