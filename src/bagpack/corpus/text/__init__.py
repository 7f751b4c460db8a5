"""From characters to lemmas: tokenizer, sentence splitter, lemmatisers, case folding."""
