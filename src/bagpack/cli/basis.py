"""`bagpack basis`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bagpack import console
from bagpack.cli.declaration import common
from bagpack.cli.option_groups import ParallelOptions, SubcorpusOptions, basis_choice
from bagpack.cli.options import BasisTags, BasisWords, Json, Store, TagTerms


def basis(
    store: Store,
    parallel: ParallelOptions,
    subcorpus: SubcorpusOptions,
    b: Annotated[int, common("-b", help="Number of unigrams, and of bigrams.")] = 1500,
    basis_tags: BasisTags = False,
    tag_terms: TagTerms = False,
    basis_words: BasisWords = "all",
    out: Annotated[
        Path | None, common("--out", "-o", metavar="FILE", help="Write the TSV with a checksum to a file.")
    ] = None,
    json: Json = False,
) -> None:
    """Print the basis: the most frequent unigrams and bigrams, as TSV."""
    from bagpack.files import check_file
    from bagpack.sources import open_source

    choice = basis_choice(b, basis_tags, tag_terms, basis_words)
    if out is not None:
        check_file(out, "basis", lambda head: head.startswith(b"kind\tterm"), "basis.tsv")
    with parallel.workers():
        picked = open_source(subcorpus.store(store)).pick_basis(choice, parallel.jobs)
    if out is not None:
        picked.save(out)
        if not json:
            return
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
