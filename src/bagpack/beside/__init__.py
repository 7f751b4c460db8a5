"""What only some presets ask for beside v1, v2 and v12: contexts of similar pairs, content words, whole stretches."""
