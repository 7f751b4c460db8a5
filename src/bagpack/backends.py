"""Opening a joblib backend (loky, dask, ray, spark) by its name and address, and closing it again."""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from typing import Any

import joblib

from bagpack._version import __version__
from bagpack.errors import UsageError, import_extra
from bagpack.parallel import WorkerError, core_count, lost

BACKENDS = ("loky", "dask", "ray", "spark")
TIMEOUT = 20.0  # seconds that a scheduler and its first worker have to answer


@contextmanager
def open_backend(
    name: str | None, address: str | None = None, jobs: int = -1, timeout: float = TIMEOUT
) -> Iterator[None]:
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
    """
    if name in (None, "loky"):
        if address is not None:
            raise UsageError(
                f"--address {address} names a scheduler, so --backend dask, ray or spark is needed too"
            )
        with joblib.parallel_config("loky") if name else nullcontext():
            yield
        return
    if name not in BACKENDS:
        raise UsageError(f"--backend {name} is unknown; choose one of {', '.join(BACKENDS)}")
    workers = core_count() if jobs < 0 else max(1, jobs)
    engine = {"dask": _dask, "ray": _ray, "spark": _spark}[str(name)]
    try:
        with engine(address, workers, timeout), joblib.parallel_config(name, n_jobs=-1):
            yield
    except Exception as error:  # also where joblib asks a scheduler for its workers, or the client is closed
        message = lost(error)
        if message is None:
            raise
        raise WorkerError(message) from error


def _check_address(address: str, engine: str, example: str, timeout: float) -> None:
    """Make sure that something listens there: the engines themselves try for minutes, or end in a stack trace."""
    found = re.fullmatch(r"(?:[a-z]+://)?(\[[^\]]+\]|[^:/\[\]]+):(\d+)/?", address)
    if not found:
        raise UsageError(f"--address {address} is not understood; write it like {example}")
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), timeout).close()
    except (OSError, OverflowError) as error:
        raise _no_answer(engine, address, error) from error


def _no_answer(engine: str, address: str, error: Exception) -> WorkerError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return WorkerError(f"no {engine} answers at {address} ({reason}); start it, or correct --address")


@contextmanager
def _dask(address: str | None, workers: int, timeout: float) -> Iterator[None]:
    distributed = import_extra("distributed", "distributed", "dask", "--backend dask")
    for name in ("distributed", "distributed.client"):  # reported here as a sentence, there as a stack trace
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if address is None:
            # Mapped pages of the store would count as the workers' memory, so no limit is set on it.
            options: dict[str, Any] = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": 0}
            cluster = stack.enter_context(distributed.LocalCluster(**options, dashboard_address=None))
            client = stack.enter_context(distributed.Client(cluster))
        else:
            is_file = address.endswith(".json")  # as dask scheduler --scheduler-file writes it
            if is_file and not os.path.exists(address):  # it would be waited for
                raise _no_answer("dask scheduler", address, FileNotFoundError("there is no such file"))
            if not is_file:
                _check_address(
                    address, "dask scheduler", "tcp://host:8786, or name a scheduler file, x.json", timeout
                )
            where = {"scheduler_file" if is_file else "address": address}
            try:
                client = stack.enter_context(distributed.Client(**where, timeout=timeout))
            except (OSError, ValueError) as error:
                raise _no_answer("dask scheduler", address, error) from error
        _check_dask_workers(client, address or "this machine", timeout)
        yield


def worker_version() -> str:
    """The version of BagPack that a worker runs."""
    return __version__


def _check_dask_workers(client: Any, address: str, timeout: float) -> None:
    """Workers of another version would make other bytes."""
    try:
        client.wait_for_workers(1, timeout=timeout)
        found = set(client.run(worker_version).values())
    except TimeoutError as error:
        raise WorkerError(
            f"the dask scheduler at {address} has no worker after {timeout:g} s; start some with dask worker"
        ) from error
    except ImportError as error:
        found = {f"missing ({error})"}
    if found != {__version__}:
        raise WorkerError(
            f"bagpack {__version__} is needed on the workers of {address}, and is {', '.join(sorted(found))} there; "
            f"install the same version"
        )


@contextmanager
def _ray(address: str | None, workers: int, timeout: float) -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_extra("ray", "ray", "ray", "--backend ray")
    register = import_extra("ray.util.joblib", "ray", "ray", "--backend ray").register_ray
    if address is not None and address != "auto":
        _check_address(address, "Ray cluster", "host:6379, ray://host:10001 or auto", timeout)
    place = {"num_cpus": workers, "include_dashboard": False} if address is None else {"address": address}
    try:
        ray.init(**place, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise _no_answer("Ray cluster", address or "this machine", error) from error
    # Ray writes what it has to say of workers that end to standard output, where a command's result goes.
    with redirect_stdout(sys.stderr):
        try:
            register()
            yield
        finally:
            ray.shutdown()


@contextmanager
def _spark(address: str | None, workers: int, timeout: float) -> Iterator[None]:
    sql = import_extra("pyspark.sql", "pyspark", "spark", "--backend spark")
    register = import_extra("joblibspark", "joblibspark", "spark", "--backend spark").register_spark
    if address and address.startswith("spark://"):
        _check_address(address, "Spark master", "spark://host:7077", timeout)
    # Workers run whatever `python3` is otherwise, and end in a TypeError that says nothing of it.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    if address is None or address.startswith("local"):
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = sql.SparkSession.builder.appName("bagpack").master(address or f"local[{workers}]")
    with warnings.catch_warnings():
        for harmless in (".*stage-level scheduling", "Spark session is not provided"):
            warnings.filterwarnings("ignore", message=harmless)
        try:
            session = builder.config(map=options).getOrCreate()
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise WorkerError(
                f"Spark does not start ({reason}); check that Java, 17 or newer, is installed, and the --address"
            ) from error
        try:
            register()
            yield
        finally:
            session.stop()
