"""`bagpack predict`."""

from __future__ import annotations

from bagpack import console
from bagpack.cli.option_groups import OutputOptions, ParallelOptions, TableOptions
from bagpack.cli.options import AnyStore, Columns, Model, Pairs, Pos1, Pos2, StoreOption, parse_columns
from bagpack.cli.progress import work_progress


def predict(
    model: Model,
    pairs: Pairs,
    table: TableOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    store: StoreOption = None,
    any_store: AnyStore = False,
    columns: Columns = "",
    pos1: Pos1 = None,
    pos2: Pos2 = None,
) -> None:
    """Predict the labels (or scores) of new pairs, as TSV.

    Each row has the label, its probability, a decision value per label, the number of co-occurrences, and whether the
    model was trained on the pair. The label is empty where the model abstains.
    """
    from bagpack.experiments.training import answer_rows, predict_pairs
    from bagpack.report.screens.matrix import print_unknown
    from bagpack.sheets import table_text
    from bagpack.tasks import read_pairs

    table.check("predictions", pairs)
    listed = read_pairs(pairs, parse_columns(columns, pos1, pos2))
    with parallel.workers(None, store), work_progress(output.silent) as progress:
        found, matrix, answers, scores = predict_pairs(
            model, listed.pairs, store=store, any_store=any_store, n_jobs=parallel.jobs, progress=progress
        )
    header, *rows = answer_rows(found, matrix, listed.pairs, answers, scores)
    if output.json:
        console.print_json([dict(zip(map(str, header), row, strict=True)) for row in rows])
        return
    header = [console.one_line(str(name)) for name in header]
    for row in rows:
        if isinstance(row[2], str):  # a label, which is the name of a column too
            row[2] = console.one_line(row[2])
    table.write([header, *rows])
    if table.out is None:
        console.write(table_text([header, *rows]))
    if not output.quiet:
        print_unknown(matrix.unknown_words)
