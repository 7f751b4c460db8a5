"""`bagpack fetch`: from pairs to queries, from answers to a snippet corpus on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bagpack.artefacts import check_replaceable, new_directory, read_document, seal_of
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.store.corpus import Corpus
from bagpack.engines.base import Address, Engine, connect, engine_kind, parse_address
from bagpack.engines.fetch.ask import Progress, ask_all
from bagpack.engines.fetch.budget import RequestPolicy
from bagpack.engines.fetch.cache import AnswerCache
from bagpack.engines.fetch.client import Client
from bagpack.engines.inflect import Inflector, fold_target
from bagpack.engines.queries import QueryPlan, plan_queries
from bagpack.engines.snippets.assemble import Assembler, write_vertical
from bagpack.engines.snippets.corpus import FORMAT_VERSION, KIND, ROLES, SnippetCorpus
from bagpack.engines.snippets.refetch import Wanted, holds_already, shown_forms
from bagpack.errors import UsageError
from bagpack.files import digest, write_bytes, write_json
from bagpack.tasks.words import Pair, unordered_pairs


def plan_fetch(pairs: Iterable[Pair], inflector: Inflector, options: TextOptions) -> QueryPlan:
    """The queries of a list of pairs; unordered pairs and shared words are asked for once."""
    targets = [(fold_target(w1), fold_target(w2)) for w1, w2 in pairs]
    if not targets:
        raise UsageError("there are no pairs to fetch; give at least one")
    return plan_queries(unordered_pairs(targets), inflector, options.lang)


def fetch_snippets(
    pairs: Iterable[Pair],
    engine: str | Engine,
    out: str | Path,
    *,
    cache: str | Path,
    inflector: Inflector | None = None,
    options: TextOptions | None = None,
    policy: RequestPolicy | None = None,
    timeout: float = 30.0,
    overwrite: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
    notice: Callable[[str], None] | None = None,
) -> SnippetCorpus:
    """Ask an engine for the snippets of all pairs, and make a corpus of them.

    An existing snippet corpus is rebuilt from the cache, with the new pairs of the list, and replaced when
    the new one is whole; one that holds all of it already is left as it is.

    Parameters
    ----------
    engine
        A URL (``tantivy:./my-index``, ``postgresql://…``, ``opensearch+https://…``) or an open engine.
    cache
        The file that keeps the answers: what is in it is not asked again, whatever happens to this run.
    options
        How the sentences become tokens and lemmas, as for a store.
    overwrite
        Rebuild the snippet corpus in any case, even if its engine or options differ or it has more pairs.
    notice
        Called with a message if there was nothing to do.
    """
    options = options or TextOptions()
    out = Path(out)
    # One that is there is replaced or resumed, see below.
    check_replaceable(out, is_ours=_is_snippets, what="snippet corpus", overwrite=True)
    plan = plan_fetch(pairs, inflector or Inflector(options.lang), options)
    policy = policy or RequestPolicy()
    if isinstance(engine, str):
        check_budget(parse_address(engine), policy)
    with ExitStack() as stack:
        kept = stack.enter_context(AnswerCache(cache))
        if isinstance(engine, str):
            shown = parse_address(engine).shown
            client = Client(kept, shown, policy, timeout)
            opened = connect(engine, timeout, client)
            stack.callback(opened.close)
        else:
            opened, shown = engine, engine.identity
            client = Client(kept, shown, policy, timeout)
        if _is_snippets(out) and not overwrite:
            corpus = SnippetCorpus.open(out)
            if holds_already(corpus, Wanted(shown, opened.identity, policy.limit, options, plan)):
                if notice:
                    notice(
                        f"{out} holds the answers to all {len(plan.queries):,} queries already: no query is left to "
                        f"send (--overwrite rebuilds it)"
                    )
                return corpus
        answers = ask_all(opened, plan.queries, kept, policy, options.lang, progress, client)
        facts = {
            "engine": shown,
            "identity": opened.identity,
            "snippets_per_query": policy.limit,
            "queries": len(plan.queries),
            "queries_capped": sum(answers.full),
        }
        assembler = Assembler(plan, answers.numbers, kept, options, opened.exact)
        _write(out, assembler, answers.full, facts, jobs)
    return SnippetCorpus.open(out)


def check_budget(address: Address, policy: RequestPolicy) -> None:
    """An engine that costs money needs a spending limit and a rate."""
    if engine_kind(address.scheme).paid(address) and (policy.spend is None or policy.rate is None):
        raise UsageError(
            f"{address} costs money: give --spend (requests in all) and --rate (requests per second); --dry-run shows "
            f"what it takes"
        )


def _is_snippets(path: Path) -> bool:
    return read_document(path / "manifest.json").get("kind") == KIND


def _write(
    out: Path, assembler: Assembler, full: Sequence[bool], facts: dict[str, Any], jobs: int | None
) -> None:
    """Build the stores next to the final place, and exchange them."""
    # The answers are in the cache: what a killed run left there is not worth resuming.
    with new_directory(out, is_ours=_is_snippets, what="snippet corpus", overwrite=True) as work:
        hashes = []
        contexts = {}
        # The keys are known (lemmas, forms, or a target's own); the builder reads them from the lemma column.
        options = TextOptions(
            format="vertical",
            columns="word,lemma",
            case=assembler.options.case,
            punctuation=assembler.options.punctuation,
            lang=assembler.options.lang,
        )
        for role, sentences in zip(
            ROLES, (assembler.sentences, assembler.words, assembler.pairs), strict=True
        ):
            vertical = work / f"{role}.vert"
            contexts[role], written = write_vertical(vertical, sentences())
            hashes.append(written)
            os.utime(vertical, (0, 0))  # the store records it, and the same answers give the same bytes
            index_corpus([str(vertical)], work / role, options, jobs=jobs)
            vertical.unlink()
        tables = {"targets.tsv": _targets_table(assembler, full), "pairs.tsv": _pairs_table(assembler, full)}
        checksums = {}
        for name, text in tables.items():
            checksums[name] = write_bytes(work / name, text.encode())
        distinct = Corpus.open(work / "sentences")
        manifest = {
            "kind": KIND,
            "format_version": FORMAT_VERSION,
            "tokens": distinct.tokens,
            "sentences": distinct.sentences,
            "documents": distinct.documents,
            "types": distinct.types,
            **facts,
            "words": len(assembler.plan.words),
            "pairs": len(assembler.plan.pairs),
            "single_contexts": contexts["words"] - 1,
            "pair_contexts": contexts["pairs"] - 1,
            "content_hash": digest(
                "\n".join([*hashes, *checksums.values(), str(assembler.options.to_dict())]).encode()
            ),
            "options": assembler.options.to_dict(),
            "checksums": checksums,
        }
        write_json(work / "manifest.json", {**manifest, "seal": seal_of(manifest)})


def _targets_table(assembler: Assembler, full: Sequence[bool]) -> str:
    """`word`, its key, whether its query was capped, its forms."""
    lines = ["word\tkey\tcapped\tforms"]
    for word, query in assembler.plan.words.items():
        forms = shown_forms(assembler.plan, word)
        lines.append(f"{word}\t{assembler.keys[word]}\t{int(full[query])}\t{forms}")
    return "\n".join(lines) + "\n"


def _pairs_table(assembler: Assembler, full: Sequence[bool]) -> str:
    """The unordered pairs, and how many of their twelve queries were capped."""
    lines = ["w1\tw2\tcapped"]
    for (word1, word2), queries in assembler.plan.pairs.items():
        lines.append(f"{word1}\t{word2}\t{sum(full[query] for query in set(queries))}")
    return "\n".join(lines) + "\n"
