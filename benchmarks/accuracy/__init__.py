"""How well, on the open sets that lie beside the checkout: preset against preset, and against word2vec."""
