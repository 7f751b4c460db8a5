"""Counting basis terms in the contexts of many words and pairs.

A task takes some words, or some pairs, through all shards, so that it knows by itself which observations are among
the corpus's first N, or in a sample of N. Counts are integers and add up: the result is the same however the targets
are divided into tasks and the corpus into shards. A task is told where the store is and which words it is to count, and
looks them up itself; what it counted is joined to what there is, one task at a time.
"""

from __future__ import annotations

from bagpack.contexts.dividing import Csr as Csr
from bagpack.contexts.dividing import no_rows as no_rows
from bagpack.contexts.pairs import PairCountsOf as PairCountsOf
from bagpack.contexts.pairs import count_pairs as count_pairs
from bagpack.contexts.sampling import drawn_numbers as drawn_numbers
from bagpack.contexts.words import count_words as count_words
