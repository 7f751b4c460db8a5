"""The worker processes: limits on time and memory, full queues, and what is remembered."""

import asyncio
import os
import time

import numpy as np
import pytest

from bagpack.app.pool import FIND, SLOW, Limits, Note, Pool, Progress, UnavailableError
from bagpack.errors import UsageError
from tests.conftest import run_apart


def number(library):
    return os.getpid()


def sleep(library, seconds):
    time.sleep(seconds)


def fail(library):
    return 1 / 0


def refuse(library):
    raise UsageError("not like this")


def allocate(library, size):
    return int(np.ones(size, np.uint8).sum())


def die(library):
    os._exit(3)


def note(library):
    Note()("word vectors", 0, 10)


def scene(world, coroutine, **limits):
    async def play():
        pool = Pool((str(world.store),), Limits(**limits))
        try:
            return await coroutine(pool)
        finally:
            pool.close()

    return run_apart(play())


def test_late_work_is_killed_and_others_go_on(world):
    async def late(pool):
        first = await pool.run(number)
        with pytest.raises(UnavailableError, match=" 2 s "):
            await pool.run(sleep, 1000)
        assert pool.progress == Progress()
        await pool.run(note, lane=FIND)
        assert pool.progress == Progress("word vectors", 0, 10)
        return first, await pool.run(number), await pool.run(number, lane=SLOW)

    first, again, other = scene(world, late, seconds=2, workers=1)
    assert first != again and other not in (first, again)


def test_memory_errors_and_deaths_are_reported(world):
    async def fails(pool):
        assert await pool.run(allocate, 10_000_000) == 10_000_000
        for function, arguments, error in (
            (allocate, (4 << 30,), UnavailableError), (die, (), UnavailableError), (fail, (), RuntimeError),
            (refuse, (), UsageError),
        ):  # fmt: skip
            with pytest.raises(error):
                await pool.run(function, *arguments)
        return await pool.run(number)

    assert scene(world, fails, workers=1, worker_bytes=1 << 30)


def test_queues_are_bounded_and_results_are_kept(world):
    async def crowd(pool):
        kept = [await pool.run(number, keep=True) for _ in range(2)]
        assert kept[0] == kept[1] and len(pool._kept) == 1
        waiting = [asyncio.ensure_future(pool.run(sleep, 1000)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(UnavailableError, match="too many"):
            await pool.run(number)
        for one in waiting:
            one.cancel()
        await asyncio.wait(waiting)
        return await pool.run(number)

    assert scene(world, crowd, workers=1, waiting=3)
