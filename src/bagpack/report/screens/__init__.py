"""What commands print on a terminal: one module per answer, each given the answer and nothing to compute."""
