"""The model."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from bagpack.app import queries, schemas
from bagpack.app.dependencies import PROBLEMS, Json, LibraryDep, WorkersDep, html

router = APIRouter()

Top = Annotated[int, Query(ge=1, le=200, description="Features per label.")]


@router.get("/model.json", summary="The model", response_model=schemas.ModelPage, responses=PROBLEMS)
async def model_json(workers: WorkersDep, top: Top = 12) -> Json:
    """Labels, the scores of the cross-validation, the strongest features."""
    return await workers.run(queries.model_page, top, keep=True)


@router.get("/model", include_in_schema=False)
async def model_page(library: LibraryDep, workers: WorkersDep) -> HTMLResponse:
    """The model's page; without a model, how to load one."""
    return html("model.html.j2", m=None if library.model is None else await model_json(workers))
