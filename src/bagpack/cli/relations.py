"""`bagpack relations`."""

from __future__ import annotations

from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.arguments import Names
from bagpack.cli.declaration import common
from bagpack.cli.option_groups import CountingOptions, SubcorpusOptions, TableOptions
from bagpack.cli.options import Jobs, Json, Store
from bagpack.cli.words import check_words


def relations(
    store: Store,
    word: Annotated[str, typer.Argument(help="The word; quote several: 'ice cream'."), Names()],
    table: TableOptions,
    subcorpus: SubcorpusOptions,
    counting: CountingOptions,
    groups: Annotated[int, common("--groups", help="Number of groups, at most.")] = 8,
    words: Annotated[int, common("--words", help="Number of words to group.")] = 200,
    shown: Annotated[int, common("--shown", help="Words shown for each group.", least=1)] = 5,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Group the collocates of a word by the patterns between them.

    Each group is named by its three strongest patterns, with X for the other word, and has example sentences.
    """
    from bagpack.find.relations import group_relations
    from bagpack.report.screens.relations import show_relations
    from bagpack.sources import open_source

    check_words(word)
    table.check("table of words")
    source = open_source(subcorpus.store(store))
    found = group_relations(
        source, word, neighbours=words, groups=groups, b=counting.choice,
        basis=counting.open_basis(source), settings=counting.settings(), n_jobs=jobs,
    )  # fmt: skip
    table.write(found.table())
    if table.out is not None:
        console.print_about(
            table.out,
            f"{console.many(found.neighbours, 'word')} in {console.many(len(found.groups), 'group')}",
        )
    if json:
        console.print_json(found.to_dict())
    elif table.out is None:
        show_relations(found, shown)
