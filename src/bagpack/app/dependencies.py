"""What the routers share: the loaded library, the workers, and the parameters of requests."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from fastapi.responses import HTMLResponse, Response

from bagpack.app import schemas
from bagpack.app.limits import Limits
from bagpack.app.rendering import render
from bagpack.app.state import Library
from bagpack.app.workers import PAGES, SLOW, WorkerPool
from bagpack.errors import UsageError
from bagpack.explain.browse import SORTED, SORTS

Json = dict[str, Any]
LONGEST_WORD = Limits.word
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": schemas.Problem, "description": "The request is wrong; the error says how."},
    404: {"model": schemas.Problem, "description": "There is no such page, model or word."},
    503: {
        "model": schemas.Problem,
        "description": "The limit on time or memory was reached, or too many requests are waiting.",
        "headers": {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}},
    },
}


def unknown_word(model: type[schemas.Schema]) -> dict[int | str, dict[str, Any]]:
    """Responses of a page about words: a 404 has the same content if the corpus does not have the word."""
    return {**PROBLEMS, 404: {"model": model, "description": "The corpus does not contain the word."}}


# Application state -------------------------------------------------------------------------------------------------


def of_app(name: str) -> Any:
    """The dependency on a part of the application's state."""

    async def get(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(get)


LibraryDep = Annotated[Library, of_app("library")]
WorkersDep = Annotated[WorkerPool, of_app("workers")]


# Parameters --------------------------------------------------------------------------------------------------------

SEVERAL = "A word, as a lemma or a form; several with blanks between."
WordPath = Annotated[str, Path(description=SEVERAL)]
WordQuery = Annotated[str, Query(max_length=LONGEST_WORD, description=SEVERAL)]
OptionalWordQuery = Annotated[str, Query(max_length=LONGEST_WORD, description=f"{SEVERAL} May be empty.")]
Sort = Annotated[
    str, Query(description=f"One of {', '.join(SORTS)}; all but corpus sort at most {SORTED:,} lines.")
]


def clean(word: str) -> str:
    """A word without outer blanks and with single inner ones."""
    word = " ".join(word.split())
    if not word:
        raise UsageError("a word is missing; type one")
    if len(word) > LONGEST_WORD:
        raise UsageError(
            f"the word has {len(word):,} characters, and {LONGEST_WORD} are allowed; ask for a shorter one"
        )
    return word


def words_of(w1: str, w2: str) -> tuple[str, ...]:
    """One word or two."""
    return (clean(w1), clean(w2)) if w2.strip() else (clean(w1),)


def lane_of(library: Library, *words: str) -> str:
    """The lane of workers for these words."""
    return SLOW if library.is_slow(*words) else PAGES


# Responses ---------------------------------------------------------------------------------------------------------


def html(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page."""
    return HTMLResponse(render(template, **values), status)


def csv_file(text: str, name: str) -> Response:
    """A CSV file to download; the mark at its start makes spreadsheets read it as UTF-8."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-._") else "_" for c in name)[:80]
    headers = {"Content-Disposition": f'attachment; filename="{plain}.csv"'}
    return Response(("\ufeff" + text).encode(), media_type="text/csv; charset=utf-8", headers=headers)
