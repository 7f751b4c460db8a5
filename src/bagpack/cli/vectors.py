"""`bagpack vectors`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack import console
from bagpack.cli.declaration import advanced, common
from bagpack.cli.option_groups import CountingOptions, OutputOptions, ParallelOptions, SubcorpusOptions
from bagpack.cli.options import Append, Columns, Overwrite, Pairs, Pos1, Pos2, Store, parse_columns
from bagpack.cli.progress import work_progress
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.vectors.matrix import BlockMatrix

# Options that cannot be given with --append.
COUNTING = ("b", "basis", "basis_tags", "tag_terms", "basis_words", "limit", "sample", "windows", "count")


def vectors(
    context: typer.Context,
    store: Store,
    pairs: Pairs,
    out: Annotated[
        Path,
        common(
            "--out", "-o", metavar="MATRIX", help="The matrix to make; X.tsv, X.parquet or X.svm: an export."
        ),
    ],
    counting: CountingOptions,
    subcorpus: SubcorpusOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    sample: Annotated[
        int | None,
        advanced("--sample", metavar="SEED", help="Draw --limit observations instead of taking the first."),
    ] = None,
    count: Annotated[
        str,
        advanced("--count", help="A term counts once per context or per token.", values=("context", "token")),
    ] = "context",
    columns: Columns = "",
    pos1: Pos1 = None,
    pos2: Pos2 = None,
    append: Append = False,
    overwrite: Overwrite = False,
) -> None:
    """Count v1, v2 and v12 of all pairs, once, for every task.

    v1 holds the contexts of a pair's first word, v2 those of its second, v12 those of the two together.
    """
    from bagpack.files import check_not_read, is_stream
    from bagpack.report.screens.matrix import show_matrix
    from bagpack.sources import open_source
    from bagpack.tasks import read_pairs
    from bagpack.vectors.export import check_export, export, is_export
    from bagpack.vectors.matrix import BlockMatrix
    from bagpack.vectors.storage import append_to_matrix, check_place, read_matrix_manifest

    settings, choice = counting.settings(sample=sample, count=count), counting.choice
    exporting = is_export(out)
    if append and exporting:
        raise UsageError(f"--append adds to a matrix, and {out} is an export; remove --append")
    check_not_read(out, store, pairs, counting.basis)
    if out.exists() and not (overwrite or append or (exporting and is_stream(out))):
        raise UsageError(f"{out} exists already; choose another --out, --append to it, or --overwrite it")
    (check_export if exporting else check_place)(out)
    if append:
        read_matrix_manifest(out)
        _refuse_options(context)
    source = open_source(subcorpus.store(store))
    listed = read_pairs(pairs, parse_columns(columns, pos1, pos2))
    with parallel.workers(out), work_progress(output.silent) as progress:
        if append:
            matrix = append_to_matrix(out, source, listed.pairs, parallel.jobs, progress)
        else:
            picked = counting.open_basis(source)
            if picked is None:
                progress("basis", 0, 0)
                picked = source.pick_basis(choice, parallel.jobs)
            matrix = BlockMatrix.count(source, listed.pairs, picked, settings, parallel.jobs, progress)
    if exporting:
        export(matrix, out)
    elif not append:
        matrix.save(out, overwrite=overwrite)
    facts = _facts(matrix, out, listed.duplicates)
    if output.json:
        console.print_json(facts)
    elif not output.quiet:
        show_matrix(facts)


def _refuse_options(context: typer.Context) -> None:
    """With --append everything is counted as the matrix was."""
    for name in COUNTING:
        if str(context.get_parameter_source(name)).endswith("COMMANDLINE"):
            option = "-b" if name == "b" else f"--{name.replace('_', '-')}"
            raise UsageError(
                f"--append counts as the matrix was counted, so {option} cannot be given; remove it"
            )


def _facts(matrix: BlockMatrix, out: Path, duplicates: int) -> dict[str, Any]:
    together = int((matrix.seen > 0).sum())
    return {
        "path": str(out),
        "pairs": len(matrix),
        "duplicate_rows": duplicates,
        "words": len(matrix.words.keys),
        "terms": len(matrix.basis),
        "features": 10 * len(matrix.basis),
        "pairs_seen_together": together,
        "pairs_never_together": len(matrix) - together,
        "unknown_words": matrix.unknown_words,
        "capped_words": matrix.capped_words,
        "capped_pairs": matrix.capped_pairs,
        "limit": matrix.settings.limit,
    }
