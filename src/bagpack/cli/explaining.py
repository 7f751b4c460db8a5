"""`bagpack explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bagpack.cli import console as io
from bagpack.cli.vectors import Jobs, Json

if TYPE_CHECKING:
    from bagpack.explain import Explanation

BLOCK_WORDS = {"v1": "{w1} alone", "v2": "{w2} alone", "v12": "together"}


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


def show_explanation(found: Explanation) -> None:
    """On the terminal: the answer, then each label's sum."""
    from rich.console import Console
    from rich.text import Text

    from bagpack.report.wording import describe_feature

    screen = Console(highlight=False)
    counts = found.counts
    screen.print(f"[bold]{found.w1} – {found.w2}: {found.answer}[/bold]")
    screen.print(
        f"{found.w1} {counts['n_w1']:,} times, {found.w2} {counts['n_w2']:,} times; together "
        f"{counts['n_plus']:,} times with {found.w1} first, {counts['n_minus']:,} with {found.w2} first",
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
            name = BLOCK_WORDS.get(block, block).format(w1=found.w1, w2=found.w2)
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
            total = feature.lines.note if feature.lines is not None else f"{feature.count:,} times"
            screen.print(
                Text.assemble(
                    "  ", (f"{feature.value:+.3f}", color), "  ", (words, "bold"), (f"  ({total})", "dim")
                )
            )
            for line in feature.lines.lines if feature.lines is not None else ():
                text = Text("         ")
                for place, piece in enumerate(line.pieces):
                    text.append(piece, style="bold" if place in (2, 4) else "")
                text.append(f"  [{line.document}]", style="dim")
                screen.print(text)
        screen.print(f"  {decision.rest:+.3f}  all other features together", style="dim")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(no_args_is_help=True)(explain)
