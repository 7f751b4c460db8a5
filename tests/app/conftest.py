"""A real server over a small corpus, and a real browser that visits it."""

from contextlib import asynccontextmanager

import httpx
import pytest

from bagpack.app import Library, create_app
from bagpack.corpus.build.index import index_corpus
from tests.conftest import LIMIT, run_apart, served
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


def running(world, *options):
    """`bagpack serve` over the store of `world`."""
    return served("serve", world / "c.bp", *options)


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
