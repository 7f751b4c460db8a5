"""`bagpack basis`."""

from __future__ import annotations

from typing import Annotated

from bagpack import console
from bagpack.cli.options import Json, ParallelOptions, Store, SubcorpusOptions, common


def basis(
    store: Store,
    parallel: ParallelOptions,
    subcorpus: SubcorpusOptions,
    b: Annotated[int, common("-b", help="Number of unigrams, and of bigrams.")] = 1500,
    json: Json = False,
) -> None:
    """Print the basis: the most frequent unigrams and bigrams, as TSV."""
    from bagpack.sources import open_source

    with parallel.workers():
        picked = open_source(subcorpus.store(store)).pick_basis(b, parallel.jobs)
    if not json:
        console.write(picked.to_tsv())
        return
    bigrams = zip(picked.bigrams, picked.bigram_counts, strict=True)
    console.print_json(
        {
            "unigrams": dict(zip(picked.unigrams, picked.unigram_counts, strict=True)),
            "bigrams": [{"term": " ".join(pair), "count": count} for pair, count in bigrams],
            "corpus": picked.corpus_hash,
        }
    )
