"""The home page and completion."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse

from bagpack.app import queries, schemas
from bagpack.app.dependencies import LONGEST_WORD, PROBLEMS, Json, WorkersDep, html

router = APIRouter()


async def home_data(workers: WorkersDep) -> Json:
    """What is loaded."""
    return await workers.run(queries.home, keep=True)


HomeData = Annotated[Json, Depends(home_data)]


@router.get("/index.json", summary="What is loaded", response_model=schemas.Home, responses=PROBLEMS)
async def home_json(data: HomeData) -> Json:
    """The store, the model and the data sets."""
    return data


@router.get("/", include_in_schema=False)
async def home(data: HomeData) -> HTMLResponse:
    """The home page."""
    return html("home.html.j2", home=data)


@router.get(
    "/complete.json", summary="Complete a word", response_model=schemas.Completions, responses=PROBLEMS
)
async def complete(
    workers: WorkersDep,
    q: Annotated[str, Query(max_length=LONGEST_WORD, description="The first letters of the word.")] = "",
) -> Json:
    """The most frequent words of the corpus that begin with `q`."""
    return await workers.run(queries.complete, q, keep=True)
