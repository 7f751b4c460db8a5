"""`bagpack explain`, `similar`, `sketch`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bagpack.cli import console as io
from bagpack.cli import shape
from bagpack.cli.learning import AnyStore, BasisOption, BOption, Model
from bagpack.cli.vectors import ColumnsOption, Jobs, Json, Limit, Store, WindowsOption, parse_columns

if TYPE_CHECKING:
    from rich.console import Console

    from bagpack.explain import Explanation, PairSketch, WordSketch
    from bagpack.explain.explanation import Decision, FeaturePart
    from bagpack.explain.similar import Similar
    from bagpack.explain.telling import TellingTerm

FirstWord = Annotated[str, typer.Argument(help="The first word.")]
SecondWord = Annotated[str, typer.Argument(help="The second word.")]


def explain(
    model: Model,
    w1: FirstWord,
    w2: SecondWord,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="LABEL",
            help="Only this label; repeatable. all: every label in full, not only the answer and the runner-up.",
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", help="Features shown for each label.")] = 8,
    lines: Annotated[int, typer.Option("--lines", help="Corpus lines shown for each feature.")] = 2,
    store: Annotated[str | None, typer.Option("--store", help="Where the store is now, if it moved.")] = None,
    any_store: AnyStore = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page.", callback=io.page_place)] = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Say why: a decision as a sum of named contexts, each with the lines that were counted."""
    from bagpack.errors import UsageError
    from bagpack.experiments.training import model_source
    from bagpack.explain import explain_pair
    from bagpack.learn import load_model
    from bagpack.report.page import write_page

    io.check_words(w1, w2)
    opened = load_model(model)
    classes = {str(name) for name in opened.classes}
    every = label == ["all"] and "all" not in classes
    if every:
        label = None
    unknown = [name for name in label or () if name not in classes]
    if unknown:
        known = ", ".join(map(str, opened.classes)) or "none, it predicts ratings"
        raise UsageError(f"the model has no label {unknown[0]!r}; it has {known}")
    source = model_source(opened, store, any_store)
    found = explain_pair(
        opened,
        source,
        w1,
        w2,
        labels=label,
        top=top,
        lines=lines,
        in_full=every or json or label is not None,
        n_jobs=jobs,
    )
    if html is not None:
        from bagpack.report.explanation import render_explanation_page

        write_page(html, render_explanation_page(found.to_dict()))
        io.tell(f"page: {html}")
    if json:
        io.print_json(found.to_dict())
    elif html is None:
        show_explanation(found)
        io.hint_words(source, found.unknown)


def times(count: int) -> str:
    """How often, in words."""
    from bagpack.wording import say_times

    return say_times(count)


def show_explanation(found: Explanation) -> None:
    """On the terminal: the answer, then each label's sum; labels without features in a line each."""
    from bagpack.wording import say_counts

    screen = io.screen()
    screen.print(f"{found.w1} – {found.w2}: {found.answer}", style="bold")
    screen.print(say_counts(found.w1, found.w2, found.counts), style="dim")
    for word in found.unknown:
        screen.print(f"the corpus does not know {word}: its contexts add nothing", style="yellow")
    for note in found.notes:
        screen.print(note, style="dim")
    listed = [decision for decision in found.decisions if decision.features]
    if not listed:  # with --top 0 sums are wanted; a pair of which nothing is known has none
        listed = [d for d in found.decisions if any(d.blocks.values())] or [*found.decisions[:1]]
    for decision in listed:
        _show_decision(screen, decision, found.w1, found.w2)
    others = [decision for decision in found.decisions if decision not in listed]
    if others:
        _show_others(screen, others)


def _show_decision(screen: Console, decision: Decision, w1: str, w2: str) -> None:
    from rich.text import Text

    from bagpack.wording import describe_block

    screen.print()
    parts = [f"{decision.bias:+.3f} bias"]
    parts += [f"{value:+.3f} {describe_block(block, w1, w2)}" for block, value in decision.blocks.items()]
    io.hang_parts(screen, Text.assemble((decision.label, "bold"), " ", _signed(decision.value), " = "), parts)
    for feature in decision.features:
        _show_feature(screen, feature, w1, w2)
    rest = "all other features together" if decision.features else "all features together"
    screen.print(f"  {decision.rest:+.3f}  {rest}", style="dim")


def _show_others(screen: Console, decisions: Sequence[Decision]) -> None:
    from rich.text import Text

    many = "the other label" if len(decisions) == 1 else "the other labels"
    screen.print(f"\n{many} (in full with --label LABEL, or --label all)", style="dim")
    for decision in decisions:
        screen.print(Text.assemble("  ", _signed(decision.value), f"  {decision.label}"))


def _signed(value: float) -> tuple[str, str]:
    """A number and its colour."""
    return f"{value:+.3f}", "green" if value >= 0 else "red"


def _show_feature(screen: Console, feature: FeaturePart, w1: str, w2: str) -> None:
    """What a feature adds, in words, and the lines that were counted."""
    from rich.text import Text

    from bagpack.wording import say_feature

    said = say_feature(feature.name, w1, w2)
    where = f"{said.place}; " if said.place else ""
    value = Text.assemble("  ", _signed(feature.value), "  ")
    words = Text.assemble((said.pattern, "bold"), (f"  ({where}{feature.note(w1, w2)})", "dim"))
    io.hang(screen, value, words)
    lines = feature.lines
    if lines is None:
        return
    for line in lines.lines:
        text = Text()
        for place, piece in enumerate(line.pieces):
            text.append(piece if text else piece.lstrip(), style="bold" if place in (2, 4) else "")
        text.append(f"  [{line.document}]", style="dim")
        io.hang(screen, Text(" " * 10), text)


def similar(
    store: Store,
    w1: FirstWord,
    w2: SecondWord,
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
    b: BOption = 1500,
    basis: BasisOption = None,
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
    source = open_source(store)
    found = similar_pairs(
        source, (w1, w2), None if among is None else read_pairs(among, parse_columns(columns)).pairs,
        side=side, top=top, b=b, basis=None if basis is None else Basis.open(basis),
        settings=CountSettings(Windows.parse(windows), parse_limit(limit)), n_jobs=jobs,
    )  # fmt: skip
    if json:
        io.print_json(found.to_dict())
    else:
        show_similar(found, by)
        io.hint_words(source, found.unknown)


KINDS = {"all": "all together", "v12": "by the two together (v12)", "v1": "by the first word (v1)",
         "v2": "by the second word (v2)"}  # fmt: skip


def show_similar(found: Similar, by: str) -> None:
    """On the terminal: each ranking, every pair with its reasons."""
    from rich.padding import Padding
    from rich.text import Text

    screen = io.screen()
    screen.print(
        Text.assemble(
            (f"{found.w1} – {found.w2}", "bold"),
            f", seen together {times(found.together)}, against {io.many(found.candidates, 'pair')} from "
            f"{found.origin}",
        )
    )
    for word in found.unknown:
        screen.print(f"the corpus does not know {word}", style="yellow")
    for note in found.notes:
        screen.print(note, style="dim")
    for kind, title in KINDS.items():
        if by not in ("every", kind):
            continue
        screen.print(f"\n{title}", style="bold")
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
    from bagpack.explain import PairSketch, sketch_pair, sketch_word
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
        return
    show_sketch(found)
    unknown = found.unknown if isinstance(found, PairSketch) else (found.word,) if found.unknown else ()
    io.hint_words(source, unknown)


def show_sketch(found: PairSketch | WordSketch) -> None:
    """On the terminal."""
    from bagpack.explain import WordSketch

    screen = io.screen()
    if isinstance(found, WordSketch):
        _show_word(screen, found)
    else:
        _show_pair(screen, found)
    for line in found.examples:
        text = "".join(line["pieces"]).strip()
        screen.print(f"  · {text}  [{line['document']}]")


def _show_terms(screen: Console, title: str, terms: list[TellingTerm]) -> None:
    if terms:
        screen.print(f"  {title}: " + ", ".join(f"{item.term} {item.count:,}" for item in terms))


def _show_elsewhere(screen: Console, found: PairSketch | WordSketch) -> None:
    from dataclasses import asdict

    from rich.text import Text

    from bagpack.wording import say_elsewhere

    for item in found.elsewhere:
        io.hang(screen, Text("  "), Text(say_elsewhere(**asdict(item)), style="yellow"))


def _show_word(screen: Console, found: WordSketch) -> None:
    if found.unknown:
        screen.print(f"the corpus does not know {found.word}")
        return
    screen.print(f"{found.known_as}: {times(found.count)}, {found.per_million:,.1f} in a million tokens")
    if found.forms:
        screen.print("  written: " + ", ".join(f"{form.form} {form.count:,}" for form in found.forms))
    _show_elsewhere(screen, found)
    _show_terms(screen, "before", found.before)
    _show_terms(screen, "after", found.after)
    _show_terms(screen, "seen with", found.company)


def _show_pair(screen: Console, found: PairSketch) -> None:
    for word in found.unknown:
        screen.print(f"the corpus does not know {word}")
    screen.print(
        f"{found.w1} {times(found.n_w1)}, {found.w2} {times(found.n_w2)}, together {times(found.together)}"
    )
    _show_elsewhere(screen, found)
    if found.expected <= min(found.n_w1, found.n_w2):  # in a few sentences chance is no measure
        screen.print(f"  by chance it would be {found.expected:,.1f} times")
    for sign, first, second, count, distances in (
        ("+", found.w1, found.w2, found.n_plus, found.distances_plus),
        ("-", found.w2, found.w1, found.n_minus, found.distances_minus),
    ):
        screen.print(f"{first} … {second}: {times(count)}; with 0, 1, 2 … words between: "
                     + " ".join(f"{n:,}" for n in distances))  # fmt: skip
        for place, title in (("pre", "before"), ("betw", "between"), ("post", "after")):
            _show_terms(screen, title, found.terms[f"{sign}{place}"])
    for middle in found.middles[:6]:
        first, second = (found.w1, found.w2) if middle.order == "+" else (found.w2, found.w1)
        screen.print(f"  {middle.count:,} × {first} {middle.text} {second}")
    for decision in (found.explanation or {}).get("decisions", ()):
        reasons = ", ".join(f["pattern"] for f in decision["features"][:5])
        screen.print(f"  {decision['label']} {decision['value']:+.3f}: {reasons}")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    shape.add(app, shape.REASONS, explain, similar, sketch)
