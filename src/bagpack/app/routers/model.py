"""The model and its labels."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import HTMLResponse

from bagpack.app import predictions, queries, schemas
from bagpack.app.dependencies import PROBLEMS, Json, LibraryDep, UploadsDep, WorkersDep, get_dataset, html
from bagpack.app.workers import DATA

router = APIRouter()

Top = Annotated[int, Query(ge=1, le=200, description="Features per label.")]
LabelPath = Annotated[str, Path(max_length=500, description="A label of the model.")]
DataQuery = Annotated[
    str, Query(max_length=64, description="Id of a data set; by default the first that is loaded.")
]


@router.get("/model.json", summary="The model", response_model=schemas.ModelPage, responses=PROBLEMS)
async def model_json(workers: WorkersDep, top: Top = 12) -> Json:
    """Labels, the scores of the cross-validation, the strongest features."""
    return await workers.run(queries.model_page, top, keep=True)


@router.get("/model", include_in_schema=False)
async def model_page(library: LibraryDep, workers: WorkersDep) -> HTMLResponse:
    """The model's page; without a model, how to load one."""
    return html("model.html.j2", m=None if library.model is None else await model_json(workers))


@router.get(
    "/label/{label:path}.json", summary="A label", response_model=schemas.LabelPage, responses=PROBLEMS
)
async def label_json(
    label: LabelPath, library: LibraryDep, workers: WorkersDep, uploads: UploadsDep, data: DataQuery = "",
    top: Top = 15,
) -> Json:  # fmt: skip
    """The features for and against a label, pairs that are typical of it, and pairs that are uncertain."""
    key = data or next(iter(library.data), "")
    source = get_dataset(library, uploads, key) if key else None
    return await workers.run(predictions.label_page, label, source, top, lane=DATA)


@router.get("/label/{label:path}", include_in_schema=False)
async def label_page(
    label: LabelPath, library: LibraryDep, workers: WorkersDep, uploads: UploadsDep, data: DataQuery = ""
) -> HTMLResponse:
    """A label's page."""
    return html("label.html.j2", d=await label_json(label, library, workers, uploads, data))
