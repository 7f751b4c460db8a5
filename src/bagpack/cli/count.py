"""`bagpack basis`, `bagpack vectors` and `bagpack check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bagpack import console
from bagpack.cli import options as opt
from bagpack.errors import UsageError

HINTED = 10  # unknown words with similar spellings


def basis(
    store: opt.Store,
    b: opt.Terms = 1500,
    where: opt.Where = None,
    out: Annotated[Path | None, opt.value("FILE", "Write a file with a checksum.", "--out", "-o")] = None,
    json: opt.Json = False,
) -> None:
    """Print the basis: the most frequent unigrams and bigrams, as TSV."""
    from bagpack.files import check_file
    from bagpack.sources import open_source

    if out is not None:
        check_file(out, "basis", lambda head: head.startswith(b"kind\tterm"), "basis.tsv")
    with opt.at_work(json):
        picked = open_source(opt.selected(store, where)).pick_basis(b)
    if out is not None:
        picked.save(out)
    if json:
        bigrams = zip(picked.bigrams, picked.bigram_counts, strict=True)
        console.print_json(
            {
                "unigrams": dict(zip(picked.unigrams, picked.unigram_counts, strict=True)),
                "bigrams": [{"term": " ".join(pair), "count": count} for pair, count in bigrams],
                "corpus": picked.corpus_hash,
            }
        )
    elif out is None:
        console.write(picked.to_tsv())


def vectors(
    store: opt.Store,
    pairs: opt.Pairs,
    out: Annotated[Path, opt.value("MATRIX", "The matrix to make; X.tsv: an export.", "--out", "-o")],
    b: opt.Terms = 1500,
    basis: opt.BasisFile = None,
    limit: opt.Limit = "5000",
    windows: opt.Windows = "4/2-5-2",
    columns: opt.Columns = "",
    where: opt.Where = None,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Count v1, v2 and v12 of all pairs, once, for every task.

    v1 holds the contexts of a pair's first word, v2 those of its second, v12 those of the two together.
    """
    from bagpack.artefacts import check_place
    from bagpack.evaluate.run import matrix_of
    from bagpack.files import check_not_read
    from bagpack.report.screens import show_matrix
    from bagpack.sheets import check_table
    from bagpack.tasks.pairs import read_pairs
    from bagpack.vectors.storage import MATRIX, export, is_export

    counting = opt.counting(b, basis, limit, windows)
    exporting = is_export(out)
    check_not_read(out, store, pairs, basis)
    if out.exists() and not overwrite:
        raise UsageError(f"{out} exists already; choose another --out, or --overwrite it")
    if exporting:
        check_table(out, "export", overwrite=overwrite)
    else:
        check_place(out, MATRIX, overwrite=True)
    listed = read_pairs(pairs, opt.parse_columns(columns))
    with opt.at_work(json):
        matrix = matrix_of(opt.selected(store, where), listed.pairs, counting)
    if exporting:
        export(matrix, out)
    else:
        matrix.save(out, overwrite=overwrite)
    together = int((matrix.seen > 0).sum())
    facts = {
        "path": str(out),
        "pairs": len(matrix),
        "duplicate_rows": len(matrix) - len(set(matrix.pairs)),
        "words": matrix.words.shape[0] - len(matrix.unknown_words),
        "terms": len(matrix.basis),
        "features": 10 * len(matrix.basis),
        "pairs_seen_together": together,
        "pairs_never_together": len(matrix) - together,
        "unknown_words": matrix.unknown_words,
        "capped_words": matrix.capped_words,
        "capped_pairs": matrix.capped_pairs,
        "limit": matrix.settings.limit,
    }
    opt.show(json, facts, show_matrix)


def check(
    store: opt.Store,
    data: opt.Data,
    columns: opt.Columns = "",
    out: opt.Table = None,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Report how well a corpus covers a data set, and likely mistakes.

    With --out, a table of all rows: how often each pair was seen, unknown words, and what looks like a mistake.
    """
    from bagpack.report.screens import coverage_table, show_coverage
    from bagpack.sources import open_source
    from bagpack.tasks.checks import likely_mistakes
    from bagpack.tasks.files import read_text_file
    from bagpack.tasks.pairs import Dataset
    from bagpack.tasks.questions import read_any
    from bagpack.vectors.counts import coverage

    opt.check_out(out, "table of rows", overwrite, data)
    file = read_text_file(data)
    named = opt.parse_columns(columns)
    listed = read_any(file, columns=named)
    labels = getattr(listed, "labels", None) or None
    source = open_source(store)
    with opt.at_work(json):
        facts = {
            "path": data,
            **({"sheet": file.sheet.name, "other_sheets": list(file.sheet.others)} if file.sheet else {}),
            **coverage(source, listed.pairs, labels),
        }
    if isinstance(listed, Dataset):
        facts |= likely_mistakes(listed)
    targets = labels or (listed.scores.tolist() if isinstance(listed, Dataset) else None) or None
    opt.write_out(out, coverage_table(facts, listed.pairs, getattr(listed, "lines", None), targets))
    if json:
        console.print_json(facts)
    else:
        show_coverage(facts)
        opt.hint_words(source, facts["unknown_words"][:HINTED])
