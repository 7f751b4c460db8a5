"""`bagpack forms`, `queries`, `engine build`, `fetch`: search engines as a source."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack.cli import console as io
from bagpack.cli import shape
from bagpack.cli.corpus import tell_passed_over
from bagpack.cli.vectors import Jobs, Json, Quiet, parse_columns
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.inflect import Inflector
    from bagpack.engines.queries import QueryPlan

Forms = Annotated[
    Path | None,
    typer.Option("--forms", help="Forms of words, tab-separated: word, form, form, … (instead of ours)."),
]
Lang = Annotated[str, typer.Option(help="Language of the words; only en is inflected without --forms.")]
EngineUrl = Annotated[
    str,
    typer.Option(
        "--engine",
        envvar="BAGPACK_ENGINE",
        help="tantivy:DIRECTORY, postgresql://HOST/DATABASE, opensearch+https://HOST:PORT/INDEX, …",
    ),
]


def _inflector(forms: Path | None, lang: str) -> Inflector:
    from bagpack.engines.inflect import Inflector, read_forms

    return Inflector(lang, read_forms(forms) if forms else None)


def forms(
    words: Annotated[list[str], typer.Argument(help="Targets; quote those of several words.")],
    forms: Forms = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Show the inflected forms that stand for a target in queries: [bold]bagpack forms cat lion[/bold]."""
    io.check_words(*words)
    inflector = _inflector(forms, lang)
    found = {word: list(inflector.forms(word)) for word in words}
    if json:
        io.print_json(found)
        return
    for word, inflected in found.items():
        typer.echo(f"{word}\t{', '.join(inflected)}")


def queries(
    w1: Annotated[str, typer.Argument(help="The first word.")],
    w2: Annotated[str, typer.Argument(help="The second word.")],
    engine: EngineUrl = "tantivy:",
    forms: Forms = None,
    lang: Lang = "en",
    json: Json = False,
) -> None:
    """Show the queries of a pair, in the paper's notation and in the engine's own; nothing is asked."""
    from bagpack.engines.base import native_query
    from bagpack.engines.queries import plan_queries

    io.check_words(w1, w2)
    plan = plan_queries([(w1, w2)], _inflector(forms, lang), lang)
    both = [{"query": str(query), "native": native_query(query, engine)} for query in plan.queries]
    if json:
        io.print_json(both)
        return
    for entry in both:
        typer.echo(f"{entry['query']}\n    {entry['native']}")


def build(
    index: Annotated[str, typer.Argument(help="A directory (tantivy), or an engine's URL.")],
    sources: Annotated[list[str], typer.Argument(help="Files, directories, globs, - or a store.")],
    format: Annotated[
        str, typer.Option("--format", help="auto, text, vertical, conllu, jsonl, parquet, mediawiki.")
    ] = "auto",
    lang: Annotated[str, typer.Option(help="Language of raw text, as a code such as en.")] = "en",
    punctuation: Annotated[str, typer.Option(help="Punctuation marks are tokens: keep, drop.")] = "keep",
    encoding: Annotated[str, typer.Option(help="Encoding of the files: utf-8, latin-1, …")] = "utf-8",
    encoding_errors: Annotated[
        str, typer.Option("--encoding-errors", help="Bytes that are not the encoding: strict, replace, skip.")
    ] = "strict",
    bad_lines: Annotated[
        str, typer.Option("--bad-lines", help="Lines that do not fit the format: error, skip.")
    ] = "error",
    paragraphs: Annotated[str, typer.Option(help="A paragraph of plain text: auto, line, blank.")] = "auto",
    columns: Annotated[str, typer.Option(help="Columns of vertical text, such as word,tag,lemma.")] = "auto",
    text_field: Annotated[
        str, typer.Option("--text-field", help="Field with the text (jsonl, parquet).")
    ] = "text",
    id_field: Annotated[str, typer.Option("--id-field", help="Field with the document's id.")] = "id",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an index that BagPack made.")
    ] = False,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fill a search index with sentences: [bold]bagpack engine build my-index SOURCE…[/bold]."""
    from bagpack.corpus.options import TextOptions
    from bagpack.engines.base import parse_address
    from bagpack.engines.build import build_engine

    options = TextOptions(
        format=format, punctuation=punctuation, lang=lang, encoding=encoding, encoding_errors=encoding_errors,
        bad_lines=bad_lines, paragraphs=paragraphs, columns=columns, text_field=text_field, id_field=id_field,
    )  # fmt: skip
    begun = time.monotonic()
    with io.progress_bar(quiet or json) as bar:
        task = bar.add_task("reading", total=None, note="") if bar else None

        def show(done: int, total: int) -> None:
            if bar and task is not None:
                note = f"{done:,} sentences"
                bar.update(task, description="filling the index", completed=done, total=total, note=note)

        summary = build_engine(index, sources, options, overwrite=overwrite, jobs=jobs, progress=show)
    seconds = time.monotonic() - begun
    shown = parse_address(index).shown
    if json:
        facts = {"engine": shown, "sentences": summary.sentences, "tokens": summary.tokens, **summary.told}
        facts["left_out"] = [file._asdict() for file in summary.left_out]
        io.print_json({**facts, "seconds": round(seconds, 3)})
    elif not quiet:
        counts = f"{io.many(summary.sentences, 'sentence')}, {io.many(summary.tokens, 'token')}"
        io.tell_of(shown, f"{counts} in {io.show_time(seconds)}")
        tell_passed_over(summary.told, summary.left_out)


def fetch(
    pairs: Annotated[str, typer.Argument(help="Pairs, a data set, or questions; - is standard input.")],
    engine: EngineUrl,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The snippet corpus to make.")] = None,
    limit: Annotated[int, typer.Option(help="Snippets a query, at most.")] = 1000,
    rate: Annotated[float | None, typer.Option(help="Queries a second, at most.")] = None,
    connections: Annotated[int, typer.Option(help="Queries in flight at once.")] = 1,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for an answer.")] = 30.0,
    retries: Annotated[
        int, typer.Option(help="How often to ask a busy engine again, waiting longer each time.")
    ] = 5,
    spend: Annotated[int | None, typer.Option(help="Queries that this run may ask, at most.")] = None,
    cache: Annotated[
        Path | None, typer.Option(help="The file that keeps answers (default: one per user).")
    ] = None,
    forms: Forms = None,
    lang: Lang = "en",
    level: Annotated[str, typer.Option(help="Count lemmas or forms: lemma, form.")] = "lemma",
    case: Annotated[str, typer.Option(help="Case of what is counted: fold, keep.")] = "fold",
    annotator: Annotated[str, typer.Option(help="Lemmas: simplemma, none, spacy:MODEL.")] = "simplemma",
    columns: Annotated[str, typer.Option(help="The file's names, such as w1=noun,w2=verb.")] = "",
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Worker processes for indexing; -1: one per core.")
    ] = -1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count the queries and show five; ask nothing.")
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace a snippet corpus of another engine, or with other options or fewer pairs.",
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask a search engine for the contexts of pairs; the result serves wherever a store does.

    Every answer is kept as it comes: after an interruption the same command goes on where it stopped, and with a longer
    list it asks only for what is new.
    """
    from bagpack.corpus.options import TextOptions
    from bagpack.engines.fetch.ask import Manners
    from bagpack.engines.fetch.cache import default_cache
    from bagpack.engines.snippets.fetching import fetch_snippets, plan_fetch
    from bagpack.tasks import read_any

    options = TextOptions(level=level, case=case, annotator=annotator, lang=lang)
    manners = Manners(limit=limit, rate=rate, connections=connections, retries=retries, spend=spend)
    inflector = _inflector(forms, lang)
    wanted = read_any(pairs, columns=parse_columns(columns)).pairs
    if dry_run:
        _show_plan(plan_fetch(wanted, inflector, options), engine, json)
        return
    if out is None:
        raise UsageError("fetch needs --out SNIPPETS, the place for what it finds (or --dry-run)")
    begun = time.monotonic()
    asked = 0
    nothing_to_do: list[str] = []
    with io.progress_bar(quiet or json) as bar:
        task = bar.add_task("asking", total=None, note="") if bar else None

        def show(done: int, total: int, now: int) -> None:
            nonlocal asked
            asked = now
            if bar and task is not None:
                bar.update(
                    task, completed=done, total=total, note=f"{total - done:,} queries left, {now:,} asked"
                )

        corpus = fetch_snippets(
            wanted, engine, out, cache=cache or default_cache(), inflector=inflector, options=options,
            manners=manners, timeout=timeout, overwrite=overwrite, jobs=jobs, progress=show,
            notice=nothing_to_do.append,
        )  # fmt: skip
    facts = corpus.info()
    seconds = time.monotonic() - begun
    if json:
        io.print_json({**facts, "asked": asked, "seconds": round(seconds, 3)})
    elif quiet:
        return
    elif nothing_to_do:
        io.tell(nothing_to_do[0])
    else:
        _summarise(facts, asked, seconds)


def _show_plan(plan: QueryPlan, engine: str, json: bool) -> None:
    from bagpack.engines.base import native_query, parse_address

    facts: dict[str, Any] = {
        "engine": parse_address(engine).shown,
        "words": len(plan.words),
        "pairs": len(plan.pairs),
        "queries": len(plan.queries),
        "examples": [{"query": str(q), "native": native_query(q, engine)} for q in plan.queries[:5]],
    }
    if json:
        io.print_json(facts)
        return
    counts = f"{io.many(facts['words'], 'word')} and {io.many(facts['pairs'], 'unordered pair')}"
    typer.echo(f"{io.many(facts['queries'], 'query', 'queries')} for {counts}, such as")
    for entry in facts["examples"]:
        typer.echo(f"{entry['query']}\n    {entry['native']}")


def _summarise(facts: dict[str, Any], asked: int, seconds: float) -> None:
    io.tell_of(
        facts["path"],
        f"{facts['single_contexts']:,} single and {io.many(facts['pair_contexts'], 'pair context')} from "
        f"{io.many(facts['sentences'], 'distinct sentence')}",
    )
    queries = io.many(facts["queries"], "query", "queries")
    io.tell(f"{queries}, {asked:,} of them asked now, the others known; {io.show_time(seconds)}")
    if capped := facts["queries_capped"]:
        have = io.many(capped, "query has", "queries have")
        io.tell(f"{have} reached the limit of {facts['snippets_per_query']:,} snippets", "yellow")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    shape.add(app, shape.ENGINES, forms, queries, fetch)
    engine = typer.Typer(cls=shape.Group, help="Search indices that BagPack fills.", no_args_is_help=True)
    engine.command(cls=shape.Command, no_args_is_help=True)(build)

    @engine.callback()
    def group() -> None:
        """Keep `build` a command of its own name, although it is the only one."""

    app.add_typer(engine, name="engine", rich_help_panel=shape.ENGINES)
