"""How often the words of pairs occur together, by order and distance, without fetching any text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from bagpack.engines.base import BusyError, Count, EngineError, Sender, connect, parse_address
from bagpack.engines.fetch.budget import RequestPolicy
from bagpack.engines.fetch.cache import AnswerCache, count_key
from bagpack.engines.fetch.client import Client
from bagpack.engines.inflect import Inflector, fold_target
from bagpack.engines.queries import MAX_GAP, Query, target_forms
from bagpack.engines.snippets.fetching import check_budget
from bagpack.errors import UsageError
from bagpack.tasks.words import Pair


class CountingEngine(Protocol):
    """An engine that counts: exactly, or saying that it estimates."""

    identity: str
    exact: bool

    def count(self, query: Query, sender: Sender) -> Count:
        """How often a word occurs, or a pair with exactly `gap` tokens between."""

    def tokens(self, sender: Sender) -> int:
        """The size of the corpus."""


class PairStatistics(NamedTuple):
    """Counts of a pair. `before` has w1 … w2 by gap, `after` has w2 … w1; None where the engine cannot say."""

    w1: str
    w2: str
    count1: int
    count2: int
    together: int  # in either order, at most MAX_GAP tokens between (or the engine's nearest equivalent)
    before: tuple[int | None, ...]
    after: tuple[int | None, ...]
    approximate: bool

    @property
    def totals(self) -> tuple[float, float, float, float]:
        """n(w1), n(w2), n+ and n−.

        Where the order is known only of words that touch, those near each other are taken to have it as often.
        """
        if None not in (*self.before, *self.after):
            orders = [float(sum(count or 0 for count in part)) for part in (self.before, self.after)]
            return self.count1, self.count2, orders[0], orders[1]
        plus, minus = self.before[0] or 0, self.after[0] or 0
        first = self.together * (plus + 1) / (plus + minus + 2)
        return self.count1, self.count2, first, self.together - first


class CorpusStatistics(NamedTuple):
    """Counts of pairs, and the number of tokens of the corpus; 0 if the engine does not say."""

    pairs: list[PairStatistics]
    tokens: int


class _Counter:
    """Counts, from the cache where it has them."""

    def __init__(self, engine: CountingEngine, client: Client) -> None:
        self._engine = engine
        self._client = client
        self.approximate = False

    def ask(self, query: Query, together: bool = False) -> int:
        text = f"{'together' if together else 'count'} {query}"
        cache, identity = self._client.cache, self._engine.identity
        held = cache.get_count(identity, text, None if self._engine.exact else self._client.policy.max_age)
        if held is None:
            ask = getattr(self._engine, "together") if together else self._engine.count  # noqa: B009
            held = ask(query, self._client.for_answer(count_key(identity, text)))
            cache.put_count(identity, text, held)
        self.approximate |= held.approximate
        return held.occurrences


def pair_statistics(pairs: Iterable[Pair], engine: str, **options: Any) -> list[PairStatistics]:
    """The counts of each pair; the options are those of `corpus_statistics`."""
    return corpus_statistics(pairs, engine, **options).pairs


def corpus_statistics(
    pairs: Iterable[Pair],
    engine: str,
    *,
    cache: str | Path,
    inflector: Inflector | None = None,
    lang: str = "en",
    policy: RequestPolicy | None = None,
    timeout: float = 30.0,
    progress: Callable[[int, int], None] | None = None,
) -> CorpusStatistics:
    """The counts of each pair, and the size of the corpus.

    A local infini-gram index gives every order and gap exactly. The HTTP API gives the words' counts, how often they
    touch in each order, and how often they are near each other; `approximate` is set where it says so.

    Parameters
    ----------
    engine
        ``infinigram:DIRECTORY`` or ``infinigram+https://HOST/?index=NAME``.
    cache
        The file that keeps the answers and the number of requests, as for `fetch_snippets`.
    progress
        Called after every pair with the number of pairs done and of all.
    """
    pairs = list(pairs)
    inflector = inflector or Inflector(lang)
    policy = policy or RequestPolicy()
    with AnswerCache(cache) as kept:
        address = parse_address(engine)
        check_budget(address, policy)
        client = Client(kept, address.shown, policy, timeout)
        with closing(connect(engine, timeout, client)) as opened:
            if not hasattr(opened, "count"):
                raise UsageError(
                    f"{address} gives no counts; use infinigram:DIRECTORY or infinigram+https://…"
                )
            counting = cast("CountingEngine", opened)
            found = []
            # Counted in other threads, so that Ctrl-C does not lose a count that is on its way.
            pool = ThreadPoolExecutor(policy.connections, thread_name_prefix="bagpack-count")
            try:
                for one in pool.map(lambda pair: _statistics(pair, counting, client, inflector, lang), pairs):
                    found.append(one)
                    if progress:
                        progress(len(found), len(pairs))
                return CorpusStatistics(found, _tokens(counting, client))
            finally:
                client.stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)


def _tokens(engine: CountingEngine, client: Client) -> int:
    """The size of the corpus, from the cache where it has it; 0 if the engine does not say."""
    held = client.cache.get_count(engine.identity, "tokens")
    if held is None:
        try:
            held = Count(engine.tokens(client), False)
        except BusyError:
            raise
        except EngineError:
            return 0
        client.cache.put_count(engine.identity, "tokens", held)
    return held.occurrences


def _statistics(
    pair: Pair, engine: CountingEngine, client: Client, inflector: Inflector, lang: str
) -> PairStatistics:
    words = [fold_target(word) for word in pair]
    one, two = (target_forms(word, inflector, lang) for word in words)
    counter = _Counter(engine, client)
    count1, count2 = (counter.ask(Query("word", forms)) for forms in (one, two))
    near = hasattr(engine, "together")  # then gaps above 0 are not counted one by one
    gaps = range(1 if near else MAX_GAP + 1)
    forth = [counter.ask(Query("pair", one, two, gap)) for gap in gaps]
    back = [counter.ask(Query("pair", two, one, gap)) for gap in gaps]
    together = counter.ask(Query("pair", one, two, 0), together=True) if near else sum(forth) + sum(back)
    unknown = [None] * (MAX_GAP + 1 - len(gaps))
    return PairStatistics(
        words[0], words[1], count1, count2, together, (*forth, *unknown), (*back, *unknown), counter.approximate
    )  # fmt: skip
