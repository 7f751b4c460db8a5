"""Fetching into a snippet corpus that is there already: what it holds, and what may not differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bagpack.artefacts import damaged_files
from bagpack.errors import StoreError

if TYPE_CHECKING:
    from bagpack.corpus.options import TextOptions
    from bagpack.engines.queries import QueryPlan
    from bagpack.engines.snippets.corpus import SnippetCorpus

CURE = "choose another --out, or --overwrite it"


@dataclass(frozen=True)
class Wanted:
    """What a run of `fetch` would make, as far as it is known before anything is asked."""

    engine: str  # its URL without credentials
    identity: str
    limit: int
    options: TextOptions
    plan: QueryPlan

    def words(self) -> list[tuple[str, str]]:
        """The words and their forms, as the table of a snippet corpus has them."""
        return [(word, shown_forms(self.plan, word)) for word in self.plan.words]


def shown_forms(plan: QueryPlan, word: str) -> str:
    """A word's forms, as the table of a snippet corpus has them."""
    return " | ".join(" ".join(form) for form in plan.targets[word])


def holds_already(corpus: SnippetCorpus, wanted: Wanted) -> bool:
    """Whether a corpus is what the run would make.

    Raises
    ------
    StoreError
        The run would make something else out of it than a longer or a fresher one.
    """
    manifest = corpus.manifest
    for problem in damaged_files(corpus.path, manifest["checksums"]):
        raise StoreError(f"{problem}; --overwrite rebuilds the snippet corpus (the answers are in the cache)")
    same_index = manifest.get("identity") == wanted.identity
    if not same_index and manifest["engine"] != wanted.engine:
        raise StoreError(
            f"{corpus.path} was fetched from {manifest['engine']}, not from {wanted.engine}; {CURE}"
        )
    _check_options(corpus, manifest, wanted)
    words = [(word, forms) for word, _, _, forms in corpus.target_rows()]
    pairs = [(w1, w2) for w1, w2, *_ in corpus.pair_rows()]
    _check_forms(corpus, dict(words), dict(wanted.words()))
    _check_pairs(corpus, pairs, wanted.plan.pairs)
    return same_index and words == wanted.words() and pairs == list(wanted.plan.pairs)


def _check_options(corpus: SnippetCorpus, manifest: dict[str, Any], wanted: Wanted) -> None:
    before = {"limit": manifest["snippets_per_query"], **corpus.options.to_dict()}
    now = {"limit": wanted.limit, **wanted.options.to_dict()}
    differing = [
        f"--{name.replace('_', '-')} {before[name]} (now {now[name]})"
        for name in now
        if before[name] != now[name]
    ]
    if differing:
        raise StoreError(f"{corpus.path} was fetched with {', '.join(differing)}; {CURE}")


def _check_forms(corpus: SnippetCorpus, before: dict[str, str], now: dict[str, str]) -> None:
    for word, forms in before.items():
        if word in now and now[word] != forms:
            raise StoreError(
                f"{corpus.path} was fetched with other --forms: {word!r} was {forms}, and is {now[word]} now; {CURE}"
            )


def _check_pairs(
    corpus: SnippetCorpus, before: list[tuple[str, str]], now: Iterable[tuple[str, str]]
) -> None:
    """A shorter list would remove fetched snippets, so it must be requested."""
    kept = {frozenset(pair) for pair in now}
    lost = [f"{w1} {w2}" for w1, w2 in before if frozenset((w1, w2)) not in kept]
    if lost:
        pairs = f"the pair {lost[0]!r}" if len(lost) == 1 else f"{len(lost):,} pairs, such as {lost[0]!r},"
        them = "it" if len(lost) == 1 else "them"
        raise StoreError(
            f"{corpus.path} holds {pairs} that the list does not have; add {them} to the list, {CURE}"
        )
