"""`bagpack explain`."""

from __future__ import annotations

from typing import Annotated

from bagpack import console
from bagpack.cli.declaration import common
from bagpack.cli.options import AnyStore, FirstWord, Jobs, Json, Model, Page, SecondWord, StoreOption, Top
from bagpack.cli.words import check_words, hint_words


def explain(
    model: Model,
    w1: FirstWord,
    w2: SecondWord,
    label: Annotated[
        list[str] | None,
        common("--label", metavar="LABEL", help="Explain this label; repeatable; all: every label in full."),
    ] = None,
    against: Annotated[
        str | None,
        common("--against", metavar="LABEL", help="Why the prediction (or --label) and not this label."),
    ] = None,
    top: Top = 10,
    lines: Annotated[int, common("--lines", help="Corpus lines shown for each reason.")] = 1,
    store: StoreOption = None,
    any_store: AnyStore = False,
    html: Page = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Explain a prediction: the reasons for it, each with corpus lines.

    The predicted label and the runner-up are explained in full, with --top reasons each.
    """
    from bagpack.explain import explain_pair
    from bagpack.learn import load_model
    from bagpack.report.page import write_page
    from bagpack.report.screens.explanation import show_explanation

    check_words(w1, w2)
    opened = load_model(model)
    every = label == ["all"] and "all" not in map(str, opened.classes)
    if every:
        label = None
    source = opened.open_source(store, any_store)
    found = explain_pair(
        opened, source, w1, w2, labels=label, against=against, top=top, lines=lines,
        in_full=every or json or label is not None, n_jobs=jobs,
    )  # fmt: skip
    if html is not None:
        from bagpack.report.explanation import render_explanation_page

        write_page(html, render_explanation_page(found.to_dict()))
        console.print_message(f"page: {html}")
    if json:
        console.print_json(found.to_dict())
    elif html is None:
        show_explanation(found)
        hint_words(source, found.unknown)
