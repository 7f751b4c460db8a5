"""The command as users run it, in this process (fast) and as a process of its own (for kills, terminals, limits)."""

import http.client
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

import bagpack
from tests.made_up import world  # noqa: F401 (a fixture)

# Before numpy is loaded: threads of linear algebra that wait for each other take several times the work's own time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Kernels are loaded or compiled on first use, so a deadline would measure that.
settings.register_profile("bagpack", max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("quick", settings.get_profile("bagpack"), max_examples=15)
settings.load_profile("bagpack")


# Modules whose kernels and constants are compiled into kernels of others, which numba does not compile again.
COMPILED_INTO = {
    "kernels.py": "", "corpus/format.py": "", "contexts/kernels/__init__.py": "contexts",
    "contexts/kernels/tokens.py": "contexts", "learn/features.py": "learn",
}  # fmt: skip
PACKAGE = Path(bagpack.__file__).parent

# Tests wait for events; this many seconds only end one that hangs, and are enough on a busy machine.
LIMIT = 600

BROWSER_ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """``-n auto``: one more than the cores, since many tests wait for a browser, a server or another process."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """``--dist loadfile``, but all files of the explorer in one process: they share a model, a server and a browser."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "tests/app" if nodeid.startswith("tests/app/") else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_collection_modifyitems(items):
    """Directories with long files first: at the end, one of them would keep one process busy and the others idle."""
    items.sort(key=lambda item: item.nodeid.split("/")[1] not in ("app", "scale", "report", "tasks"))


def samples(name):
    """What the lines of a data file hold, as JSON; it is named from the directory of all tests."""
    return list(map(json.loads, (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()))


@dataclass
class Result:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    def sentence(self, code=1):
        """The one line on standard error of a command that fails cleanly."""
        assert self.code == code, self.err
        assert self.out == ""
        assert "Traceback" not in self.err
        assert "unexpected error" not in self.err
        said = self.err.strip()
        assert said.startswith("bagpack: ")
        assert "\n" not in said
        return said


@pytest.fixture(scope="session", autouse=True)
def quick_disk():
    """What a test writes need not survive a power cut; the processes that tests start do sync."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Tests leave nothing in the user's cache; processes that they start inherit this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels(tmp_path_factory):
    """In a fresh clone the first command says that it compiles; tests that read its words want that to be over.

    Of several processes one compiles, also what counts and learns, while the others wait: each would compile it all.
    """
    from bagpack import PairVectorizer, RelationClassifier, index_corpus

    several = "PYTEST_XDIST_WORKER" in os.environ
    shared = tmp_path_factory.getbasetemp().parent if several else tmp_path_factory.getbasetemp()
    place = tmp_path_factory.mktemp("kernels")
    texts = {
        "a.txt": "The lions, it's said, don't sleep. Do they?\n" * 3,
        "a.vert": "<s>\nLions\tNNS\tlion\n<g/>\n!\tSENT\t!\n</s>\n",
        "a.conllu": "1\tx\tx" + "\t_" * 7 + "\n\n",
    }
    for name, text in texts.items():
        (place / name).write_text(text)
    options = {"level": "form", "annotator": "none"}
    with FileLock(shared / "kernels.lock"):
        if (shared / "kernels.done").exists():
            return
        for name, users in COMPILED_INTO.items():
            changed = (PACKAGE / name).stat().st_mtime
            for index in (PACKAGE / users).rglob("*.nbi"):
                if index.stat().st_mtime < changed:
                    index.unlink()
        corpus = index_corpus([str(place)], place / "store", options, jobs=1).corpus
        if several:
            pairs = [("lions", "sleep"), ("sleep", "they"), ("lions", "said"), ("the", "lions")]
            RelationClassifier(PairVectorizer(corpus, b=5)).fit(pairs, list("aabb")).predict(pairs)
        (shared / "kernels.done").touch()


def run_here(args, stdin, out, err):
    """Exit code of `bagpack ARGS` in this process: the real entry point, with everything but the process start.

    `out` and `err` are binary, and may be one.
    """
    from bagpack.cli import main

    files = {id(file): file for file in (out, err)}
    files = {key: io.TextIOWrapper(file, encoding="utf-8", write_through=True) for key, file in files.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["bagpack", *map(str, args)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        patch.setattr(sys, "stdout", files[id(out)])
        patch.setattr(sys, "stderr", files[id(err)])
        try:
            main()
            return 0
        except SystemExit as stop:
            return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        finally:
            for file in files.values():
                file.detach()


@pytest.fixture
def cli():
    """Run `bagpack ARGS` in this process."""

    def run(*args, stdin=b""):
        out, err = io.BytesIO(), io.BytesIO()
        code = run_here(args, stdin, out, err)
        return Result(code, out.getvalue().decode(), err.getvalue().decode())

    return run


def bagpack_command(*args):
    return [sys.executable, "-c", "from bagpack.cli import main; main()", *map(str, args)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_answered(port):
    """Whether a server answers at a port; without a client of httpx, each of which reads all certificates."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    try:
        connection.request("GET", "/static/app.css")
        return connection.getresponse().read() != b""
    except ConnectionError:
        return False
    finally:
        connection.close()


def wait_for(ready, process):
    """Wait until `ready()`, while the process runs."""
    deadline = time.monotonic() + LIMIT
    while not ready():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def served(*arguments, limits=None, port=None):
    """A command that serves pages, as a user starts it, in a process of its own: its address and its process.

    Without other limits, a page may take long: the machine may be busy.
    """
    port = port or free_port()
    command = bagpack_command(*arguments, "--port", port)
    limits = {"seconds": LIMIT, **(limits or {})}
    limited = (
        f"from bagpack.app import server as s; s.serve.__kwdefaults__['limits'] = s.Limits(**{limits!r})"
    )
    command[2] = f"{limited}; {command[2]}"
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "COLUMNS": "200"})
        process.said = Path(log.name).read_text
        try:
            wait_for(lambda: is_answered(port), process)
            yield f"http://127.0.0.1:{port}", process
        finally:
            process.terminate()
            process.wait(LIMIT)


@pytest.fixture
def process():
    """Run `bagpack ARGS` as a process."""

    def run(*args, stdin=None, env=None, timeout=LIMIT, **more):
        env = {**os.environ, "COLUMNS": "200", **(env or {})}
        how = {"input": stdin, "capture_output": True, "timeout": timeout, "env": env, **more}
        done = subprocess.run(bagpack_command(*args), check=False, **how)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def write(tmp_path):
    """Write a file below the test's directory and return its path."""

    def put(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def run_apart(coroutine):
    """Run a coroutine in a thread of its own: Playwright keeps an event loop running in the tests' thread."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture(scope="session")
def browser():
    """A real browser, one for all tests."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
        if path is None and not os.path.exists(started.chromium.executable_path):
            pytest.skip("no Chromium: apt install chromium, or python -m playwright install chromium")
        launched = started.chromium.launch(executable_path=path, args=BROWSER_ARGS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser):
    """open_page(base, path, **options) → a page; complaints of the browser and requests to elsewhere fail the test."""
    opened, complaints = [], []

    def go(base, path="", width=1280, **options):
        context = browser.new_context(base_url=base, viewport={"width": width, "height": 800}, **options)
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(LIMIT * 1000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
        page.on("request", lambda asked: f"{base}/" in f"{asked.url}/" or complaints.append(asked.url))
        page.goto(path or base)
        return page

    yield go
    for context in opened:
        context.close()
    assert [said for said in complaints if "Failed to load resource" not in said] == []


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt, also where a shell started the tests in the background and ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
