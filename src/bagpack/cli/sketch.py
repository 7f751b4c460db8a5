"""`bagpack sketch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from bagpack import console
from bagpack.cli.declaration import common
from bagpack.cli.option_groups import SubcorpusOptions, TableOptions
from bagpack.cli.options import AnyStore, FirstWord, Json, MaybeSecondWord, ModelOption, Store, Top, Windows
from bagpack.cli.words import check_words, hint_words
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.explain import PairSketch, WordComparison, WordSketch


def sketch(
    store: Store,
    w1: FirstWord,
    table: TableOptions,
    subcorpus: SubcorpusOptions,
    w2: MaybeSecondWord = None,
    compare: Annotated[
        bool, common("--compare", help="Compare the collocates of the two words instead.")
    ] = False,
    by: Annotated[
        str,
        common(
            "--by",
            help="Sort the collocates of a word: llr (log-likelihood) or logdice.",
            values=("llr", "logdice"),
        ),
    ] = "llr",
    top: Top = 12,
    model: ModelOption = None,
    any_store: AnyStore = False,
    windows: Windows = "4/2-5-2",
    json: Json = False,
) -> None:
    """Summarise a word (collocates), a pair, or how two words differ."""
    from bagpack.contexts.windows import Windows as Sizes
    from bagpack.explain import compare_words, sketch_pair, sketch_word
    from bagpack.learn import load_model
    from bagpack.report.screens import sketch as screens
    from bagpack.sources import open_source

    check_words(w1, w2)
    if w2 is None and (model is not None or compare):
        raise UsageError(f"{'--compare' if compare else '--model'} is about two words; name a second one")
    if compare and model is not None:
        raise UsageError("--compare is about words and --model about pairs; choose one of them")
    table.check("table")
    source = open_source(subcorpus.store(store))
    sizes = Sizes.parse(windows)
    found: PairSketch | WordSketch | WordComparison
    if w2 is None:
        found = sketch_word(source, w1, windows=sizes, top=top, by=by)
        show: Any = screens.show_word
    elif compare:
        found = compare_words(source, w1, w2, windows=sizes, top=top)
        show = screens.show_comparison
    else:
        loaded = None if model is None else load_model(model)
        if loaded is not None:
            source = loaded.open_source(subcorpus.store(store), any_store)
        found = sketch_pair(source, w1, w2, windows=sizes, top=top, model=loaded)
        show = screens.show_pair
    table.write(found.rows())
    if table.out is not None:
        console.print_message(f"table: {table.out}")
    if json:
        console.print_json(found.to_dict())
    elif table.out is None:
        show(found)
    unknown = found.unknown
    hint_words(source, ((w1,) if unknown else ()) if isinstance(unknown, bool) else unknown)
