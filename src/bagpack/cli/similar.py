"""`bagpack similar`."""

from __future__ import annotations

from typing import Annotated

from bagpack import console
from bagpack.cli.arguments import FILE, Names
from bagpack.cli.declaration import common
from bagpack.cli.option_groups import CountingOptions
from bagpack.cli.options import Columns, FirstWord, Jobs, Json, SecondWord, Store, Top, parse_columns
from bagpack.cli.words import check_words, hint_words
from bagpack.errors import UsageError


def similar(
    store: Store,
    w1: FirstWord,
    w2: SecondWord,
    counting: CountingOptions,
    among: Annotated[
        str | None,
        common("--among", metavar="FILE", help="A table of pairs to choose from; - for stdin."),
        Names((FILE,)),
    ] = None,
    top: Top = 10,
    by: Annotated[
        str,
        common(
            "--by",
            help="Rank by v1, v2, v12 or all of them; every = all four rankings.",
            values=("every", "all", "v1", "v2", "v12"),
        ),
    ] = "every",
    columns: Columns = "",
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Rank the pairs of a list by how similar their relation is."""
    from bagpack.explain import similar_pairs
    from bagpack.report.screens.similar import show_similar
    from bagpack.sources import open_source
    from bagpack.tasks import read_pairs

    check_words(w1, w2)
    if among is None:
        raise UsageError(
            f"name a table of pairs with --among; bagpack find {store} --like {w1} {w2} looks for pairs in the corpus"
        )
    source = open_source(store)
    found = similar_pairs(
        source, (w1, w2), read_pairs(among, parse_columns(columns)).pairs, top=top, b=counting.choice,
        basis=counting.open_basis(source), settings=counting.settings(),
        n_jobs=jobs,
    )  # fmt: skip
    if json:
        console.print_json(found.to_dict())
    else:
        show_similar(found, by)
        hint_words(source, found.unknown)
