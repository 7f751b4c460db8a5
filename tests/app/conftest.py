"""A real server over a small corpus, and a real browser that visits it."""

from contextlib import asynccontextmanager

import httpx
import pytest

from bagpack.app import Library, create_app
from tests.conftest import LIMIT, run_apart, served


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
    return served("serve", world.store, *options)


@pytest.fixture(scope="session")
def server(world):
    """The explorer with a model."""
    with running(world, "--model", world.model()) as (base, _):
        yield base


@pytest.fixture
def web(server):
    with httpx.Client(base_url=server, timeout=LIMIT) as client:
        yield client


@pytest.fixture
def visit(open_page, server):
    """Open pages of the explorer like a person."""
    return lambda path="/", **options: open_page(server, path, **options)
