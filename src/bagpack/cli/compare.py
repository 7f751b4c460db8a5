"""`bagpack compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.arguments import FILE, Names
from bagpack.cli.declaration import advanced, common
from bagpack.cli.option_groups import OutputOptions, ParallelOptions, TableOptions
from bagpack.cli.options import Columns, MaybeSecondWord, Store, Windows, parse_columns
from bagpack.cli.words import check_words
from bagpack.errors import UsageError

LEVEL = 0.05


def compare(
    store: Store,
    where: Annotated[str, common("--where", metavar="A", help="Documents of side A, such as 'year < 1900'.")],
    table: TableOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    w1: Annotated[
        str | None, typer.Argument(metavar="W1", help="Compare the contexts of this word."), Names()
    ] = None,
    w2: MaybeSecondWord = None,
    versus: Annotated[
        str | None, common("--versus", metavar="B", help="Documents of side B (default: all others).")
    ] = None,
    pairs: Annotated[
        str | None,
        common("--pairs", metavar="FILE", help="Compare these pairs, not those of frequent words."),
        Names((FILE,)),
    ] = None,
    top: Annotated[int, common("--top", help="Number of differences to show.", least=1)] = 20,
    least: Annotated[
        int, advanced("--least", help="Minimum count of a pair or term, both sides together.", least=1)
    ] = 5,
    b: Annotated[int, advanced("-b", help="Number of unigrams, and of bigrams, in the basis.")] = 1500,
    windows: Windows = "4/2-5-2",
    columns: Columns = "",
) -> None:
    """Compare two subcorpora: which pairs or contexts differ most.

    Without words, it compares pairs of frequent words; with one or two words, the terms around and between them.
    Differences with q < 0.05 are shown (log-likelihood ratio, corrected for the number of tests).
    """
    from bagpack.cli.option_groups import select
    from bagpack.contexts.windows import Windows as Sizes
    from bagpack.corpus.store.corpus import Corpus
    from bagpack.explain.comparison import compare_contexts, compare_pairs
    from bagpack.report.screens.comparison import show_comparison
    from bagpack.tasks import read_pairs

    check_words(w1, w2)
    if w1 is not None and pairs is not None:
        raise UsageError("--pairs compares pairs, and a word its contexts; give one of the two")
    table.check("table of differences", pairs)
    one = select(store, where)
    if versus is None and one.tokens == one.whole.tokens:
        raise UsageError(
            f"every document of {store} satisfies --where {where!r}, so there are no others to compare them with; give "
            f"another condition"
        )
    two = select(store, versus or f"not ({where})")
    if one.overlaps(two):
        raise UsageError(
            f"some documents satisfy both conditions, but the test needs separate texts; write --versus "
            f"{f'({versus}) and not ({where})'!r}"
        )
    sizes = Sizes.parse(windows)
    with parallel.workers(table.out, store):
        if w1 is None:
            listed = None if pairs is None else read_pairs(pairs, parse_columns(columns)).pairs
            found = compare_pairs(one, two, listed, windows=sizes, least=least, n_jobs=parallel.jobs)
        else:
            words = [w1] if w2 is None else [w1, w2]
            found = compare_contexts(
                Corpus.open(store), one, two, words, b=b, windows=sizes, least=least, n_jobs=parallel.jobs
            )
    table.write(found.table())
    if output.json:
        console.print_json(found.to_dict())
    elif not output.quiet:
        show_comparison(found, where, versus or "all other documents", top, LEVEL)
