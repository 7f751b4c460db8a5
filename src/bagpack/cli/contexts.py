"""`bagpack contexts`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from bagpack import console
from bagpack.cli.options import FirstWord, Json, Limit, MaybeSecondWord, Store, Windows, common
from bagpack.cli.words import check_words, hint_words


def contexts(
    store: Store,
    w1: FirstWord,
    w2: MaybeSecondWord = None,
    limit: Limit = "5000",
    windows: Windows = "4/2-5-2",
    json: Json = False,
    csv: Annotated[bool, common("--csv", help="Write CSV to standard output.")] = False,
) -> None:
    """Show the sentences in which a word occurs or two words meet."""
    from bagpack.contexts.source import elsewhere
    from bagpack.contexts.windows import Windows as Sizes
    from bagpack.contexts.windows import parse_limit
    from bagpack.report.screens.contexts import show_lines
    from bagpack.sources import open_source
    from bagpack.wording import say_elsewhere

    check_words(w1, w2)
    source = open_source(store)
    found = source.contexts(w1, w2, limit=parse_limit(limit), windows=Sizes.parse(windows))
    others = elsewhere(source, found.words)
    if json:
        console.print_json({**found.to_dict(), "elsewhere": [asdict(item) for item in others]})
        return
    if csv:
        console.write(found.to_csv())
    else:
        show_lines(found)
    console.tell(found.note, "dim")
    hint_words(source, found.unknown)
    for item in others:
        console.tell(say_elsewhere(**asdict(item)), "yellow")
