"""`bagpack fetch`: from pairs to queries, from answers to a snippet corpus on disk.

A snippet corpus is three ordinary stores, so that everything that reads a store reads snippets with the same code:

- `sentences`: every distinct sentence once. Its lexicon and its basis are those of the snippets.
- `words`: one sentence per single context. The observed token, and it alone, has its target's own key.
- `pairs`: one sentence per pair context; the two observed tokens have their targets' keys.

A target's postings in `words` are then the observations that its own query gave, and a pair's co-occurrences in `pairs`
those that the pair's twelve queries gave: never mixed, and each query giving those of its own order and gap alone.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

from bagpack.artefacts import check_place, new_artefact
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.engines.base import Engine, Snippet, connect, distinct, make_engine
from bagpack.engines.cache import RequestPolicy, Requests
from bagpack.engines.inflect import Inflector
from bagpack.engines.observations import (
    Annotation,
    VerticalFile,
    co_occurrences,
    matching_sentences,
    occurrences,
)
from bagpack.engines.queries import GAPS, Query, QueryPlan, plan_queries
from bagpack.engines.sentences import tidy
from bagpack.engines.snippets import SNIPPETS, SnippetCorpus
from bagpack.errors import BagpackError, UsageError
from bagpack.files import digest, digest_file, write_bytes
from bagpack.parallel import jobs, progress
from bagpack.tasks.pairs import Pair

ROLES = ("sentences", "words", "pairs")
Answer = tuple[list[Snippet], bool]  # sentences of a query, each once; whether it reached the limit


class Fetched(NamedTuple):
    """What a run made, and the number of requests that it sent."""

    corpus: SnippetCorpus
    requests: int


def fetch_snippets(
    pairs: Iterable[Pair], engine: str, out: str | Path, *, cache: str | Path, inflector: Inflector | None = None,
    options: TextOptions | None = None, policy: RequestPolicy | None = None, timeout: float = 30.0,
    overwrite: bool = False,
) -> Fetched:  # fmt: skip
    """Ask an engine (a URL) for the snippets of all pairs, and make a corpus of them.

    What is in the file `cache` is not asked again, whatever happens to this run. `options` say how sentences become
    tokens and lemmas, as for a store.
    """
    options, policy, out = options or TextOptions(), policy or RequestPolicy(), Path(out)
    check_place(out, SNIPPETS, overwrite=overwrite)
    plan = plan_queries(pairs, inflector, options.lang)
    named = make_engine(engine)
    if named.paid and (policy.budget is None or policy.rate is None):
        raise UsageError(
            f"{named.address} costs money: give --budget (requests in all) and --rate (requests per second); --dry-run "
            f"shows what it takes"
        )
    with ExitStack() as stack:
        requests = stack.enter_context(closing(Requests(cache, named.address.shown, policy, timeout)))
        opened = stack.enter_context(closing(connect(engine, timeout, requests)))
        # The answers are in the cache: what a killed run left next to the target is not worth resuming.
        with new_artefact(out, SNIPPETS, overwrite=overwrite) as draft:
            facts = {"engine": opened.address.shown, "snippets_per_query": policy.limit}
            draft.manifest = facts | _write(draft.directory, plan, options, opened, requests)
    return Fetched(SnippetCorpus.open(out), requests.sent)


def _answers(
    groups: Iterable[Sequence[Query]], engine: Engine, requests: Requests, lang: str
) -> Generator[list[Answer], None, None]:
    """The answers to each group of queries, in order.

    After a failure or Ctrl-C nothing more is asked, but what is in flight is waited for: it was paid for. So requests
    are sent, and their answers kept, by another thread than the one that a signal interrupts.
    """
    limit = requests.policy.limit

    def answer(query: Query) -> Answer:
        found = engine.search(query, limit)
        if engine.exact:
            sentences = [Snippet(document, tidy(text)) for document, text in found]
        else:
            sentences = list(matching_sentences(query, found, lang))
        return distinct(sentences), len(found) >= limit

    pool = ThreadPoolExecutor(1, thread_name_prefix="bagpack-fetch")
    try:
        for queries in groups:
            yield list(pool.map(answer, queries))
    except BagpackError as error:
        error.args = (f"{error}; what was answered is kept: the same command resumes there",)
        raise
    finally:
        requests.stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _write(
    work: Path, plan: QueryPlan, options: TextOptions, engine: Engine, requests: Requests
) -> dict[str, Any]:
    """Ask, locate the targets in what comes, and build the three stores; returns what the manifest says of them."""
    groups: list[tuple[str | Pair, Sequence[Query]]] = [(key, [query]) for key, query in plan.words.items()]
    groups += plan.pairs.items()
    capped: set[Query] = set()
    annotation, written = Annotation(options), set[str]()
    with ExitStack() as stack:
        files = {role: stack.enter_context(closing(VerticalFile(work / f"{role}.vert"))) for role in ROLES}
        asked = stack.enter_context(
            closing(_answers([queries for _, queries in groups], engine, requests, options.lang))
        )
        for (target, queries), answers in zip(groups, asked, strict=True):
            capped.update(query for query, (_, full) in zip(queries, answers, strict=True) if full)
            _observe(target, queries, answers, engine.exact, annotation, files, written)
            progress()("queries", 1, len(groups))
    # The keys are known (lemmas, forms, or a target's own); the builder reads them from the lemma column.
    reading = TextOptions(
        format="vertical", columns="word,lemma", case=options.case, punctuation=options.punctuation, lang=options.lang
    )  # fmt: skip
    content = [str(options.to_dict())]
    for role, file in files.items():
        os.utime(file.path, (0, 0))  # the store records it, and the same answers give the same bytes
        content.append(digest_file(file.path))
        index_corpus([str(file.path)], work / role, reading, jobs=jobs())
        file.path.unlink()
    content += [write_bytes(work / name, text.encode()) for name, text in _tables(plan, capped).items()]
    store = Corpus.open(work / "sentences")
    return {
        **{name: getattr(store, name) for name in ("tokens", "sentences", "documents", "types")},
        "queries": len(plan.queries), "queries_capped": len(capped), "words": len(plan.forms),
        "pairs": len(plan.listed), "single_contexts": files["words"].count, "pair_contexts": files["pairs"].count,
        "content_hash": digest("\n".join(content).encode()), "options": options.to_dict(),
    }  # fmt: skip


def _observe(
    target: str | Pair, queries: Sequence[Query], answers: Sequence[Answer], exact: bool, annotation: Annotation,
    files: dict[str, VerticalFile], written: set[str],
) -> None:  # fmt: skip
    """Write the sentences that are not `written` yet, and what they give to a word or a pair, by its keys.

    A sentence gives a pair the co-occurrences of the order and the gap of those queries that found it. An engine that
    is not `exact` counts gaps in its own way (it may skip punctuation) and finds a co-occurrence with a query of
    another gap; then all co-occurrences in the sentences that the pair's queries found are used.
    """
    allowed: dict[str, set[tuple[str, int]]] = {}
    for number, (snippets, _) in enumerate(answers):
        for snippet in snippets:
            allowed.setdefault(snippet.text, set()).add(("+-"[number // GAPS], number % GAPS))
    for document, text in distinct(snippet for snippets, _ in answers for snippet in snippets):
        seen = digest(text.encode())
        for sentence in annotation.of(text):
            if seen not in written:
                files["sentences"].add(document, sentence.observed())
            ones, twos = (occurrences(sentence.folded, own) for own in (queries[0].forms1, queries[0].forms2))
            if isinstance(target, str):
                for place in sorted(ones.items()):
                    files["words"].add(document, sentence.observed([(place, target)]))
                continue
            for order, gap, *places in co_occurrences(ones, twos, target[0] == target[1]):
                if not exact or (order, gap) in allowed[text]:
                    keys = target if order == "+" else target[::-1]
                    files["pairs"].add(document, sentence.observed(zip(places, keys, strict=True)))
        written.add(seen)


def _tables(plan: QueryPlan, capped: set[Query]) -> dict[str, str]:
    """The words (key, whether the query was capped, forms), and the pairs (how many queries were capped)."""
    words, pairs = ["word\tkey\tcapped\tforms"], ["w1\tw2\tcapped"]
    for word, forms in plan.forms.items():
        key = plan.keys[word]
        shown = " | ".join(" ".join(form) for form in forms)
        words.append(f"{word}\t{key}\t{int(plan.words[key] in capped)}\t{shown}")
    for w1, w2 in plan.listed:
        keys = plan.keys[w1], plan.keys[w2]
        queries = plan.pairs.get(keys) or plan.pairs[keys[::-1]]
        pairs.append(f"{w1}\t{w2}\t{len(capped.intersection(queries))}")
    return {name: "\n".join([*rows, ""]) for name, rows in (("targets.tsv", words), ("pairs.tsv", pairs))}
