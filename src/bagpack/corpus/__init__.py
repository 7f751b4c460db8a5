"""The corpus: text/ (tokens, sentences, lemmas), readers/ (input formats), build/ (indexing), and the store itself."""
