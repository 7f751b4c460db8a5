"""`bagpack ablate`: what each switch of preset modern brings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack.cli import console as io
from bagpack.cli import shape
from bagpack.cli.learning import (
    BasisOption,
    BOption,
    Epsilon,
    Folds,
    Seed,
    Split,
    Store,
    Task,
    counting_options,
)
from bagpack.cli.vectors import ColumnsOption, Jobs, Json, Limit, Quiet, WindowsOption, parse_columns

if TYPE_CHECKING:
    from bagpack.experiments.ablation import Line


def ablate(
    store: Store,
    data: Annotated[str, typer.Argument(help="Labelled or rated pairs, or analogy questions.")],
    split: Split = "random",
    folds: Folds = None,
    seed: Seed = 0,
    epsilon: Epsilon = 0.2,
    counts: Annotated[
        bool,
        typer.Option("--counts", help="Also count anew with other bases and windows (a store is needed)."),
    ] = False,
    task: Task = None,
    columns: ColumnsOption = "",
    b: BOption = 1500,
    basis: BasisOption = None,
    limit: Limit = "5000",
    windows: WindowsOption = "4/2-5-2",
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn one switch of preset modern at a time, and say what it brings, with intervals."""
    from bagpack.experiments.ablation import ablate as run
    from bagpack.experiments.evaluation import EvaluateOptions

    options = EvaluateOptions(
        "modern",
        split=split,
        folds=folds,
        seed=seed,
        epsilon=epsilon,
        task=task,
        columns=parse_columns(columns),
    )
    lines: list[Line] = []
    with io.work_progress(quiet or json) as tell:
        for line in run(
            store,
            data,
            counting_options(b, basis, limit, windows, jobs),
            options,
            counts_too=counts,
            progress=tell,
        ):
            lines.append(line)
            if not quiet and sys.stderr.isatty():
                tell.say(f"{line.variant.name}: {line.score['mean']:.3f}")
    if json:
        io.print_json([_plain(line) for line in lines])
    else:
        _print(lines)


def _plain(line: Line) -> dict[str, Any]:
    return {
        "variant": line.variant.name,
        "preset": line.variant.preset,
        **({"b": line.variant.b} if line.variant.b else {}),
        **({"windows": line.variant.windows} if line.variant.windows else {}),
        "score": line.score,
        "difference": line.difference,
    }


def _print(lines: list[Line]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("changed")
    for name in ("score", "95 %", "against modern", "95 %"):
        table.add_column(name, justify="right")
    for line in lines:
        less = line.difference
        clear = less is not None and (less["low"] > 0 or less["high"] < 0)
        table.add_row(
            f"{line.variant.name}{' *' if clear else ''}",
            f"{line.score['mean']:.3f}",
            _interval(line.score),
            "" if less is None else f"{less['mean']:+.3f}".replace("-", "−"),
            "" if less is None else _interval(less, signed=True),
            style="bold" if clear else None,
        )
    Console(highlight=False).print(table)
    io.tell(
        "* the interval of the difference (the same rows drawn again and again for both) leaves out 0",
        "dim",
    )


def _interval(score: dict[str, Any], signed: bool = False) -> str:
    sign = "+" if signed else ""
    return f"{score['low']:{sign}.3f} to {score['high']:{sign}.3f}".replace("-", "−")


def register(app: typer.Typer) -> None:
    """Add the command."""
    shape.add(app, shape.LEARNING, ablate)
