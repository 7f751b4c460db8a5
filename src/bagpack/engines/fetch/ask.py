"""Answering a list of queries: from the cache, and by asking the engine for the rest.

What has been answered is on disk at once; the same command again resumes where the last one stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from bagpack.engines.base import Engine, Snippet, distinct
from bagpack.engines.fetch.budget import RequestPolicy, StoppedError
from bagpack.engines.fetch.cache import answer_key
from bagpack.engines.fetch.client import Client
from bagpack.engines.snippets.split import split_snippets
from bagpack.engines.words import tidy
from bagpack.errors import BagpackError

if TYPE_CHECKING:
    from bagpack.engines.fetch.cache import I64, AnswerCache
    from bagpack.engines.queries import Query

Progress = Callable[[int, int, int], None]  # (queries answered, in all, of these asked now)


@dataclass(frozen=True)
class Answers:
    """Sentence numbers (in the cache) per query, whether the limit was reached, and the number asked in this run."""

    numbers: list[I64]
    full: list[bool]
    asked: int


def ask_all(
    engine: Engine,
    queries: Sequence[Query],
    cache: AnswerCache,
    policy: RequestPolicy | None = None,
    lang: str = "en",
    progress: Progress | None = None,
    client: Client | None = None,
) -> Answers:
    """Answer all queries, from the cache where it has them.

    Parameters
    ----------
    client
        What sends the engine's requests; by default one whose budget is that of the engine's identity.

    Raises
    ------
    EngineError
        The engine failed for good, or the spending limit is reached; the message says how many answers are kept.
    """
    policy = policy or RequestPolicy()
    client = client or Client(cache, engine.identity, policy)
    # An index that BagPack filled has another identity when it is filled again; one of the user's may change.
    max_age = None if engine.exact else policy.max_age
    numbers: list[I64 | None] = []
    full: list[bool] = []
    for query in queries:
        held = cache.get(engine.identity, str(query), policy.limit, max_age)
        numbers.append(held[0] if held else None)
        full.append(held[1] if held else False)
    missing = [at for at, found in enumerate(numbers) if found is None]
    known = len(queries) - len(missing)
    asked = 0
    if progress:
        progress(known, len(queries), 0)
    try:
        for at, found, reached in _stream(engine, queries, missing, client, lang):
            numbers[at], full[at] = found, reached
            asked += 1
            if progress:
                progress(known + asked, len(queries), asked)
    except BagpackError as error:
        are = "is" if known + asked == 1 else "are"
        error.args = (
            f"{error}; {known + asked:,} of {len(queries):,} queries {are} answered and kept: the same command "
            f"resumes there",
        )
        raise
    return Answers([found for found in numbers if found is not None], full, asked)


def _stream(
    engine: Engine, queries: Sequence[Query], wanted: Sequence[int], client: Client, lang: str
) -> Iterator[tuple[int, I64, bool]]:
    """Answers as they are stored, with a few queries in flight per connection.

    After a failure or Ctrl-C nothing more is asked, but what is in flight is waited for: it was paid for. So answers
    are stored by the threads that ask, and not by the one that a signal interrupts.
    """
    limit, connections = client.policy.limit, client.policy.connections

    def ask(at: int) -> tuple[int, I64, bool]:
        query, identity = queries[at], engine.identity
        try:
            found = engine.search(query, limit, client.for_answer(answer_key(identity, str(query), limit)))
            reached = len(found) >= limit
            if engine.exact:
                found = [Snippet(document, tidy(text)) for document, text in found]
            else:
                found = split_snippets(query, found, lang)
            return at, client.cache.put(identity, str(query), limit, distinct(found), reached), reached
        except BaseException:
            client.stopped.set()
            raise

    pool = ThreadPoolExecutor(connections, thread_name_prefix="bagpack-fetch")
    waiting = iter(wanted)
    flying: set[Future[tuple[int, I64, bool]]] = set()
    failure: BaseException | None = None
    try:
        flying.update(pool.submit(ask, at) for at in islice(waiting, 2 * connections))
        while flying:
            done, flying = wait(flying, return_when=FIRST_COMPLETED)
            for future in done:
                if (error := future.exception()) is None:
                    yield future.result()
                elif failure is None or isinstance(failure, StoppedError):
                    failure = error
            if failure is None:
                flying.update(pool.submit(ask, at) for at in islice(waiting, len(done)))
        if failure is not None:
            raise failure
    finally:
        client.stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)
