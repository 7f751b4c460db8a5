"""Parallel work through joblib, on the backend that the user chose.

Tasks carry paths, words and row numbers. What is large goes through files in a directory that all workers share: arrays
that tasks need are put there once, arrays that they make are left there and read back one task at a time.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.files import DiskError, disk_errors, save_npy
from bagpack.signals import end_with, without_ctrl_c

Arrays = tuple[NDArray[Any], ...]

SCRATCH = "BAGPACK_SCRATCH"
ONE_MACHINE = ("LokyBackend", "MultiprocessingBackend", "ThreadingBackend", "SequentialBackend")

# Callback (task, newly done, total); a total of 0 is unknown.
Progress = Callable[[str, int, int], None]

delayed = joblib.delayed  # makes the calls that `run` takes


class WorkerError(BagpackError):
    """Workers were lost, or cannot reach what they need."""


# Settings -------------------------------------------------------------------------------------------------------


# None: what joblib's context says, which is one worker where there is none.
_jobs: ContextVar[int | None] = ContextVar("jobs", default=None)
_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def settings(*, n_jobs: int | None = None, progress: Progress | None = None) -> Iterator[None]:
    """Within, `n_jobs` workers share the work, and `progress` is called with what they did; None changes nothing.

    Tasks run with one worker and without progress, in a process or a thread of their own, so that parallel work
    inside of parallel work starts no further workers. Use it around calls, never around a `yield`: the consumer of
    that generator would get the settings.
    """
    worker_count(n_jobs)  # refuses 0 before any work
    jobs_before = _jobs.set(jobs() if n_jobs is None else n_jobs)
    progress_before = _progress.set(progress or _progress.get())
    try:
        yield
    finally:
        _jobs.reset(jobs_before)
        _progress.reset(progress_before)


def jobs() -> int | None:
    """Number of workers as joblib takes it, from `settings`."""
    return _jobs.get()


def progress() -> Progress:
    """The callback for progress from `settings`; it does nothing where none was set."""
    return _progress.get() or _no_progress


def _no_progress(what: str, done: int, total: int) -> None:
    pass


# Running tasks --------------------------------------------------------------------------------------------------


def on_one_machine() -> bool:
    """Whether the workers of joblib's context are processes or threads of this machine."""
    return _backend() in ONE_MACHINE


def _backend() -> str:
    """The name of the class that joblib's context runs tasks by."""
    return type(joblib.parallel.get_active_backend()[0]).__name__


def worker_count(n_jobs: int | None = None) -> int:
    """How many tasks run at once."""
    n_jobs = jobs() if n_jobs is None else n_jobs
    if n_jobs == 0:
        raise UsageError("--jobs must be at least 1, or -1 for one worker per core")
    return max(1, int(joblib.effective_n_jobs(n_jobs)))


def core_count() -> int:
    """Processors that this process may use."""
    return int(joblib.cpu_count())


def run(tasks: Iterable[Any], n_jobs: int | None = None) -> Iterator[Any]:
    """Results of `delayed` calls in the order of the calls, as they come where the engine can do that."""
    n_jobs = jobs() if n_jobs is None else n_jobs
    worker_count(n_jobs)
    parent = os.getpid() if on_one_machine() else None
    tasks = (delayed(_work)(parent, *task) for task in tasks)
    starting: AbstractContextManager[None] = without_ctrl_c()
    try:
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1)
    except ValueError:  # Ray and Spark hand all results over at the end; they are small
        parallel = joblib.Parallel(n_jobs=n_jobs, batch_size=1)
        starting = nullcontext()
    try:
        with starting:
            results = parallel(tasks)
        yield from results
    except Exception as error:
        message = lost(error)
        if message is None:
            raise
        raise WorkerError(message) from error


def _work(parent: int | None, function: Any, arguments: Any, options: Any) -> Any:
    """Call a function in a worker, which ends with its parent if that is on the same machine."""
    if parent is not None:
        end_with(parent)
    return copy_context().run(_alone, function, arguments, options)


def _alone(function: Any, arguments: Any, options: Any) -> Any:
    _jobs.set(1)
    _progress.set(None)
    return function(*arguments, **options)


@contextmanager
def on_threads() -> Iterator[None]:
    """Within, workers of this machine are threads: for seconds of work in kernels, which need no interpreter lock."""
    if not on_one_machine():
        yield
        return
    _, n_jobs = joblib.parallel.get_active_backend()
    with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
        yield


def run_threads(tasks: Iterable[Any], n_jobs: int | None = None) -> list[Any]:
    """Results of `delayed` calls that all look at the same objects in memory."""
    n_jobs = jobs() if n_jobs is None else n_jobs
    tasks = (delayed(_work)(None, *task) for task in tasks)
    return list(joblib.Parallel(n_jobs=n_jobs, require="sharedmem")(tasks))


def run_until(stop: threading.Event, tasks: Iterable[Any], workers: int) -> None:
    """Do `delayed` calls in threads that look at `stop`: set when one fails or the work is interrupted.

    An error is raised when all threads have ended, so that whatever they write can be removed then.
    """
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(function, *arguments, **options) for function, arguments, options in tasks]
        try:
            ended, _ = wait(futures, return_when=FIRST_EXCEPTION)
            failed = [future for future in futures if future in ended and future.exception()]
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    for future in failed:
        future.result()


def counter(what: str, total: int, report: Progress | None = None) -> Callable[[int], None]:
    """A function that reports how many more of `total` things are done."""
    report = report or progress()
    return lambda done: report(what, done, total)


def with_progress(
    results: Iterable[Any], what: str, total: int, report: Progress | None = None
) -> Iterator[Any]:
    """The same results; each is reported, and before the first that they begin."""
    report = report or progress()
    report(what, 0, total)
    for result in results:
        report(what, 1, total)
        yield result


def lost(error: Exception) -> str | None:
    """A sentence if workers were lost; None if the work itself failed."""
    name = type(error).__name__
    if name == "KilledWorker":
        return (
            "several workers died one after the other on the same task, probably because memory ran out; give each "
            "worker more of it, and run the command again (index: with --resume)"
        )
    if name in ("TerminatedWorkerError", "BrokenProcessPool"):
        return (
            "a worker process was killed, probably because memory ran out; give fewer --jobs, and run the command "
            "again (index: with --resume)"
        )
    if name in (
        "CancelledError",
        "FutureCancelledError",
        "CommClosedError",
        "FuturesCancelledError",
        "ConnectionResetError",
        "StreamClosedError",
    ):
        return (
            "the connection to the scheduler was lost during the work; start it and its workers, and run the command "
            "again (index: with --resume)"
        )
    if name in ("RayActorError", "ActorDiedError", "WorkerCrashedError", "OutOfMemoryError"):
        return "a Ray worker died, probably because memory ran out; give each more of it, and run the command again"
    return None


# What workers share -----------------------------------------------------------------------------------------------


@contextmanager
def scratch(near: str | Path | None = None) -> Iterator[Path]:
    """A directory for results of workers, removed at the end.

    It is in BAGPACK_SCRATCH; else, for workers of this machine, among its temporary files; else next to `near`, the
    store that is read; else in the working directory.
    """
    here = on_one_machine()
    default = (
        tempfile.gettempdir() if here else os.path.dirname(os.path.abspath(near)) if near else os.getcwd()
    )
    parent = Path(os.environ.get(SCRATCH) or default).absolute()
    with _scratch_errors(parent):
        parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=".bagpack-", dir=parent))
    try:
        yield place
    finally:
        shutil.rmtree(place)


@contextmanager
def _scratch_errors(place: Path) -> Iterator[None]:
    """Say what to do where results of workers cannot be stored."""
    try:
        with disk_errors(place):
            yield
    except StoreError as error:
        what = "the disk is full" if isinstance(error, DiskError) else str(error).partition(";")[0]
        raise type(error)(
            f"{what}: workers could not store their results in {place}; free some space there, or set {SCRATCH} to a "
            f"directory that all of them can write, and run the command again"
        ) from error


@dataclass(frozen=True)
class Shared:
    """Something large that tasks need: they carry its path, and map its arrays into memory."""

    n_jobs: int | None
    path: str = ""
    held: Any = None  # in the process that made it, where nothing has to be carried

    def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Results of tasks that carry this; see `run`."""
        return run(tasks, self.n_jobs)

    def get(self) -> Any:
        """The thing itself."""
        return _load(self.path) if self.path else self.held


@lru_cache(maxsize=1)
def _load(path: str) -> Any:
    check_reached(path)
    return joblib.load(path, mmap_mode="r")


@contextmanager
def share(
    value: Any, tasks: int, near: str | Path | None = None, n_jobs: int | None = None
) -> Iterator[Shared]:
    """Put something where the workers of `tasks` tasks can read it."""
    if _stays_here(n_jobs, tasks):
        yield Shared(1, held=value)
        return
    if _backend() == "ThreadingBackend":
        yield Shared(n_jobs, held=value)
        return
    with scratch(near) as place:
        path = place / "shared"
        with _scratch_errors(place.parent):
            joblib.dump(value, path)
        yield Shared(n_jobs, str(path))


@dataclass(frozen=True)
class Left:
    """What a task returned: some small facts, and arrays, which stay in a file until they are taken."""

    facts: Any
    path: str = ""
    held: Arrays = ()

    def take(self) -> Arrays:
        """The arrays, once."""
        if not self.path:
            return self.held
        check_reached(self.path)
        with open(self.path, "rb") as handle:
            count = int(np.load(handle))
            arrays = tuple(np.load(handle) for _ in range(count))
        os.unlink(self.path)
        return arrays


Work = Callable[..., tuple[Any, Arrays]]


@contextmanager
def gather(
    work: Work, calls: Sequence[tuple[Any, ...]], near: str | Path,
    finished: Callable[[int], None] | None = None, n_jobs: int | None = None,
) -> Iterator[list[Left]]:  # fmt: skip
    """Call `work`, which returns (facts, arrays), on each tuple of arguments; what it left, in the order of the calls.

    Arrays stay on disk until they are taken, so that adding them up holds those of one task and the sum in memory.
    `finished` gets the number of each call that is done.
    """
    if _stays_here(n_jobs, len(calls)):
        done = (Left(facts, held=arrays) for facts, arrays in starmap(work, calls))
        yield list(_report_finished(done, finished))
        return
    with scratch(near) as place:
        tasks = (delayed(_leave)(str(place / f"{i:06d}"), work, call) for i, call in enumerate(calls))
        yield list(_report_finished(run(tasks, n_jobs), finished))


def _report_finished(results: Iterable[Left], finished: Callable[[int], None] | None) -> Iterator[Left]:
    for number, result in enumerate(results):
        if finished:
            finished(number)
        yield result


def _leave(path: str, work: Work, call: tuple[Any, ...]) -> Left:
    """Do one task in a worker. A backend may run it twice at once, so it writes its own file and renames it."""
    facts, arrays = work(*call)
    own = f"{path}.{uuid.uuid4().hex}"
    check_reached(os.path.dirname(path))
    with _scratch_errors(Path(path).parent.parent), open(own, "wb") as handle:
        save_npy(handle, np.array(len(arrays)))
        for array in arrays:
            save_npy(handle, array)
    os.replace(own, path)
    return Left(facts, path)


def _stays_here(n_jobs: int | None, tasks: int) -> bool:
    """Whether all tasks are done in this process."""
    return on_one_machine() and (tasks <= 1 or worker_count(n_jobs) == 1)


def check_reached(path: str) -> None:
    """Raise where a worker does not see a file that it needs."""
    if not os.path.exists(path):
        raise WorkerError(
            f"{path} does not exist on {platform.node()}; the command and all workers must see the same files "
            f"under the same names (results of workers can be put elsewhere with {SCRATCH})"
        )


def stop_workers() -> None:
    """End the worker processes of this machine that wait for more work, and the threads that look after them."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
