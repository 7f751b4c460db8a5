"""`--backend` and `--address`: what all commands with long work share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

Backend = Annotated[
    str | None,
    typer.Option("--backend", help="Who does the work: loky (processes of this machine), dask, ray, spark."),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", help="The backend's scheduler, such as tcp://host:8786; without, one is started."
    ),
]


@contextmanager
def workers(
    backend: str | None, address: str | None, jobs: int, out: str | Path | None = None,
    store: str | Path | None = None,
) -> Iterator[None]:  # fmt: skip
    """Within, the work is done by these workers; what they hand over lies beside `out`.

    Without one it lies beside the store, if workers of other machines have to see it.
    """
    from bagpack.files import is_stream

    if out is not None and is_stream(Path(out)):  # nothing can lie beside it
        out = None
    if out is None and backend not in (None, "loky"):
        out = store
    if backend is None and address is None and out is None:
        yield
        return
    from bagpack.backends import open_backend
    from bagpack.parallel import beside

    with ExitStack() as stack:
        stack.enter_context(open_backend(backend, address, jobs))
        if out is not None:
            stack.enter_context(beside(out))
        yield
