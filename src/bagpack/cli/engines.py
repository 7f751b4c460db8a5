"""`bagpack fetch` and `bagpack engine build`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bagpack import console
from bagpack.cli import options as opt
from bagpack.cli.corpus import print_skipped
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.cache import RequestPolicy
    from bagpack.engines.queries import QueryPlan


def fetch(
    pairs: Annotated[str, opt.argument("PAIRS", "Pairs, relations, ratings or questions; - for stdin.")],
    engine: Annotated[str, opt.value("URL", "tantivy:DIRECTORY, opensearch+…", envvar="BAGPACK_ENGINE")],
    out: Annotated[Path | None, opt.value("SNIPPETS", "The snippet corpus to make.", "--out", "-o")] = None,
    limit: Annotated[int, opt.value("N", "Maximum snippets per query.", max=1_000_000)] = 1000,
    rate: Annotated[float | None, opt.value("N", "Maximum requests per second.")] = None,
    budget: Annotated[int | None, opt.value("N", "Maximum requests to this engine, over all runs.")] = None,
    forms: Annotated[Path | None, opt.value("FILE", "Inflected forms, tab-separated: word, form, …")] = None,
    lang: Annotated[str, opt.value("CODE", "Language of the words; others than en need --forms.")] = "en",
    level: opt.Level = "lemma",
    columns: opt.Columns = "",
    dry_run: Annotated[bool, opt.flag("--dry-run", "Print the forms and the queries; send nothing.")] = False,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Fetch contexts of pairs from a search engine; it can be resumed."""
    from bagpack.corpus.options import TextOptions
    from bagpack.engines.cache import RequestPolicy, default_cache
    from bagpack.engines.fetch import fetch_snippets
    from bagpack.engines.inflect import Inflector, read_forms
    from bagpack.engines.queries import plan_queries
    from bagpack.tasks.questions import read_any

    options = TextOptions(level=level, lang=lang)
    policy = RequestPolicy(limit=limit, rate=rate, budget=budget)
    inflector = Inflector(lang, read_forms(forms) if forms else None)
    wanted = read_any(pairs, columns=opt.parse_columns(columns)).pairs
    if dry_run:
        _show_plan(plan_queries(wanted, inflector, lang), engine, policy, json)
        return
    if out is None:
        raise UsageError("fetch needs --out SNIPPETS, the place for what it finds (or --dry-run)")
    begun = time.monotonic()
    with opt.at_work(json), opt.keeping("answers are kept: run the same command to continue"):
        fetched = fetch_snippets(
            wanted, engine, out, cache=default_cache(), inflector=inflector, options=options, policy=policy,
            overwrite=overwrite,
        )  # fmt: skip
    facts = {
        **fetched.corpus.info(),
        "requests": fetched.requests,
        "seconds": round(time.monotonic() - begun, 3),
    }
    opt.show(json, facts, _show_fetched)


def _show_fetched(facts: dict[str, Any]) -> None:
    many = console.many
    contexts = f"{facts['single_contexts']:,} single and {many(facts['pair_contexts'], 'pair context')}"
    sentences = many(facts["sentences"], "distinct sentence")
    console.print_message(f"{facts['path']}: {contexts} from {sentences}")
    sent = f"{many(facts['queries'], 'query', 'queries')}, {many(facts['requests'], 'request')} sent"
    console.print_message(f"{sent}; {console.show_time(facts['seconds'])}")
    if capped := facts["queries_capped"]:
        have = many(capped, "query has", "queries have")
        console.print_message(
            f"{have} reached the limit of {facts['snippets_per_query']:,} snippets", "yellow"
        )


def _show_plan(plan: QueryPlan, engine: str, policy: RequestPolicy, json: bool) -> None:
    """The forms of all words, the queries of the first pair, and what all of them may cost."""
    from bagpack.engines.base import make_engine

    made = make_engine(engine)
    requests = sum(made.most_requests(query, policy.limit) for query in plan.queries)
    (first, together), *_ = plan.pairs.items()
    queries = dict.fromkeys([*(plan.words[key] for key in first), *together])
    facts: dict[str, Any] = {
        "engine": made.address.shown,
        "requests": requests,
        "dollars": round(requests * made.price, 2),
        "seconds": round(requests / policy.rate) if policy.rate else None,
        "words": len(plan.forms),
        "pairs": len(plan.listed),
        "queries": len(plan.queries),
        "forms": {word: [" ".join(form) for form in forms] for word, forms in plan.forms.items()},
        "examples": [str(query) for query in queries],
    }
    if json:
        console.print_json(facts)
        return
    many = console.many
    lines = [f"{word}\t{', '.join(forms)}" for word, forms in facts["forms"].items()]
    counts = f"{many(facts['words'], 'word')} and {many(facts['pairs'], 'unordered pair')}"
    lines.append(f"{many(facts['queries'], 'query', 'queries')} for {counts}; those of the first pair:")
    lines += facts["examples"]
    if requests:
        cost = f", ${facts['dollars']:,.2f}" if facts["dollars"] else ""
        cost += f", {console.show_time(facts['seconds'])} at --rate {policy.rate:g}" if policy.rate else ""
        lines.append(f"At most {many(requests, 'request')} (--limit {policy.limit}){cost}")
    console.write("\n".join(lines) + "\n")


def build(
    index: Annotated[str, opt.argument("INDEX", "A directory (tantivy), or an engine's URL.")],
    sources: Annotated[list[str], opt.argument("SOURCE", "Files, directories, globs, - or a store.")],
    format: opt.Format = "auto",
    lang: opt.Language = "en",
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Fill a search index with the sentences of a corpus. For more options of reading, make a store first."""
    from bagpack.corpus.options import TextOptions
    from bagpack.engines.base import parse_address
    from bagpack.engines.build import build_engine

    begun = time.monotonic()
    with opt.at_work(json):
        summary = build_engine(index, sources, TextOptions(format=format, lang=lang), overwrite=overwrite)
    seconds = time.monotonic() - begun
    shown = parse_address(index).shown
    facts = {"engine": shown, "sentences": summary.sentences, "tokens": summary.tokens, **summary.problems}
    if json:
        left_out = [file._asdict() for file in summary.left_out]
        console.print_json({**facts, "left_out": left_out, "seconds": round(seconds, 3)})
    elif not opt.is_silent(json):
        counts = f"{console.many(summary.sentences, 'sentence')}, {console.many(summary.tokens, 'token')}"
        console.print_message(f"{shown}: {counts} in {console.show_time(seconds)}")
        print_skipped(summary.problems, summary.left_out)
