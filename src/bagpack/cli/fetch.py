"""`bagpack fetch`."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bagpack import console
from bagpack.cli.declaration import advanced, common
from bagpack.cli.forms import inflector_of
from bagpack.cli.option_groups import LevelOptions, OutputOptions
from bagpack.cli.options import AnyData, Columns, Engine, Forms, Jobs, Overwrite, WordLanguage, parse_columns
from bagpack.cli.progress import progress_bar
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.fetch.budget import RequestPolicy
    from bagpack.engines.queries import QueryPlan


def fetch(
    pairs: AnyData,
    engine: Engine,
    level: LevelOptions,
    output: OutputOptions,
    out: Annotated[
        Path | None, common("--out", "-o", metavar="SNIPPETS", help="The snippet corpus to make.")
    ] = None,
    limit: Annotated[int, common("--limit", help="Maximum snippets per query.")] = 1000,
    rate: Annotated[float | None, common("--rate", help="Maximum requests per second.")] = None,
    connections: Annotated[int, advanced("--connections", help="Queries sent at the same time.")] = 1,
    timeout: Annotated[float, advanced("--timeout", help="Seconds to wait for an answer.")] = 30.0,
    retries: Annotated[
        int, advanced("--retries", help="Attempts at a busy engine, waiting longer each time.")
    ] = 5,
    spend: Annotated[
        int | None,
        common("--spend", help="Maximum requests to this engine, over all runs."),
    ] = None,
    max_age: Annotated[
        float, advanced("--max-age", help="Days that answers of an index not built by BagPack are reused.")
    ] = 30.0,
    cache: Annotated[
        Path | None,
        advanced("--cache", metavar="FILE", help="Where answers are kept (default: one per user)."),
    ] = None,
    forms: Forms = None,
    lang: WordLanguage = "en",
    columns: Columns = "",
    jobs: Jobs = -1,
    dry_run: Annotated[
        bool, common("--dry-run", help="Count the queries and show five; send nothing.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Fetch contexts of pairs from a search engine; run again to continue."""
    from bagpack.corpus.options import TextOptions
    from bagpack.engines.fetch.budget import RequestPolicy
    from bagpack.engines.fetch.cache import default_cache
    from bagpack.engines.snippets.fetching import fetch_snippets, plan_fetch
    from bagpack.tasks import read_any

    options = TextOptions(level=level.level, case=level.case, annotator=level.annotator, lang=lang)
    policy = RequestPolicy(
        limit=limit, rate=rate, connections=connections, retries=retries, spend=spend, max_age=max_age
    )
    inflector = inflector_of(forms, lang)
    wanted = read_any(pairs, columns=parse_columns(columns)).pairs
    if dry_run:
        _show_plan(plan_fetch(wanted, inflector, options), engine, policy, output.json)
        return
    if out is None:
        raise UsageError("fetch needs --out SNIPPETS, the place for what it finds (or --dry-run)")
    begun = time.monotonic()
    asked = 0
    nothing_to_do: list[str] = []
    with progress_bar(output.silent) as bar:
        task = bar.add_task("querying", total=None, note="") if bar else None

        def show(done: int, total: int, now: int) -> None:
            nonlocal asked
            asked = now
            if bar and task is not None:
                bar.update(task, completed=done, total=total, note=f"{total - done:,} left, {now:,} sent")

        with warnings.catch_warnings():
            warnings.showwarning = lambda text, *_: (
                None if output.silent else console.print_message(str(text), "yellow")
            )
            corpus = fetch_snippets(
                wanted, engine, out, cache=cache or default_cache(), inflector=inflector, options=options,
                policy=policy, timeout=timeout, overwrite=overwrite, jobs=jobs, progress=show,
                notice=nothing_to_do.append,
            )  # fmt: skip
    facts = corpus.info()
    seconds = time.monotonic() - begun
    if output.json:
        console.print_json({**facts, "asked": asked, "seconds": round(seconds, 3)})
    elif output.quiet:
        return
    elif nothing_to_do:
        console.print_message(nothing_to_do[0])
    else:
        _summarise(facts, asked, seconds)


def _show_plan(plan: QueryPlan, engine: str, policy: RequestPolicy, json: bool) -> None:
    from bagpack.engines.base import engine_kind, native_query, parse_address

    address = parse_address(engine)
    kind = engine_kind(address.scheme)
    requests = sum(kind.requests(query, policy.limit, address) for query in plan.queries)
    facts: dict[str, Any] = {
        "engine": address.shown,
        "requests": requests,
        "dollars": round(requests * kind.price(address), 2),
        "seconds": round(requests / policy.rate) if policy.rate else None,
        "words": len(plan.words),
        "pairs": len(plan.pairs),
        "queries": len(plan.queries),
        "examples": [{"query": str(q), "native": native_query(q, engine)} for q in plan.queries[:5]],
    }
    if json:
        console.print_json(facts)
        return
    counts = f"{console.many(facts['words'], 'word')} and {console.many(facts['pairs'], 'unordered pair')}"
    console.write(f"{console.many(facts['queries'], 'query', 'queries')} for {counts}, such as\n")
    for entry in facts["examples"]:
        console.write(f"{entry['query']}\n    {entry['native']}\n")
    if requests > facts["queries"] or facts["dollars"]:
        cost = f", ${facts['dollars']:,.2f}" if facts["dollars"] else ""
        time_needed = (
            f", {console.show_time(facts['seconds'])} at --rate {policy.rate:g}" if policy.rate else ""
        )
        console.write(
            f"At most {console.many(requests, 'request')} (--limit {policy.limit}){cost}{time_needed}\n"
        )


def _summarise(facts: dict[str, Any], asked: int, seconds: float) -> None:
    console.print_about(
        facts["path"],
        f"{facts['single_contexts']:,} single and {console.many(facts['pair_contexts'], 'pair context')} from "
        f"{console.many(facts['sentences'], 'distinct sentence')}",
    )
    queries = console.many(facts["queries"], "query", "queries")
    console.print_message(
        f"{queries}, {asked:,} of them sent now, the others cached; {console.show_time(seconds)}"
    )
    if capped := facts["queries_capped"]:
        have = console.many(capped, "query has", "queries have")
        console.print_message(
            f"{have} reached the limit of {facts['snippets_per_query']:,} snippets", "yellow"
        )
