"""Concordances."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from bagpack.app import queries, schemas
from bagpack.app.dependencies import (
    PROBLEMS,
    Json,
    LibraryDep,
    OptionalWordQuery,
    Sort,
    WordQuery,
    WorkersDep,
    csv_file,
    html,
    lane_of,
    unknown_word,
    words_of,
)
from bagpack.app.workers import DATA
from bagpack.explain.browse import SORTS

router = APIRouter()

Page = Annotated[int, Query(ge=1, le=10_000_000, description="From 1 on.")]
Size = Annotated[int, Query(ge=1, le=200, description="Lines per page.")]


async def concordance_data(
    library: LibraryDep, workers: WorkersDep, w1: WordQuery, w2: OptionalWordQuery = "", sort: Sort = "corpus",
    page: Page = 1, size: Size = 50,
) -> Json:  # fmt: skip
    """A page of a concordance."""
    words = words_of(w1, w2)
    return await workers.run(
        queries.concordance, words, page, size, sort, lane=lane_of(library, *words), keep=True
    )


ConcordanceData = Annotated[Json, Depends(concordance_data)]


@router.get(
    "/concordance.json", summary="A concordance", response_model=schemas.ConcordancePage,
    responses=unknown_word(schemas.ConcordancePage),
)  # fmt: skip
async def concordance_json(data: ConcordanceData, response: Response) -> Json:
    """Every occurrence of a word, or every co-occurrence of two, a page at a time."""
    response.status_code = 404 if data["unknown"] else 200
    return data


@router.get("/concordance", include_in_schema=False)
async def concordance_page(
    library: LibraryDep, workers: WorkersDep, w1: OptionalWordQuery = "", w2: OptionalWordQuery = "",
    sort: Sort = "corpus", page: Page = 1, size: Size = 50, whole: bool = False,
) -> HTMLResponse:  # fmt: skip
    """A concordance as a page; without a word, a form that asks for one."""
    if not w1.strip():
        if not w2.strip():
            return html("concordance_form.html.j2")
        w1, w2 = w2, ""
    data = await concordance_data(library, workers, w1, w2, sort, page, size)
    words = data["words"]
    query = {"w1": words[0], "w2": words[1] if len(words) > 1 else None, "whole": 1 if whole else None}
    return html(
        "concordance.html.j2", 404 if data["unknown"] else 200, c=data, query=query, whole=whole,
        sorts=SORTS if len(words) > 1 else SORTS[:3], most=library.limits.download,
    )  # fmt: skip


@router.get(
    "/concordance/lines.csv", summary="A concordance as CSV", response_class=Response,
    responses={**PROBLEMS, 200: {"content": {"text/csv": {}}, "description": "The lines."}},
)  # fmt: skip
async def concordance_csv(
    workers: WorkersDep, w1: WordQuery, w2: OptionalWordQuery = "", sort: Sort = "corpus"
) -> Response:
    """The lines as a CSV file with a header; at most 5,000, in the order asked for."""
    words = words_of(w1, w2)
    text = await workers.run(queries.concordance_csv, words, sort, lane=DATA)
    return csv_file(text, f"concordance-{'-'.join(words)}")


@router.get(
    "/concordance/lines.json", summary="A concordance as a JSON file", response_model=schemas.ConcordanceFile,
    responses=PROBLEMS,
)  # fmt: skip
async def concordance_file(
    workers: WorkersDep, response: Response, w1: WordQuery, w2: OptionalWordQuery = "", sort: Sort = "corpus"
) -> Json:
    """The lines as a JSON file; at most 5,000, and it says of how many."""
    words = words_of(w1, w2)
    response.headers["Content-Disposition"] = 'attachment; filename="concordance.json"'
    return await workers.run(queries.concordance_file, words, sort, lane=DATA)
