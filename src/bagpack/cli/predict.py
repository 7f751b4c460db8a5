"""`bagpack predict`."""

from __future__ import annotations

from bagpack import console
from bagpack.cli.options import (
    AnyStore,
    Columns,
    Model,
    OutputOptions,
    Pairs,
    ParallelOptions,
    StoreOption,
    parse_columns,
)
from bagpack.cli.progress import work_progress


def predict(
    model: Model,
    pairs: Pairs,
    parallel: ParallelOptions,
    output: OutputOptions,
    store: StoreOption = None,
    any_store: AnyStore = False,
    columns: Columns = "",
) -> None:
    """Write the label (or score) of new pairs as TSV.

    With a score per label, and how often the pair was seen together.
    """
    from bagpack.experiments.training import answer_rows, predict_pairs
    from bagpack.report.screens.matrix import tell_unknown
    from bagpack.tasks import read_pairs

    listed = read_pairs(pairs, parse_columns(columns))
    with parallel.workers(None, store), work_progress(output.silent) as progress:
        found, matrix, answers, scores = predict_pairs(
            model, listed.pairs, store=store, any_store=any_store, n_jobs=parallel.jobs, progress=progress
        )
    header, *rows = answer_rows(found, matrix, listed.pairs, answers, scores)
    if output.json:
        console.print_json([dict(zip(map(str, header), row, strict=True)) for row in rows])
        return
    for row in (header, *rows):
        console.write("\t".join(map(_cell, row)) + "\n")
    if not output.quiet:
        tell_unknown(matrix.unknown_words)


def _cell(value: str | float | int | None) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
