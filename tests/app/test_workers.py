"""Worker processes: killed at their limit, bounded in number, queue and memory, and never left behind."""

import asyncio
import os
import signal
import time

import psutil

from bagpack.app.limits import Limits, TooBusyError, TooLargeError, TooLongError, WorkerError
from bagpack.app.workers import WorkerPool
from tests.app.conftest import running
from tests.conftest import run_apart


def sleep(library, seconds):
    time.sleep(seconds)
    return seconds


def wait_for_file(library, path):
    while not path.exists():
        time.sleep(0.01)
    return True


def busy(library):
    while True:
        pass


def allocate(library, size):
    return len(bytearray(size))


def text(library, size):
    return "x" * size


def fail(library):
    return 1 / 0


def exit_at_once(library):
    os._exit(1)


def in_pool(scene, **limits):
    """Run a coroutine function with a pool of workers, and end them."""

    async def run():
        workers = WorkerPool(None, Limits(**limits))
        try:
            return await scene(workers)
        finally:
            workers.close()

    return run_apart(run())


def pids(workers):
    children = psutil.Process(workers._fork_server).children()
    return {worker.pid for worker in children if worker.status() != "zombie"}


def test_late_work_is_killed_and_others_go_on():
    async def scene(workers):
        late = [asyncio.create_task(workers.run(busy)) for _ in range(2)]
        await asyncio.sleep(0.2)
        before = pids(workers)
        quick = await workers.run(sleep, 0, lane="slow")
        ended = await asyncio.gather(*late, return_exceptions=True)
        again = await workers.run(sleep, 0)
        while len(before - pids(workers)) < 2:  # the kernel may take a moment
            await asyncio.sleep(0.05)
        return quick, ended, again

    quick, ended, again = in_pool(scene, seconds=1)
    assert quick == again == 0
    assert all(isinstance(error, TooLongError) and "1 s" in str(error) for error in ended)


def test_queues_are_bounded(tmp_path):
    """Two requests are computed, as long as the test wants; of eight more, three may wait."""
    end = tmp_path / "end"

    async def scene(workers):
        workers.start()
        lane = workers.lanes["pages"]
        computed = [asyncio.create_task(workers.run(wait_for_file, end)) for _ in range(lane.size)]
        while lane.waiting or not lane.idle.empty():
            await asyncio.sleep(0.01)
        more = [asyncio.create_task(workers.run(wait_for_file, end)) for _ in range(8)]
        await asyncio.sleep(0.01)  # each of them is refused or waits
        end.touch()
        return await asyncio.gather(*computed, *more, return_exceptions=True)

    found = in_pool(scene, seconds=60, waiting=3)
    assert found[:5] == [True] * 5
    assert all(isinstance(error, TooBusyError) and error.retry_after >= 1 for error in found[5:])


def test_waiting_has_a_limit_too():
    async def scene(workers):
        work = [workers.run(busy), workers.run(busy), workers.run(sleep, 0)]
        return await asyncio.gather(*work, return_exceptions=True)

    found = in_pool(scene, seconds=1, waiting_seconds=0.3)
    assert [type(error) for error in found] == [TooLongError, TooLongError, TooBusyError]


def test_a_worker_that_runs_out_of_memory_fails_or_dies_is_reported_and_replaced(capfd):
    async def scene(workers):
        found = [
            (await asyncio.gather(workers.run(*work), return_exceptions=True))[0]
            for work in ((allocate, 2**20), (allocate, 2**29), (exit_at_once,), (fail,), (sleep, 0))
        ]
        for pid in pids(workers):  # idle workers may die too
            os.kill(pid, signal.SIGKILL)
        while pids(workers):
            await asyncio.sleep(0.05)
        return [*found, await workers.run(sleep, 0)]

    found = in_pool(scene, seconds=20, worker_bytes=2**28)
    assert [type(item) for item in found] == [int, TooLargeError, TooLargeError, WorkerError, int, int]
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_answers_are_kept_up_to_a_size():
    async def scene(workers):
        for seconds in (0.01, 0.02, 0.01):
            await workers.run(sleep, seconds, keep=True)
        kept, size = len(workers._kept), workers._kept_bytes
        for length in (2**20 - 100, 2**20 + 100):  # a sixteenth of 16 MiB
            await workers.run(text, length, keep=True)
        assert len(workers._kept) == kept + 1
        workers.limits = Limits(kept_bytes=10)
        await workers.run(sleep, 0.03, keep=True)
        return kept, size, workers._kept_bytes

    kept, size, after = in_pool(scene, kept_bytes=2**24)
    assert kept == 2 and size > 0 and after <= 10


def test_when_the_server_is_killed_its_workers_end(world):
    with running(world) as (_, process):
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) == 5
        process.kill()
        assert psutil.wait_procs(family, timeout=20)[1] == []
