"""`bagpack sketch`."""

from __future__ import annotations

from bagpack import console
from bagpack.cli.options import (
    AnyStore,
    FirstWord,
    Json,
    MaybeSecondWord,
    ModelOption,
    Store,
    SubcorpusOptions,
    Windows,
)
from bagpack.cli.words import check_words, hint_words
from bagpack.errors import UsageError


def sketch(
    store: Store,
    w1: FirstWord,
    subcorpus: SubcorpusOptions,
    w2: MaybeSecondWord = None,
    model: ModelOption = None,
    any_store: AnyStore = False,
    windows: Windows = "4/2-5-2",
    json: Json = False,
) -> None:
    """Summarise a word or a pair: counts, order, distance, collocates."""
    from bagpack.contexts.windows import Windows as Sizes
    from bagpack.experiments.training import model_source
    from bagpack.explain import PairSketch, WordSketch, sketch_pair, sketch_word
    from bagpack.learn import load_model
    from bagpack.report.screens.sketch import show_sketch
    from bagpack.sources import open_source

    check_words(w1, w2)
    store = subcorpus.store(store)
    source = open_source(store)
    sizes = Sizes.parse(windows)
    found: PairSketch | WordSketch
    if w2 is None:
        if model is not None:
            raise UsageError("--model is about pairs; name a second word")
        found = sketch_word(source, w1, windows=sizes)
    else:
        loaded = None if model is None else load_model(model)
        if loaded is not None:
            source = model_source(loaded, str(store), any_store)
        found = sketch_pair(source, w1, w2, windows=sizes, model=loaded)
    if json:
        console.print_json(found.to_dict())
        return
    show_sketch(found)
    unknown = found.unknown if isinstance(found, PairSketch) else (found.word,) if found.unknown else ()
    hint_words(source, unknown)
