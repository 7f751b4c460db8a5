"""Parallel work through joblib, on the backend that the user chose: loky, dask, ray or spark.

Tasks carry paths, words and row numbers. What is large goes through files in a directory that all workers share: arrays
that tasks need are put there once, arrays that they make are left there and read back one task at a time.
"""

from __future__ import annotations

import logging
import os
import platform
import shutil
import sys
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib

from bagpack._version import __version__
from bagpack.arrays import Values
from bagpack.errors import BagpackError, UsageError, import_extra
from bagpack.files import disk_errors
from bagpack.signals import end_with, without_ctrl_c

Arrays = tuple[Values, ...]
Work = Callable[..., tuple[Any, Arrays]]
Progress = Callable[[str, int, int], None]  # (task, newly done, total); a total of 0 is unknown

SCRATCH = "BAGPACK_SCRATCH"
TIMEOUT = 20.0  # seconds that a scheduler and its first worker have to answer
ONE_MACHINE = ("LokyBackend", "MultiprocessingBackend", "ThreadingBackend", "SequentialBackend")
# Packages whose errors are about workers and their schedulers.
ENGINES = ("joblib", "concurrent", "asyncio", "distributed", "tornado", "ray")

delayed = joblib.delayed  # makes the calls that `run` takes


class WorkerError(BagpackError):
    """Workers were lost, or cannot reach what they need."""


def no_progress(what: str, done: int, total: int) -> None:
    pass


# None: what joblib's context says, which is one worker where there is none.
_jobs: ContextVar[int | None] = ContextVar("jobs", default=None)
_progress: ContextVar[Progress] = ContextVar("progress", default=no_progress)
jobs, progress = _jobs.get, _progress.get  # the number of workers and the callback from `settings`


@contextmanager
def settings(*, n_jobs: int | None = None, progress: Progress | None = None) -> Iterator[None]:
    """Within, `n_jobs` workers share the work, and `progress` is called with what they did; None changes nothing.

    Tasks run with one worker and without progress, so that parallel work inside of parallel work starts no further
    workers. Use it around calls, never around a `yield`: the consumer of that generator would get the settings.
    """
    worker_count(n_jobs)  # refuses 0 before any work
    jobs_before = _jobs.set(jobs() if n_jobs is None else n_jobs)
    progress_before = _progress.set(progress or _progress.get())
    try:
        yield
    finally:
        _jobs.reset(jobs_before)
        _progress.reset(progress_before)


def _backend() -> str:
    return type(joblib.parallel.get_active_backend()[0]).__name__


def on_one_machine() -> bool:
    """Whether the workers of joblib's context are processes or threads of this machine."""
    return _backend() in ONE_MACHINE


def worker_count(n_jobs: int | None = None) -> int:
    """How many tasks run at once."""
    n_jobs = jobs() if n_jobs is None else n_jobs
    if n_jobs == 0:
        raise UsageError("--jobs must be at least 1, or -1 for one worker per core")
    return max(1, int(joblib.effective_n_jobs(n_jobs)))


def run(tasks: Iterable[Any], n_jobs: int | None = None) -> Iterator[Any]:
    """Results of `delayed` calls in the order of the calls, as they come where the engine can do that."""
    n_jobs = jobs() if n_jobs is None else n_jobs
    if on_one_machine() and worker_count(n_jobs) == 1:  # joblib starts a process even for one
        yield from (_work(None, *task) for task in tasks)
        return
    parent = os.getpid() if on_one_machine() else None
    tasks = (delayed(_work)(parent, *task) for task in tasks)
    starting: AbstractContextManager[None] = without_ctrl_c()
    try:
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1)
    except ValueError:  # Ray and Spark hand all results over at the end; they are small
        parallel = joblib.Parallel(n_jobs=n_jobs, batch_size=1)
        starting = nullcontext()
    with worker_errors():
        with starting:
            results = parallel(tasks)
        yield from results


def _work(parent: int | None, function: Any, arguments: Any, options: Any) -> Any:
    """Call a function in a worker, which ends with its parent if that is on the same machine."""
    if parent is not None:
        end_with(parent)
    alone = copy_context()  # a thread's own settings
    alone.run(_jobs.set, 1)
    alone.run(_progress.set, no_progress)
    return alone.run(function, *arguments, **options)


@contextmanager
def worker_errors() -> Iterator[None]:
    """Turn errors about lost workers into sentences; errors of the work itself are raised as they are."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ENGINES and not isinstance(error, ConnectionError):
            raise
        raise WorkerError(
            f"a worker process was killed, probably because memory ran out, or the connection to the scheduler was lost"
            f" ({type(error).__name__}); give fewer --jobs, or start it again, and repeat the command (index: --resume)"
        ) from error


def on_threads() -> Any:
    """Within, workers are threads: for seconds of work in kernels, which need no interpreter lock."""
    return joblib.parallel_config(backend="threading", n_jobs=joblib.parallel.get_active_backend()[1])


def run_threads(tasks: Iterable[Any]) -> list[Any]:
    """Results of `delayed` calls that all look at the same objects in memory."""
    tasks = list(tasks)
    with on_threads():
        # joblib looks every 10 ms whether a task is done, longer than a small SVM takes.
        return list(run(tasks, 1 if len(tasks) == 1 else None))


def run_until(stop: threading.Event, tasks: Iterable[Any], workers: int) -> None:
    """Do `delayed` calls in threads that look at `stop`: set when one fails or the work is interrupted.

    An error is raised when all threads have ended, so that whatever they write can be removed then.
    """
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(function, *arguments, **options) for function, arguments, options in tasks]
        try:
            for future in as_completed(futures):
                future.result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


@contextmanager
def scratch(near: str | Path | None = None) -> Iterator[Path]:
    """A directory for results of workers, removed at the end.

    It is in BAGPACK_SCRATCH; else, for workers of this machine, among its temporary files; else next to `near`, the
    store that is read; else in the working directory.
    """
    shared = os.path.dirname(os.path.abspath(near)) if near else os.getcwd()
    default = tempfile.gettempdir() if on_one_machine() else shared
    parent = Path(os.environ.get(SCRATCH) or default).absolute()
    with disk_errors(parent):
        parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=".bagpack-", dir=parent))
    try:
        yield place
    finally:
        shutil.rmtree(place)


def _stays_here(tasks: int) -> bool:
    """Whether all tasks are done in this process."""
    return on_one_machine() and (tasks <= 1 or worker_count() == 1)


def check_reached(path: str) -> None:
    """Raise where a worker does not see a file that it needs."""
    if not os.path.exists(path):
        raise WorkerError(
            f"{path} does not exist on {platform.node()}; the command and all workers must see the same files "
            f"under the same names (results of workers can be put elsewhere with {SCRATCH})"
        )


@dataclass(frozen=True)
class Shared:
    """Something large that tasks need or made: a file that all workers see, or, where nothing is carried, an object."""

    path: str = ""
    held: Any = None
    facts: Any = None  # what else a task returned, which is small

    def get(self) -> Any:
        """The thing itself; its arrays are mapped into memory."""
        return _load(self.path) if self.path else self.held

    def take(self) -> Any:
        """The thing itself, once: its file is removed."""
        if not self.path:
            return self.held
        check_reached(self.path)
        value = joblib.load(self.path)
        os.unlink(self.path)
        return value


@lru_cache(maxsize=1)
def _load(path: str) -> Any:
    check_reached(path)
    return joblib.load(path, mmap_mode="r")


def _put(value: Any, path: str, facts: Any = None) -> Shared:
    """Put something into a file; without a path, it is held in memory."""
    if not path:
        return Shared(held=value, facts=facts)
    own = f"{path}.{uuid.uuid4().hex}"  # renamed, since a backend may run a task twice at once
    check_reached(os.path.dirname(path))
    with disk_errors(Path(path).parent.parent):
        joblib.dump(value, own)
    os.replace(own, path)
    return Shared(path, facts=facts)


@contextmanager
def share(value: Any, tasks: int, near: str | Path | None = None) -> Iterator[Shared]:
    """Put something where the workers of `tasks` tasks can read it."""
    here = _stays_here(tasks) or _backend() == "ThreadingBackend"
    with nullcontext() if here else scratch(near) as place:
        yield _put(value, str(place / "shared") if place else "")


@contextmanager
def gather(
    work: Work, calls: Sequence[tuple[Any, ...]], near: str | Path, finished: Callable[[int], None] | None = None,
) -> Iterator[list[Shared]]:  # fmt: skip
    """Call `work`, which returns (facts, arrays), on each tuple of arguments; what it left, in the order of the calls.

    Arrays stay on disk until they are taken, so that adding them up holds those of one task and the sum in memory.
    `finished` gets the number of each call that is done.
    """
    here = _stays_here(len(calls))
    with nullcontext() if here else scratch(near) as place:
        paths = [str(place / f"{at:06d}") if place else "" for at in range(len(calls))]
        tasks = (delayed(_call)(path, work, call) for path, call in zip(paths, calls, strict=True))
        left = []
        for result in run(tasks, 1 if here else None):
            left.append(result)
            if finished:
                finished(len(left) - 1)
        yield left


def _call(path: str, work: Work, call: tuple[Any, ...]) -> Shared:
    facts, arrays = work(*call)
    return _put(arrays, path, facts)


@contextmanager
def open_backend(name: str | None, address: str | None = None, jobs: int = -1) -> Iterator[None]:
    """Within, joblib works on this engine: loky (processes of this machine), dask, ray or spark.

    The address is that of a scheduler; without one, an engine starts `jobs` workers on this machine (-1: one per core).
    """
    if name in (None, "loky"):
        if address is not None:
            raise UsageError(
                f"--address {address} names a scheduler, so --backend dask, ray or spark is needed too"
            )
        with joblib.parallel_config("loky"):
            yield
        return
    workers = joblib.cpu_count() if jobs < 0 else max(1, jobs)
    # Within `worker_errors`, since joblib asks for the workers, and the client is closed, in here.
    with worker_errors(), ExitStack() as stack:
        try:
            (_dask if name == "dask" else _ray if name == "ray" else _spark)(stack, address, workers)
        except BagpackError:
            raise
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise WorkerError(
                f"{name} does not answer at {address or 'this machine'}, or has no worker ({reason}); start its "
                f"scheduler and workers, or correct --address"
            ) from error
        stack.enter_context(joblib.parallel_config(name, n_jobs=-1))
        yield


def _dask(stack: ExitStack, address: str | None, workers: int) -> None:
    distributed = import_extra("distributed", "distributed", "dask", "--backend dask")
    for name in ("distributed", "distributed.client"):  # reported here as a sentence, there as a stack trace
        logging.getLogger(name).setLevel(logging.CRITICAL)
    where = {"address": address}
    if address is None:
        # Mapped pages of the store would count as the workers' memory, so no limit is set on it.
        local = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=None
        )
        where = {"address": stack.enter_context(local)}
    elif address.endswith(".json"):  # as dask scheduler --scheduler-file writes it
        os.stat(address)  # dask would wait for it
        where = {"scheduler_file": address}
    client = stack.enter_context(distributed.Client(**where, timeout=TIMEOUT))
    client.wait_for_workers(1, timeout=TIMEOUT)
    found = set(client.run(version, "bagpack").values())
    if found != {__version__}:  # workers of another version would make other bytes
        raise WorkerError(f"workers of {address} have bagpack {found}; install {__version__} there too")


def _ray(stack: ExitStack, address: str | None, workers: int) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_extra("ray", "ray", "ray", "--backend ray")
    # Ray writes what it has to say of workers that end to standard output, where a command's result goes.
    stack.enter_context(redirect_stdout(sys.stderr))
    stack.callback(ray.shutdown)
    local: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False}
    ray.init(**({"address": address} if address else local), log_to_driver=False, logging_level="ERROR")
    import_extra("ray.util.joblib", "ray", "ray", "--backend ray").register_ray()


def _spark(stack: ExitStack, address: str | None, workers: int) -> None:
    """Spark needs Java, 17 or newer."""
    sql = import_extra("pyspark.sql", "pyspark", "spark", "--backend spark")
    register = import_extra("joblibspark", "joblibspark", "spark", "--backend spark").register_spark
    # Workers run whatever `python3` is otherwise, and end in a TypeError that says nothing of it.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = dict.fromkeys(("spark.ui.enabled", "spark.ui.showConsoleProgress"), "false")
    options["spark.log.level"] = "ERROR"
    if address is None or address.startswith("local"):
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    stack.enter_context(warnings.catch_warnings())
    for harmless in (".*stage-level scheduling", "Spark session is not provided"):
        warnings.filterwarnings("ignore", message=harmless)
    builder = sql.SparkSession.builder.appName("bagpack").master(address or f"local[{workers}]")
    stack.callback(builder.config(map=options).getOrCreate().stop)
    register()
