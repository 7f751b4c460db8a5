"""Opening a joblib backend (loky, dask, ray, spark) by its name and address, and closing it again."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from importlib.metadata import version
from typing import Any

import joblib

from bagpack._version import __version__
from bagpack.errors import UsageError, import_extra
from bagpack.parallel import WorkerError, core_count, worker_errors

TIMEOUT = 20.0  # seconds that a scheduler and its first worker have to answer


@contextmanager
def open_backend(
    name: str | None, address: str | None = None, jobs: int = -1, timeout: float = TIMEOUT
) -> Iterator[None]:
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
    workers = core_count() if jobs < 0 else max(1, jobs)
    with ExitStack() as stack:
        stack.enter_context(worker_errors())  # joblib asks for the workers, and the client is closed, in here
        if name == "dask":
            stack.enter_context(_dask(address, workers, timeout))
        else:
            stack.enter_context(_ray(address, workers) if name == "ray" else _spark(address, workers))
        stack.enter_context(joblib.parallel_config(name, n_jobs=-1))
        yield


@contextmanager
def _starting(engine: str, address: str | None) -> Iterator[None]:
    """Report in a sentence that a scheduler does not answer."""
    try:
        yield
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise WorkerError(
            f"no {engine} scheduler answers at {address or 'this machine'} ({reason}); start it, or correct --address"
        ) from error


@contextmanager
def _dask(address: str | None, workers: int, timeout: float) -> Iterator[None]:
    distributed = import_extra("distributed", "distributed", "dask", "--backend dask")
    for name in ("distributed", "distributed.client"):  # reported here as a sentence, there as a stack trace
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        with _starting("dask", address):
            if address is None:
                # Mapped pages of the store would count as the workers' memory, so no limit is set on it.
                local = distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=None
                )
                where = {"address": stack.enter_context(local)}
            elif address.endswith(".json"):  # as dask scheduler --scheduler-file writes it
                os.stat(address)  # dask would wait for it
                where = {"scheduler_file": address}
            else:
                where = {"address": address}
            client = stack.enter_context(distributed.Client(**where, timeout=timeout))
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError as error:
            raise WorkerError(
                f"the dask scheduler at {address} has no worker after {timeout:g} s; start some with dask worker"
            ) from error
        found = set(client.run(version, "bagpack").values())
        if found != {__version__}:  # workers of another version would make other bytes
            raise WorkerError(f"workers of {address} have bagpack {found}; install {__version__} there too")
        yield


@contextmanager
def _ray(address: str | None, workers: int) -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_extra("ray", "ray", "ray", "--backend ray")
    local: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False}
    # Ray writes what it has to say of workers that end to standard output, where a command's result goes.
    with redirect_stdout(sys.stderr):
        with _starting("ray", address):
            options = {"address": address} if address else local
            ray.init(**options, log_to_driver=False, logging_level="ERROR")
        try:
            import_extra("ray.util.joblib", "ray", "ray", "--backend ray").register_ray()
            yield
        finally:
            ray.shutdown()


@contextmanager
def _spark(address: str | None, workers: int) -> Iterator[None]:
    sql = import_extra("pyspark.sql", "pyspark", "spark", "--backend spark")
    register = import_extra("joblibspark", "joblibspark", "spark", "--backend spark").register_spark
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
        with _starting("spark", address):  # it needs Java, 17 or newer
            session = builder.config(map=options).getOrCreate()
        try:
            register()
            yield
        finally:
            session.stop()
