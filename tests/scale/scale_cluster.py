"""Commands of the whole way, what they leave, and a dask cluster whose workers can be killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

from tests.conftest import LIMIT

PARTS = 8
INDEX = ("index", "texts", "--out", "z.bp", "--quiet")
VECTORS = ("vectors", "z.bp", "pairs.tsv", "--out", "m.bpm", "-b", "60", "--limit", "40", "--quiet")


def artefacts(here):
    """Every file below that is no input, by name; word vectors are made by the first search, wherever it runs."""
    return {
        str(path.relative_to(here)): path.read_bytes()
        for path in here.rglob("*")
        if path.is_file()
        and "word-vectors" not in path.parts
        and not any(up.is_symlink() for up in (path, path.parent))
    }


class Cluster:
    """A scheduler and workers as processes of their own, on loopback."""

    def __init__(self, place):
        self.place = place
        self.file = place / "scheduler.json"
        self.processes = {}
        self.start("dask_scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show")
        self.address = until(self._scheduler)

    def _scheduler(self):
        """Its address, once its file is there and whole."""
        with suppress(FileNotFoundError, ValueError):
            return json.loads(self.file.read_text())["address"]
        return None

    def start(self, module, name, *more):
        with open(self.place / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(self.file),
                 "--no-dashboard", *more],
                cwd=self.place, stdout=log, stderr=log,
                env={**os.environ, "BAGPACK_SCRATCH": str(self.place / "not-for-workers")},
            )  # fmt: skip

    def workers(self, *names):
        """Have these workers, and no others."""
        for name in names:
            if name not in self.processes or self.processes[name].poll() is not None:
                self.start(
                    "dask_worker", name, "--name", name, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny",
                    "--memory-limit", "0", "--local-directory", str(self.place),
                )  # fmt: skip
        with self.client() as client:
            until(lambda: set(self._by_name(client)) == set(names))
        return self

    def client(self):
        from distributed import Client

        return Client(self.address, set_as_default=False)

    def _by_name(self, client):
        workers = client.scheduler_info(n_workers=-1)["workers"]
        return {facts["name"]: address for address, facts in workers.items()}

    def kill_in_the_middle(self, victim, of=None):
        """In a thread: kill -9 a worker (or process `of`) while it holds an unfinished task; returns what it held."""
        held = []

        def watch():
            with self.client() as client:
                address = self._by_name(client)[victim]
                process = self.processes[victim]

                def holds():
                    return list(client.processing().get(address, ()))

                while not held:
                    until(holds)
                    process.send_signal(signal.SIGSTOP)  # whatever it holds now stays unfinished
                    time.sleep(0.1)
                    held.extend(holds())
                    if held and of:
                        self.processes[of].kill()
                    process.send_signal(signal.SIGCONT if of or not held else signal.SIGKILL)
                self.processes[of or victim].wait()

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        return thread, held

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def until(condition, seconds=LIMIT):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.002)
    return found
