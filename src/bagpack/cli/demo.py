"""`bagpack demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

MEETING = ("cat", "lion")
EXPLAINED = (("virus", "infection"), ("surgeon", "hospital"))  # not among the labelled pairs
PRESET = "modern"


def demo(
    directory: Annotated[Path, typer.Option("--dir", help="Where everything is put.")] = Path("demo"),
) -> None:
    """Go the whole way on a real small corpus: index, count, evaluate, train, explain, report."""
    from rich.console import Console

    screen = Console(highlight=False)
    store, matrix = directory / "enwik8.bp", directory / "relations.bpm"
    model, report = directory / "relations.model", directory / "relations.html"
    _corpus(directory, store, screen)
    _contexts(store, screen)
    _count_and_evaluate(store, matrix, report, screen)
    _train_and_explain(store, matrix, model, screen)
    _say(
        screen,
        f"\n[bold]The report is {report}[/bold]: open it in a browser. Everything is in {directory}/ (delete it when "
        f"you like). Try next:\n"
        f"  bagpack explain {model} knife cut\n"
        f"  bagpack contexts {store} volcano island\n"
        f"  bagpack evaluate {matrix} {_relations()} --preset paper\n"
        f"  bagpack serve {store} --model {model}\n"
        f"  bagpack index YOUR-TEXTS --out my.bp",
    )


def _say(screen: Console, text: str) -> None:
    screen.print(text, soft_wrap=True)


def _relations() -> Path:
    from bagpack.data import relations_path

    return relations_path()


def _corpus(directory: Path, store: Path, screen: Console) -> None:
    from bagpack.corpus.index import index_corpus
    from bagpack.corpus.store import Corpus, read_manifest
    from bagpack.demo import ENWIK8, fetch, unpack
    from bagpack.errors import StoreError

    _say(screen, f"[bold]The corpus[/bold]: {ENWIK8.what}.\nIts licence: {ENWIK8.licence}.")
    try:
        read_manifest(store)
    except StoreError:
        kept = fetch(ENWIK8, lambda text: _say(screen, text))
        dump = unpack(kept, directory / "enwik8.xml")
        _say(screen, f"\n[bold]bagpack index {dump} --out {store}[/bold]")
        index_corpus([str(dump)], store, jobs=-1, overwrite=True, notice=lambda text: _say(screen, text))
        dump.unlink()
    corpus = Corpus.open(store)
    _say(
        screen,
        f"{corpus.tokens:,} tokens, {corpus.sentences:,} sentences, {corpus.documents:,} articles in {store}",
    )


def _contexts(store: Path, screen: Console) -> None:
    from bagpack.contexts.concordance import find_contexts
    from bagpack.corpus.store import Corpus

    w1, w2 = MEETING
    _say(screen, f"\n[bold]bagpack contexts {store} {w1} {w2} --limit 4[/bold]")
    found = find_contexts(Corpus.open(store), w1, w2, limit=4)
    for line in found:
        screen.print(f"  {line.text}  ({line.document})", markup=False, soft_wrap=True)
    _say(screen, f"[dim]{found.note}[/dim]")


def _count_and_evaluate(store: Path, matrix: Path, report: Path, screen: Console) -> None:
    from bagpack.errors import StoreError
    from bagpack.experiments.counting import CountOptions, matrix_of
    from bagpack.experiments.evaluation import EvaluateOptions, evaluate_file
    from bagpack.report import read_result, write_report
    from bagpack.report.terminal import print_result
    from bagpack.tasks import read_pairs
    from bagpack.vectors.matrix import PairMatrix

    data = _relations()
    pairs = read_pairs(str(data)).pairs
    try:
        PairMatrix.open(matrix).rows_of(pairs)
    except StoreError:
        _say(screen, f"\n[bold]bagpack vectors {store} {data} --out {matrix}[/bold]")
        counted = matrix_of(store, pairs, CountOptions(n_jobs=1))
        counted.save(matrix, overwrite=True)
        report.unlink(missing_ok=True)
        _say(screen, f"{len(counted):,} pairs, {int((counted.seen > 0).sum()):,} of them seen together")
    command = f"bagpack evaluate {matrix} {data} --preset {PRESET} --report {report}"
    _say(screen, f"\n[bold]{command}[/bold]")
    if report.exists():
        result: Any = read_result(report)
    else:
        options = EvaluateOptions(preset=PRESET)
        result = evaluate_file(str(matrix), str(data), None, CountOptions(n_jobs=1), options)
        result["command"] = command
        write_report(result, report)
    print_result(result, screen)


def _train_and_explain(store: Path, matrix: Path, model: Path, screen: Console) -> None:
    from bagpack.cli.explaining import show_explanation
    from bagpack.experiments.counting import CountOptions
    from bagpack.experiments.evaluation import EvaluateOptions
    from bagpack.experiments.training import model_source, train_file
    from bagpack.explain import explain_pair
    from bagpack.learn import load_model

    data = _relations()
    fresh = not model.exists() or model.stat().st_mtime < matrix.stat().st_mtime
    if fresh:
        _say(screen, f"\n[bold]bagpack train {matrix} {data} --preset {PRESET} --out {model}[/bold]")
        options = EvaluateOptions(preset=PRESET)
        train_file(
            str(matrix),
            str(data),
            str(model),
            CountOptions(n_jobs=1),
            options,
            evaluate=False,
            overwrite=True,
        )
    opened = load_model(model)
    source = model_source(opened, str(store))
    for w1, w2 in EXPLAINED:
        _say(
            screen,
            f"\n[bold]bagpack explain {model} {w1} {w2} --top 4 --lines 1[/bold] (for the label it chooses)",
        )
        answer = explain_pair(opened, source, w1, w2, top=0, lines=0).answer
        show_explanation(explain_pair(opened, source, w1, w2, labels=[answer], top=4, lines=1))


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(demo)
