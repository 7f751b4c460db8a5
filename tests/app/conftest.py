"""A real server over a small corpus, and a real browser that visits it."""

import http.client
import os
import subprocess
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import pytest

from bagpack.app import Library, create_app
from bagpack.corpus.build.index import index_corpus
from tests.conftest import LIMIT, free_port, run_apart, serving_command
from tests.evaluate.conftest import made_up_pairs, made_up_text

NASTY = "the kinda01 <script>document.title='pwned'</script> of a kindb01 ."


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """A store whose text and document names hold HTML, and a model trained on it."""
    from bagpack.evaluate.run import CountOptions
    from bagpack.evaluate.train import TrainOptions, train_file

    folder = tmp_path_factory.mktemp("app")
    vertical = []
    lines = [*made_up_text(), *[NASTY] * 3, *["and/or is a word ."] * 3]
    for number, line in enumerate(lines):
        if number % (len(lines) // 8) == 0:  # a document of each decade
            part = number // (len(lines) // 8)
            vertical += ["</text>"] * (part > 0)
            attributes = f"genre='{('news', 'letters')[part % 2]}' year='{1900 + 10 * part}'"
            vertical.append(f"<text id='&lt;img src=x onerror=alert(1)&gt;' {attributes}>")
        vertical += ["<s>", *(f"{word}\tX\t{word}" for word in line.split()), "</s>"]
    (folder / "c.vert").write_text("\n".join([*vertical, "</text>", ""]))
    index_corpus([str(folder / "c.vert")], folder / "c.bp", part_bytes=8000)
    rows = [f"{a}\t{b}\t{label}\n" for a, b, label in made_up_pairs()]
    (folder / "train.tsv").write_text("w1\tw2\tlabel\n" + "".join(rows))
    options = TrainOptions(folds=3, counting=CountOptions(40))
    train_file(str(folder / "c.bp"), str(folder / "train.tsv"), str(folder / "m.model"), options)
    return folder


@asynccontextmanager
async def in_process(store, model=None):
    """A client of the application in this process, without its workers: `test_pool` and `test_server` have those."""
    library = Library(str(store), None if model is None else str(model))
    app = create_app(library)

    async def run(function, *arguments, **how):
        return function(library, *arguments)

    app.state.pool.run = run
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


def ask(path, store, model=None):
    """The answer to one request, in this process."""

    async def asking():
        async with in_process(store, model) as client:
            return await client.get(path)

    return run_apart(asking())


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


@contextmanager
def served(*arguments, files=None, limits=None):
    """A command that serves pages, as a user starts it, in a process of its own: its address and its process."""
    port = free_port()
    command = serving_command(*arguments, "--port", port, **(limits or {}))
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "COLUMNS": "200"})
        process.said = Path(log.name).read_text
        base = f"http://127.0.0.1:{port}"
        try:
            deadline = time.monotonic() + LIMIT
            while not is_answered(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(process.said())
                time.sleep(0.02)
            yield base, process
        finally:
            process.terminate()
            process.wait(LIMIT)


def running(world, *options, files=None):
    """`bagpack serve` over the store of `world`."""
    return served("serve", world / "c.bp", *options, files=files)


@pytest.fixture(scope="session")
def server(world):
    """The explorer with a model."""
    with running(world, "--model", world / "m.model") as (base, _):
        yield base


@pytest.fixture
def web(server):
    with httpx.Client(base_url=server, timeout=LIMIT) as client:
        yield client


@pytest.fixture
def visit(open_page, server):
    """Open pages of the explorer like a person."""
    return lambda path="/", **options: open_page(server, path, **options)
