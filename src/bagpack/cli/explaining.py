"""`bagpack explain`, `similar`, `sketch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bagpack.cli import console as io
from bagpack.cli.vectors import ColumnsOption, Jobs, Json, Limit, Store, WindowsOption, parse_columns

if TYPE_CHECKING:
    from bagpack.explain import Explanation, PairSketch, WordSketch
    from bagpack.explain.explanation import FeaturePart
    from bagpack.explain.similar import Similar
    from bagpack.explain.telling import TellingTerm


def explain(
    model: Annotated[str, typer.Argument(help="A model that bagpack train made.")],
    w1: Annotated[str, typer.Argument(help="The first word.")],
    w2: Annotated[str, typer.Argument(help="The second word.")],
    label: Annotated[list[str] | None, typer.Option("--label", help="Only this label; repeatable.")] = None,
    top: Annotated[int, typer.Option("--top", help="Features shown for each label.")] = 8,
    lines: Annotated[int, typer.Option("--lines", help="Corpus lines shown for each feature.")] = 2,
    store: Annotated[str | None, typer.Option("--store", help="Where the store is now, if it moved.")] = None,
    any_store: Annotated[
        bool, typer.Option("--any-store", help="Use a store other than the one it was trained on.")
    ] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page.")] = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Say why: a decision as a sum of named contexts, each with the lines that were counted."""
    from bagpack.errors import UsageError
    from bagpack.experiments.training import model_source
    from bagpack.explain import explain_pair
    from bagpack.learn import load_model

    io.check_words(w1, w2)
    opened = load_model(model)
    unknown = [name for name in label or () if name not in {str(c) for c in opened.classes}]
    if unknown:
        known = ", ".join(map(str, opened.classes)) or "none, it predicts ratings"
        raise UsageError(f"the model has no label {unknown[0]!r}; it has {known}")
    found = explain_pair(
        opened,
        model_source(opened, store, any_store),
        w1,
        w2,
        labels=label,
        top=top,
        lines=lines,
        n_jobs=jobs,
    )
    if html is not None:
        from bagpack.files import write_text
        from bagpack.report.explanation import render_explanation_page

        write_text(html, render_explanation_page(found.to_dict()))
        io.messages().print(f"page: {html}")
    if json:
        io.print_json(found.to_dict())
    elif html is None:
        show_explanation(found)


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count:,} times" if count else "never"


def _without_lines(feature: FeaturePart) -> str:
    from bagpack.learn.interactions import COSINES

    if feature.name.startswith(COSINES):
        return f"{feature.count:,} terms in both"
    return times(feature.count)


def show_explanation(found: Explanation) -> None:
    """On the terminal: the answer, then each label's sum."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from bagpack.report.wording import describe_block, describe_feature

    screen = Console(highlight=False)
    counts = found.counts
    screen.print(f"[bold]{found.w1} – {found.w2}: {found.answer}[/bold]")
    screen.print(
        f"{found.w1} {times(counts['n_w1'])}, {found.w2} {times(counts['n_w2'])}; together "
        f"{times(counts['n_plus'])} with {found.w1} first, {times(counts['n_minus'])} with {found.w2} first",
        style="dim",
    )
    for word in found.unknown:
        screen.print(f"[yellow]the corpus does not know {word}: its contexts add nothing[/yellow]")
    for note in found.notes:
        screen.print(note, style="dim")
    for decision in found.decisions:
        screen.print()
        parts = [f"{decision.bias:+.3f} bias"]
        for block, value in decision.blocks.items():
            name = describe_block(block, found.w1, found.w2)
            parts.append(f"{value:+.3f} {name}")
        color = "green" if decision.value >= 0 else "red"
        screen.print(
            Text.assemble(
                (decision.label, "bold"), " ", (f"{decision.value:+.3f}", color), f" = {' '.join(parts)}"
            )
        )
        for feature in decision.features:
            words = describe_feature(feature.name, found.w1, found.w2).replace("*", "")
            color = "green" if feature.value >= 0 else "red"
            total = feature.lines.note if feature.lines is not None else _without_lines(feature)
            screen.print(
                Text.assemble(
                    "  ", (f"{feature.value:+.3f}", color), "  ", (words, "bold"), (f"  ({total})", "dim")
                )
            )
            lines = feature.lines
            origins = lines.origins if lines is not None else ()
            for number, line in enumerate(lines.lines if lines is not None else ()):
                text = Text()
                for place, piece in enumerate(line.pieces):
                    text.append(piece if text else piece.lstrip(), style="bold" if place in (2, 4) else "")
                borrowed = f", borrowed from {origins[number]}" if origins else ""
                text.append(f"  [{line.document}{borrowed}]", style="dim")
                screen.print(Padding(text, (0, 0, 0, 10)))
        screen.print(f"  {decision.rest:+.3f}  all other features together", style="dim")


def similar(
    store: Store,
    w1: Annotated[str, typer.Argument(help="The first word.")],
    w2: Annotated[str, typer.Argument(help="The second word.")],
    among: Annotated[
        str | None, typer.Option("--among", help="TSV of pairs to choose from; - for standard input.")
    ] = None,
    discover: Annotated[
        bool, typer.Option("--discover", help="Choose from pairs that the corpus offers for the words.")
    ] = False,
    side: Annotated[
        str, typer.Option("--side", help="Offered pairs keep the first word, the second, or both kinds.")
    ] = "both",
    top: Annotated[int, typer.Option("--top", help="Pairs shown in each ranking.")] = 10,
    by: Annotated[
        str, typer.Option("--by", help="Show this ranking: all together, or v1, v2, v12; every for all four.")
    ] = "every",
    b: Annotated[
        int, typer.Option("-b", help="How many unigrams, and how many bigrams, make the basis.")
    ] = 1500,
    basis: Annotated[
        str | None, typer.Option("--basis", help="A basis to use instead of picking one.")
    ] = None,
    columns: ColumnsOption = "",
    limit: Limit = "5000",
    windows: WindowsOption = "4/2-5-2",
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Find the pairs in the most similar relation, and say which shared contexts make them so."""
    from bagpack.basis import Basis
    from bagpack.contexts.source import open_source
    from bagpack.contexts.windows import CountSettings, Windows, parse_limit
    from bagpack.errors import UsageError
    from bagpack.explain import similar_pairs
    from bagpack.tasks import read_pairs

    io.check_words(w1, w2)
    if (among is None) != discover:
        raise UsageError("say where the pairs come from: either --among PAIRS.tsv or --discover")
    if by not in ("every", "all", "v1", "v2", "v12"):
        raise UsageError(f"--by {by} is unknown; choose every, all, v1, v2 or v12")
    if top < 1:
        raise UsageError(f"--top {top} shows nothing; give at least 1")
    found = similar_pairs(
        open_source(store), (w1, w2), None if among is None else read_pairs(among, parse_columns(columns)).pairs,
        side=side, top=top, b=b, basis=None if basis is None else Basis.open(basis),
        settings=CountSettings(Windows.parse(windows), parse_limit(limit)), n_jobs=jobs,
    )  # fmt: skip
    if json:
        io.print_json(found.to_dict())
    else:
        show_similar(found, by)


KINDS = {"all": "all together", "v12": "by the two together (v12)", "v1": "by the first word (v1)",
         "v2": "by the second word (v2)"}  # fmt: skip


def show_similar(found: Similar, by: str) -> None:
    """On the terminal: each ranking, every pair with its reasons."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    screen = Console(highlight=False)
    screen.print(
        f"[bold]{found.w1} – {found.w2}[/bold], seen together {times(found.together)}, against "
        f"{found.candidates:,} pairs from {found.origin}"
    )
    for word in found.unknown:
        screen.print(f"[yellow]the corpus does not know {word}[/yellow]")
    for note in found.notes:
        screen.print(note, style="dim")
    for kind, title in KINDS.items():
        if by not in ("every", kind):
            continue
        screen.print(f"\n[bold]{title}[/bold]")
        if not found.ranked[kind]:
            screen.print("  nothing is shared with any pair", style="dim")
        for item in found.ranked[kind]:
            parts = " ".join(f"{name} {value:.3f}" for name, value in item.blocks.items())
            screen.print(
                Text.assemble(
                    f"  {item.similarity:.3f}  ", (f"{item.w1} – {item.w2}", "bold"), (f"  {parts}", "dim")
                )
            )
            why = "; ".join(f"{reason.words} {100 * reason.share:.2g} %" for reason in item.reasons)
            screen.print(Padding(Text(why, style="dim"), (0, 0, 0, 9)))


def sketch(
    store: Store,
    w1: Annotated[str, typer.Argument(help="A word.")],
    w2: Annotated[str | None, typer.Argument(help="A second word: a sketch of the pair.")] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Add what this model predicts of the pair, and why.")
    ] = None,
    any_store: Annotated[
        bool, typer.Option("--any-store", help="Use a model that was trained on another store.")
    ] = False,
    windows: WindowsOption = "4/2-5-2",
    json: Json = False,
) -> None:
    """Sketch a word or a pair: how often, in which order, how far apart, and what stands around."""
    from bagpack.contexts.source import open_source
    from bagpack.contexts.windows import Windows
    from bagpack.errors import UsageError
    from bagpack.experiments.training import model_source
    from bagpack.explain import sketch_pair, sketch_word
    from bagpack.learn import load_model

    io.check_words(w1, w2)
    source = open_source(store)
    reach = Windows.parse(windows)
    found: PairSketch | WordSketch
    if w2 is None:
        if model is not None:
            raise UsageError("--model is about pairs; name a second word")
        found = sketch_word(source, w1, windows=reach)
    else:
        loaded = None if model is None else load_model(model)
        if loaded is not None:
            source = model_source(loaded, str(store), any_store)
        found = sketch_pair(source, w1, w2, windows=reach, model=loaded)
    if json:
        io.print_json(found.to_dict())
    else:
        show_sketch(found)


def show_sketch(found: PairSketch | WordSketch) -> None:
    """On the terminal."""
    from rich.console import Console

    from bagpack.explain import WordSketch

    screen = Console(highlight=False, markup=False)

    def terms(title: str, listed: list[TellingTerm]) -> None:
        if listed:
            screen.print(f"  {title}: " + ", ".join(f"{item.term} {item.count:,}" for item in listed))

    if isinstance(found, WordSketch):
        if found.unknown:
            screen.print(f"the corpus does not know {found.word}")
            return
        screen.print(f"{found.known_as}: {times(found.count)}, {found.per_million:,.1f} in a million tokens")
        screen.print("  written: " + ", ".join(f"{form.form} {form.count:,}" for form in found.forms))
        terms("before", found.before)
        terms("after", found.after)
        terms("seen with", found.company)
    else:
        for word in found.unknown:
            screen.print(f"the corpus does not know {word}")
        screen.print(
            f"{found.w1} {times(found.n_w1)}, {found.w2} {times(found.n_w2)}, together {times(found.together)}"
        )
        screen.print(f"  by chance it would be {found.expected:,.1f} times")
        for sign, first, second, count, distances in (
            ("+", found.w1, found.w2, found.n_plus, found.distances_plus),
            ("-", found.w2, found.w1, found.n_minus, found.distances_minus),
        ):
            screen.print(f"{first} … {second}: {times(count)}; with 0, 1, 2 … words between: "
                         + " ".join(f"{n:,}" for n in distances))  # fmt: skip
            for place, title in (("pre", "before"), ("betw", "between"), ("post", "after")):
                terms(title, found.terms[f"{sign}{place}"])
        for middle in found.middles[:6]:
            first, second = (found.w1, found.w2) if middle.order == "+" else (found.w2, found.w1)
            screen.print(f"  {middle.count:,} × {first} {middle.text} {second}")
        for decision in (found.explanation or {}).get("decisions", ()):
            reasons = ", ".join(f["pattern"] for f in decision["features"][:5])
            screen.print(f"  {decision['label']} {decision['value']:+.3f}: {reasons}")
    for line in found.examples:
        text = "".join(line["pieces"]).strip()
        screen.print(f"  · {text}  [{line['document']}]")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(no_args_is_help=True)(explain)
    app.command(no_args_is_help=True)(similar)
    app.command(no_args_is_help=True)(sketch)
