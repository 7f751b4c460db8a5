"""How often the words of pairs occur together, by order and distance, without fetching any text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from bagpack.engines.base import Count, Sender, connect, parse_address
from bagpack.engines.fetch.budget import Manners
from bagpack.engines.fetch.cache import AnswerCache
from bagpack.engines.fetch.client import Client
from bagpack.engines.inflect import Inflector, fold_target
from bagpack.engines.queries import MAX_GAP, Query, target_forms
from bagpack.engines.snippets.fetching import check_budget
from bagpack.errors import UsageError
from bagpack.tasks.words import Pair

FEATURES = ("log count w1", "log count w2", "log together", "PMI", "share w1 first", "share adjacent")


class CountingEngine(Protocol):
    """An engine that counts: exactly, or saying that it estimates."""

    identity: str
    exact: bool

    def count(self, query: Query, sender: Sender) -> Count:
        """How often a word occurs, or a pair with exactly `gap` tokens between."""


class PairStatistics(NamedTuple):
    """Counts of a pair. `before` has w1 … w2 by gap, `after` has w2 … w1; None where the engine cannot say."""

    w1: str
    w2: str
    count1: int
    count2: int
    together: int  # in either order, at most MAX_GAP tokens between (or what the engine takes for that)
    before: tuple[int | None, ...]
    after: tuple[int | None, ...]
    approximate: bool


class _Counter:
    """Counts, from the cache where it has them."""

    def __init__(self, engine: CountingEngine, client: Client) -> None:
        self._engine = engine
        self._client = client
        self.approximate = False

    def ask(self, query: Query, together: bool = False) -> int:
        text = f"{'together' if together else 'count'} {query}"
        cache, identity = self._client.cache, self._engine.identity
        held = cache.get_count(identity, text, None if self._engine.exact else self._client.manners.max_age)
        if held is None:
            ask = getattr(self._engine, "together") if together else self._engine.count  # noqa: B009
            held = ask(query, self._client)
            cache.put_count(identity, text, held)
        self.approximate |= held.approximate
        return held.occurrences


def pair_statistics(
    pairs: Iterable[Pair],
    engine: str,
    *,
    cache: str | Path,
    inflector: Inflector | None = None,
    lang: str = "en",
    manners: Manners | None = None,
    timeout: float = 30.0,
) -> list[PairStatistics]:
    """The counts of each pair.

    A local infini-gram index gives every order and gap exactly. The HTTP API gives the words' counts, how often they
    touch in each order, and how often they are near each other; `approximate` is set where it says so.

    Parameters
    ----------
    engine
        ``infinigram:DIRECTORY`` or ``infinigram+https://HOST/?index=NAME``.
    cache
        The file that keeps the answers and the number of requests, as for `fetch_snippets`.
    """
    inflector = inflector or Inflector(lang)
    manners = manners or Manners()
    with AnswerCache(cache) as kept:
        address = parse_address(engine)
        check_budget(address, manners)
        client = Client(kept, address.shown, manners, timeout)
        opened = connect(engine, timeout, client)
        try:
            if not hasattr(opened, "count"):
                raise UsageError(
                    f"{address} gives no counts; use infinigram:DIRECTORY or infinigram+https://…"
                )
            return [
                _statistics(pair, cast("CountingEngine", opened), client, inflector, lang) for pair in pairs
            ]
        finally:
            opened.close()


def _statistics(
    pair: Pair, engine: CountingEngine, client: Client, inflector: Inflector, lang: str
) -> PairStatistics:
    words = [fold_target(word) for word in pair]
    one, two = (target_forms(word, inflector, lang) for word in words)
    counter = _Counter(engine, client)
    count1, count2 = (counter.ask(Query("word", forms)) for forms in (one, two))
    gaps = range(MAX_GAP + 1)
    if hasattr(engine, "together"):
        before = (counter.ask(Query("pair", one, two, 0)), *[None] * MAX_GAP)
        after = (counter.ask(Query("pair", two, one, 0)), *[None] * MAX_GAP)
        together = counter.ask(Query("pair", one, two, 0), together=True)
        return PairStatistics(
            words[0], words[1], count1, count2, together, before, after, counter.approximate
        )
    forth = tuple(counter.ask(Query("pair", one, two, gap)) for gap in gaps)
    back = tuple(counter.ask(Query("pair", two, one, gap)) for gap in gaps)
    return PairStatistics(
        words[0], words[1], count1, count2, sum(forth) + sum(back), forth, back, counter.approximate
    )


def statistics_features(statistics: Iterable[PairStatistics], tokens: int) -> NDArray[np.float64]:
    """A row of `FEATURES` per pair, for a classifier; `tokens` is the size of the corpus."""
    rows = []
    for pair in statistics:
        orders = [sum(count or 0 for count in part) for part in (pair.before, pair.after)]
        seen = sum(orders)
        adjacent = (pair.before[0] or 0) + (pair.after[0] or 0)
        expected = pair.count1 * pair.count2 * 2 * (MAX_GAP + 1) / max(tokens, 1)
        pmi = np.log(pair.together / expected) if pair.together and expected else 0.0
        rows.append(
            (
                np.log1p(pair.count1),
                np.log1p(pair.count2),
                np.log1p(pair.together),
                pmi,
                orders[0] / seen if seen else 0.5,
                adjacent / pair.together if pair.together else 0.0,
            )
        )
    return np.array(rows, np.float64).reshape(-1, len(FEATURES))
