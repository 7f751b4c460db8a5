"""Two pairs side by side."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from bagpack.app import queries, schemas
from bagpack.app.dependencies import (
    PROBLEMS,
    Json,
    LibraryDep,
    OptionalWordQuery,
    WordQuery,
    WorkersDep,
    clean,
    html,
    lane_of,
)
from bagpack.app.workers import PAGES, SLOW

router = APIRouter()


@router.get("/compare.json", summary="Two pairs", response_model=schemas.ComparePage, responses=PROBLEMS)
async def compare_json(
    library: LibraryDep, workers: WorkersDep, a1: WordQuery, a2: WordQuery, b1: WordQuery, b2: WordQuery
) -> Json:
    """Both pairs' pages, the keywords they share, and how similar their relations are."""
    first, second = (clean(a1), clean(a2)), (clean(b1), clean(b2))
    lane = SLOW if SLOW in (lane_of(library, *first), lane_of(library, *second)) else PAGES
    return await workers.run(queries.compare, first, second, lane=lane, keep=True)


@router.get("/compare", include_in_schema=False)
async def compare_page(
    library: LibraryDep, workers: WorkersDep, a1: OptionalWordQuery = "", a2: OptionalWordQuery = "",
    b1: OptionalWordQuery = "", b2: OptionalWordQuery = "",
) -> HTMLResponse:  # fmt: skip
    """Two pairs side by side; a form until both are named."""
    asked = {"a1": a1, "a2": a2, "b1": b1, "b2": b2}
    named = all(word.strip() for word in asked.values())
    return html(
        "compare.html.j2", d=await compare_json(library, workers, **asked) if named else None, asked=asked
    )
