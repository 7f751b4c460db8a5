"""Opening a joblib backend (loky, dask, ray, spark) by its name and address, and closing it again."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

import joblib

from bagpack._version import __version__
from bagpack.errors import UsageError, import_extra
from bagpack.parallel import WorkerError, core_count

BACKENDS = ("loky", "dask", "ray", "spark")
POLL = 2.0  # seconds between two looks at whether workers are left
TIMEOUT = 20.0  # seconds that a scheduler and its first worker have to answer


@contextmanager
def open_backend(
    name: str | None, address: str | None = None, jobs: int = -1, timeout: float = TIMEOUT,
    notice: Callable[[str], None] | None = None,
) -> Iterator[None]:  # fmt: skip
    """Within, joblib works on this engine.

    Parameters
    ----------
    name
        ``loky`` (processes of this machine), ``dask``, ``ray`` or ``spark``; None leaves joblib's context as it is.
    address
        Of the scheduler; None starts one here, with workers of this machine.
    jobs
        How many workers to start where there is no address; -1 for one per core.
    timeout
        Seconds that the scheduler and its first worker have to answer.
    notice
        Called with a message when all workers have exited before the work is done; None prints it on standard error.
    """
    if name is not None and name not in BACKENDS:
        raise UsageError(f"--backend {name} is unknown; choose one of {', '.join(BACKENDS)}")
    if name in (None, "loky"):
        if address is not None:
            raise UsageError(
                f"--address {address} names a scheduler, so --backend dask, ray or spark is needed too"
            )
        with joblib.parallel_config("loky") if name else nullcontext():
            yield
        return
    workers = core_count() if jobs < 0 else max(1, jobs)
    engine = {"dask": _dask, "ray": _ray, "spark": _spark}[str(name)]
    with (
        engine(address, workers, timeout) as options,
        joblib.parallel_config(name, n_jobs=-1, **options),
        _report_lost_workers(options.get("client"), address, notice or _print_notice),
    ):
        yield


def _knock(address: str, engine: str, example: str, timeout: float) -> None:
    """Make sure that something listens there: the engines themselves try for minutes, or end in a stack trace."""
    found = re.fullmatch(r"(?:[a-z]+://)?(\[[^\]]+\]|[^:/\[\]]+):(\d+)/?", address)
    if not found:
        raise UsageError(f"--address {address} is not understood; write it like {example}")
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), timeout).close()
    except (OSError, OverflowError) as error:
        raise _silent(engine, address, timeout, str(error)) from error


def _silent(engine: str, address: str, timeout: float, reason: str) -> WorkerError:
    return WorkerError(
        f"no {engine} answers at {address} within {timeout:g} s ({reason}); start it, or correct --address"
    )


# Dask -----------------------------------------------------------------------------------------------------------


@contextmanager
def _dask(address: str | None, workers: int, timeout: float) -> Iterator[dict[str, Any]]:
    distributed = import_extra("distributed", "distributed", "dask", "--backend dask")
    for name in ("distributed", "distributed.client"):  # reported here as a sentence, there as a stack trace
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if address is None:
            # Mapped pages of the store would count as the workers' memory, so no limit is set on it.
            cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=None
            )
            stack.callback(cluster.close)
            client = distributed.Client(cluster)
        else:
            client = _dask_client(distributed, address, timeout)
        stack.callback(client.close)
        _check_dask_workers(client, address or "this machine", timeout)
        yield {"client": client}


def _dask_client(distributed: Any, address: str, timeout: float) -> Any:
    if address.endswith(".json"):
        if not Path(address).exists():
            raise WorkerError(
                f"there is no scheduler file {address}; start dask scheduler --scheduler-file {address}"
            )
        options = {"scheduler_file": address}
    else:
        _knock(address, "dask scheduler", "tcp://host:8786, or name a scheduler file, x.json", timeout)
        options = {"address": address}
    try:
        return distributed.Client(**options, timeout=timeout)
    except (OSError, ValueError) as error:
        raise _silent("dask scheduler", address, timeout, str(error).splitlines()[0]) from error


def worker_version() -> str:
    """The version of BagPack that a worker runs."""
    return __version__


def _check_dask_workers(client: Any, address: str, timeout: float) -> None:
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError as error:
        raise WorkerError(
            f"the dask scheduler at {address} has no worker after {timeout:g} s; start some with dask worker"
        ) from error
    try:
        found = client.run(worker_version)
    except ImportError as error:
        raise WorkerError(
            f"the workers of {address} cannot import bagpack ({error}); install version {__version__} where they run"
        ) from error
    for worker, version in found.items():
        if version != __version__:
            raise WorkerError(
                f"the worker {worker} has bagpack {version} and this command {__version__}; install the same version"
            )


@contextmanager
def _report_lost_workers(client: Any, address: str | None, notice: Callable[[str], None]) -> Iterator[None]:
    """Say when a dask scheduler has no worker left: it waits for new ones, for ever and without a word."""
    if client is None:
        yield
        return
    stop = threading.Event()

    def watch() -> None:
        reported = False
        while not stop.wait(POLL):
            try:
                left = bool(client.nthreads())
            except Exception:  # the client is being closed
                continue
            if not left and not reported:
                notice(
                    f"all workers of the dask scheduler at {address or 'this machine'} have exited; the work "
                    f"waits until new ones are started (Ctrl-C stops it)"
                )
            reported = not left

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        stop.set()


def _print_notice(text: str) -> None:
    print(f"bagpack: {text}", file=sys.stderr)


# Ray ------------------------------------------------------------------------------------------------------------


@contextmanager
def _ray(address: str | None, workers: int, timeout: float) -> Iterator[dict[str, Any]]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_extra("ray", "ray", "ray", "--backend ray")
    register = import_extra("ray.util.joblib", "ray", "ray", "--backend ray").register_ray
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        ray.init(num_cpus=workers, include_dashboard=False, **quiet)
    else:
        if address != "auto":
            _knock(address, "Ray cluster", "host:6379, ray://host:10001 or auto", timeout)
        try:
            ray.init(address=address, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = f"{str(error).splitlines()[0]}; one that asks for a token needs RAY_AUTH_MODE and RAY_AUTH_TOKEN"
            raise _silent("Ray cluster", address, timeout, reason) from error
    # Ray writes what it has to say of workers that end to standard output, where a command's result goes.
    with redirect_stdout(sys.stderr):
        try:
            register()
            yield {}
        finally:
            ray.shutdown()


# Spark ----------------------------------------------------------------------------------------------------------


@contextmanager
def _spark(address: str | None, workers: int, timeout: float) -> Iterator[dict[str, Any]]:
    sql = import_extra("pyspark.sql", "pyspark", "spark", "--backend spark")
    register = import_extra("joblibspark", "joblibspark", "spark", "--backend spark").register_spark
    if not has_java():
        raise WorkerError(
            "--backend spark needs Java, 17 or newer; install it, or set JAVA_HOME to where it is"
        )
    if address and address.startswith("spark://"):
        _knock(address, "Spark master", "spark://host:7077", timeout)
    builder = sql.SparkSession.builder.appName("bagpack").master(address or f"local[{workers}]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    if address is None or address.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    # Workers run whatever `python3` is otherwise, and end in a TypeError that says nothing of it.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with warnings.catch_warnings():
        for untroubling in (".*stage-level scheduling", "Spark session is not provided"):
            warnings.filterwarnings("ignore", message=untroubling)
        try:
            session = builder.config(map=settings).getOrCreate()
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            checked = f"Java and --address {address}" if address else "Java"
            raise WorkerError(f"Spark does not start ({reason}); check {checked}") from error
        try:
            register()
            yield {}
        finally:
            session.stop()


def has_java() -> bool:
    """Whether there is a Java where Spark looks for one."""
    home = os.environ.get("JAVA_HOME")
    return bool(home and (Path(home) / "bin" / "java").exists()) or shutil.which("java") is not None
