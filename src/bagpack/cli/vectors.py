"""`bagpack contexts`, `basis`, `vectors`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack.cli import console as io
from bagpack.cli import shape
from bagpack.cli.scaling import Address, Backend, workers
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.contexts.concordance import Concordance
    from bagpack.vectors.matrix import PairMatrix

Store = Annotated[
    Path, typer.Argument(help="A store that bagpack index made, or snippets that bagpack fetch did.")
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Worker processes; -1: one per core.")]
Limit = Annotated[
    str,
    typer.Option(
        "--limit",
        help="At most so many observations of a word or a pair: a number, or the word none for no limit.",
    ),
]
WindowsOption = Annotated[
    str, typer.Option("--windows", help="Tokens around a word / left-between-right of a pair.")
]
ColumnsOption = Annotated[
    str, typer.Option("--columns", help="Which columns hold the words, such as w1=noun,w2=verb.")
]


def parse_columns(text: str) -> dict[str, str] | None:
    """`w1=noun,w2=verb` as a mapping."""
    if not text:
        return None
    columns: dict[str, str] = {}
    for part in text.split(","):
        name, equals, column = part.partition("=")
        if not equals or not name or not column:
            raise UsageError(f"--columns {text} is not understood; write it like w1=noun,w2=verb")
        columns[name.strip()] = column.strip()
    return columns


def contexts(
    store: Store,
    w1: Annotated[str, typer.Argument(help="A word (quote several: 'ice cream').")],
    w2: Annotated[str | None, typer.Argument(help="A second word: where the two meet.")] = None,
    limit: Limit = "5000",
    windows: WindowsOption = "4/2-5-2",
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV to standard output.")] = False,
) -> None:
    """Show every place where a word stands or two words meet, as written, with the segments marked."""
    from dataclasses import asdict

    from bagpack.contexts.source import elsewhere, open_source
    from bagpack.contexts.windows import Windows, parse_limit
    from bagpack.wording import say_elsewhere

    io.check_words(w1, w2)
    source = open_source(store)
    found = source.contexts(w1, w2, limit=parse_limit(limit), windows=Windows.parse(windows))
    told = elsewhere(source, found.words)
    if json:
        io.print_json({**found.to_dict(), "elsewhere": [asdict(item) for item in told]})
        return
    if csv:
        sys.stdout.write(found.to_csv())
    else:
        _show_lines(found)
    io.tell(found.note, "dim")
    io.hint_words(source, found.unknown)
    for item in told:
        io.tell(say_elsewhere(**asdict(item)), "yellow")


def _show_lines(found: Concordance) -> None:
    """Each sentence with its segments in colours; wrapped on a terminal, else one line each."""
    from rich.console import Console
    from rich.text import Text

    screen = Console(highlight=False)
    styles = ("dim", "cyan", "bold red", "yellow", "bold red", "cyan", "dim")
    for line in found:
        text = Text()
        for piece, style in zip(line.pieces, styles, strict=True):
            stripped = piece.lstrip()
            text.append(piece[: len(piece) - len(stripped)] if text else "")
            text.append(stripped, style=style)
        text = Text(f"{line.order} " if line.order else "", style="bold") + text
        text.append(f"  [{line.document}]", style="dim italic")
        screen.print(text, soft_wrap=not screen.is_terminal)


def basis(
    store: Store,
    b: Annotated[int, typer.Option("-b", help="How many unigrams, and how many bigrams.")] = 1500,
    jobs: Jobs = -1,
    backend: Backend = None,
    address: Address = None,
    json: Json = False,
) -> None:
    """Print the basis: the b most frequent unigrams and bigrams, as TSV in rank order."""
    from bagpack.contexts.source import open_source

    with workers(backend, address, jobs):
        picked = open_source(store).pick_basis(b, jobs)
    if json:
        io.print_json(
            {
                "unigrams": dict(zip(picked.unigrams, picked.unigram_counts, strict=True)),
                "bigrams": [
                    {"term": " ".join(pair), "count": count}
                    for pair, count in zip(picked.bigrams, picked.bigram_counts, strict=True)
                ],
                "corpus": picked.corpus_hash,
            }
        )
    else:
        sys.stdout.write(picked.to_tsv())


def vectors(
    context: typer.Context,
    store: Store,
    pairs: Annotated[str, typer.Argument(help="TSV with a header and columns w1, w2; - for standard input.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="A matrix to make; X.tsv, X.parquet or X.svm export instead.")
    ],
    b: Annotated[int, typer.Option("-b", help="How many unigrams, and how many bigrams.")] = 1500,
    basis: Annotated[
        Path | None, typer.Option("--basis", help="A basis to use instead of picking one.")
    ] = None,
    limit: Limit = "5000",
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", metavar="SEED", help="A seed: draw --limit observations instead of the first."
        ),
    ] = None,
    windows: WindowsOption = "4/2-5-2",
    count: Annotated[
        str, typer.Option("--count", help="A term counts once per context or per token.")
    ] = "context",
    columns: ColumnsOption = "",
    append: Annotated[bool, typer.Option("--append", help="Add the pairs to an existing matrix.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing matrix.")] = False,
    jobs: Jobs = -1,
    backend: Backend = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count v1, v2 and v12 of all pairs, once, for every task.

    v1 holds the contexts of a pair's first word, v2 those of its second, v12 those of the two together.
    """
    from bagpack.basis import Basis
    from bagpack.contexts.source import open_source
    from bagpack.contexts.warmup import warm_up
    from bagpack.contexts.windows import CountSettings, Windows, parse_limit
    from bagpack.files import check_not_read, is_stream
    from bagpack.tasks import read_pairs
    from bagpack.vectors.export import check_export, export, is_export
    from bagpack.vectors.matrix import PairMatrix
    from bagpack.vectors.storage import check_place

    settings = CountSettings(Windows.parse(windows), parse_limit(limit), sample, count)
    exporting = is_export(out)
    if append and exporting:
        raise UsageError(f"--append adds to a matrix, and {out} is an export; leave --append out")
    check_not_read(out, store, pairs, basis)
    if out.exists() and not (overwrite or append or (exporting and is_stream(out))):
        raise UsageError(f"{out} exists already; choose another --out, --append to it, or --overwrite it")
    (check_export if exporting else check_place)(out)
    old = PairMatrix.open(out) if append else None
    source = open_source(store)
    if old is not None:
        _refuse_options(context)
        old.check_source(source)
    listed = read_pairs(pairs, parse_columns(columns))
    with workers(backend, address, jobs, out), io.work_progress(quiet or json) as tell:
        if old is not None:
            picked = old.basis
        elif basis is not None:
            picked = Basis.open(basis)
            picked.check_corpus(source, str(basis))
        else:
            tell("basis", 0, 0)
            picked = source.pick_basis(b, jobs)
        warm_up(source, picked, None if quiet else tell.say)
        if old is not None:
            matrix = old.grow(source, listed.pairs, jobs, tell)
        else:
            matrix = PairMatrix.count(source, listed.pairs, picked, settings, jobs, tell)
    if exporting:
        export(matrix, out)
    else:
        matrix.save(out, overwrite=overwrite or append)
    facts = _matrix_facts(matrix, out, listed.duplicates)
    if json:
        io.print_json(facts)
    elif not quiet:
        _tell_matrix(facts)


COUNTING = ("b", "basis", "limit", "sample", "windows", "count")


def _refuse_options(context: typer.Context) -> None:
    """With --append everything is counted as the matrix was."""
    for name in COUNTING:
        if str(context.get_parameter_source(name)).endswith("COMMANDLINE"):
            option = "-b" if name == "b" else f"--{name}"
            raise UsageError(
                f"--append counts as the matrix was counted, so {option} has no place; leave it out"
            )


def _matrix_facts(matrix: PairMatrix, out: Path, duplicates: int) -> dict[str, Any]:
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


def _tell_matrix(facts: dict[str, Any]) -> None:
    io.tell_of(
        facts["path"],
        f"{io.many(facts['pairs'], 'pair')} of {io.many(facts['words'], 'word')}, {facts['features']:,} features; "
        f"{facts['pairs_seen_together']:,} seen together, {facts['pairs_never_together']:,} never",
    )
    if facts["duplicate_rows"]:
        io.tell(f"{rows_repeat(facts['duplicate_rows'])} a pair; each pair was counted once")
    tell_unknown(facts["unknown_words"])
    _tell_capped(facts)


def rows_repeat(count: int) -> str:
    """The beginning of a sentence about rows that stand there twice."""
    return io.many(count, "row repeats", "rows repeat")


def tell_unknown(words: list[str]) -> None:
    """On standard error, which words the corpus does not know, if any."""
    if words:
        zero = "a zero vector" if len(words) == 1 else "zero vectors"
        io.tell(f"{io.many(len(words), 'unknown word')}, {zero}: {io.some_of(words)}", "yellow")


def _tell_capped(facts: dict[str, Any]) -> None:
    for kind in ("word", "pair"):
        if capped := facts[f"capped_{kind}s"]:
            named = [f"{name} ({total:,})" for name, total in capped.items()]
            occur = io.many(len(capped), f"{kind} occurs", f"{kind}s occur")
            each = "" if len(capped) == 1 else " of each"
            io.tell(
                f"{occur} more often than {facts['limit']:,} times; only that many{each} were counted: "
                f"{io.some_of(named)}",
                "yellow",
            )


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    shape.add(app, shape.COUNTING, contexts, basis, vectors)
