"""`bagpack contexts`."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated

from bagpack import console
from bagpack.cli.declaration import common
from bagpack.cli.option_groups import SubcorpusOptions
from bagpack.cli.options import (
    FirstWord,
    Json,
    Limit,
    MaybeSecondWord,
    Pos1,
    Pos2,
    Store,
    Windows,
    tagged_word,
)
from bagpack.cli.words import check_words, hint_words
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.contexts.concordance import Concordance
    from bagpack.contexts.source import ContextSource
    from bagpack.contexts.windows import Windows as Sizes


def contexts(
    store: Store,
    w1: FirstWord,
    subcorpus: SubcorpusOptions,
    w2: MaybeSecondWord = None,
    limit: Limit = "5000",
    windows: Windows = "4/2-5-2",
    by: Annotated[
        str | None,
        common("--by", metavar="ATTRIBUTE", help="Count by an attribute of documents: genre, year, year:10."),
    ] = None,
    pos1: Pos1 = None,
    pos2: Pos2 = None,
    json: Json = False,
    csv: Annotated[bool, common("--csv", help="Write CSV to standard output.")] = False,
) -> None:
    """Show the sentences in which a word or a pair of words occurs."""
    from bagpack.contexts.source import elsewhere
    from bagpack.contexts.windows import Windows as Sizes
    from bagpack.contexts.windows import parse_limit
    from bagpack.report.screens.contexts import show_lines
    from bagpack.sources import open_source
    from bagpack.wording import say_elsewhere

    check_words(w1, w2)
    w1 = tagged_word(w1, "--pos1", pos1)
    w2 = None if w2 is None else tagged_word(w2, "--pos2", pos2)
    source = open_source(subcorpus.store(store))
    reach = Sizes.parse(windows)
    if by is not None:
        _show_by(source, [w1] if w2 is None else [w1, w2], by, reach, json, csv)
        return
    found = source.contexts(w1, w2, limit=parse_limit(limit), windows=reach)
    others = elsewhere(source, found.words)
    if json:
        console.print_json({**found.to_dict(), "elsewhere": [asdict(item) for item in others]})
        return
    if csv:
        console.write(found.to_csv())
    else:
        show_lines(found)
    console.print_message(found.note, "dim")
    if w2 is not None and not found.total and not found.unknown:
        _print_nearest(source, w1, w2, reach)
    hint_words(source, found.unknown)
    for item in others:
        console.print_message(say_elsewhere(**asdict(item)), "yellow")


def _show_by(source: ContextSource, words: list[str], by: str, windows: Sizes, json: bool, csv: bool) -> None:
    """How often the word or pair occurs in the documents of each value."""
    from bagpack.contexts.by_attribute import count_by
    from bagpack.contexts.source import CorpusSource
    from bagpack.report.screens.comparison import show_distribution

    if not isinstance(source, CorpusSource):
        raise UsageError(f"--by counts in a store, and {source.name} holds snippets; name a store")
    found = count_by(source.corpus, words, by, windows)
    if json:
        console.print_json(found.to_dict())
    elif csv:
        console.write(found.to_csv())
    else:
        show_distribution(found)
    if not json:
        hint_words(source, found.unknown)


def _print_nearest(source: ContextSource, w1: str, w2: str, windows: Sizes) -> None:
    """For two words that never co-occur: how often each occurs, and how near they come in a sentence."""
    from bagpack.report.screens.contexts import show_lines
    from bagpack.wording import say_nearest

    counts = [source.contexts(word, limit=1).total for word in (w1, w2)]
    between, nearest = _nearest(source, w1, w2, windows)
    console.print_message(say_nearest(w1, w2, counts, windows.between, between))
    if nearest is not None:
        show_lines(nearest, console.messages())


def _nearest(
    source: ContextSource, w1: str, w2: str, windows: Sizes
) -> tuple[int | None, Concordance | None]:
    """The fewest tokens between the two words in any sentence, with that sentence; None if they share none.

    The number of co-occurrences grows with the tokens allowed between, so the bound is found by bisection.
    """
    from bagpack.contexts.windows import WIDEST

    @cache
    def within(between: int) -> Concordance:
        return source.contexts(w1, w2, limit=1, windows=replace(windows, between=between))

    if not within(WIDEST).total:
        return None, None
    nearest = bisect_left(range(WIDEST), 1, windows.between + 1, key=lambda between: within(between).total)
    return nearest, within(nearest)
