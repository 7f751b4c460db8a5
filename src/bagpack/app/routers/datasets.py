"""Data sets: lists, uploads, predictions, errors one by one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bagpack.app import predictions, schemas
from bagpack.app.dependencies import (
    PROBLEMS,
    DatasetDep,
    Json,
    LibraryDep,
    UploadsDep,
    ViewDep,
    WorkersDep,
    csv_file,
    html,
)
from bagpack.app.limits import UnavailableError
from bagpack.app.state import DataEntry, Upload
from bagpack.app.workers import DATA
from bagpack.errors import BagpackError
from bagpack.report.explanation import largest_share

router = APIRouter()

At = Annotated[int, Query(ge=0, description="Which error: 0 is the worst.")]


@router.get("/dataset.json", summary="Data sets", response_model=schemas.DatasetList)
async def list_json(library: LibraryDep, uploads: UploadsDep) -> Json:
    """The data sets that are loaded."""
    entries = [item.entry for item in library.data.values()] + uploads.entries()
    return {
        "data": [asdict(entry) for entry in entries], "upload_bytes": library.limits.upload_bytes,
        "rows": library.limits.rows,
    }  # fmt: skip


@router.get("/dataset", include_in_schema=False)
async def list_page(library: LibraryDep, uploads: UploadsDep) -> HTMLResponse:
    """Pick or upload a data set."""
    return html("datasets.html.j2", d=await list_json(library, uploads), problem="")


@router.post(
    "/dataset", summary="Upload a data set", status_code=303, response_class=Response,
    responses={303: {"description": "Leads to its page."}, 400: {"description": "The file cannot be read."}},
)  # fmt: skip
async def upload(library: LibraryDep, workers: WorkersDep, uploads: UploadsDep, file: UploadFile) -> Response:
    """A TSV or CSV file of pairs, kept in memory; leads to its page, whose address follows from its content."""
    sent = Upload(file.filename or "upload.tsv", await file.read())
    try:
        entry = DataEntry(**await workers.run(predictions.upload_entry, sent, lane=DATA))
    except UnavailableError:
        raise
    except BagpackError as error:
        return html("datasets.html.j2", 400, d=await list_json(library, uploads), problem=str(error)[:2000])
    if entry.id not in library.data:
        uploads.add(entry, sent)
    return RedirectResponse(f"/dataset/{entry.id}", 303)


@router.get(
    "/dataset/{key}.json", summary="A data set", response_model=schemas.DatasetPage, responses=PROBLEMS
)
async def dataset_json(dataset: DatasetDep, view: ViewDep, workers: WorkersDep) -> Json:
    """What the corpus knows of its pairs; with a model, scores and a page of predictions."""
    return await workers.run(predictions.dataset, dataset, view, lane=DATA)


@router.get(
    "/dataset/{key}/rows.csv", summary="Predictions as CSV", response_class=Response,
    responses={**PROBLEMS, 200: {"content": {"text/csv": {}}, "description": "The rows."}},
)  # fmt: skip
async def dataset_csv(dataset: DatasetDep, view: ViewDep, workers: WorkersDep) -> Response:
    """All rows that match the filter, with the probability of every label; `page` and `size` are ignored."""
    return csv_file(await workers.run(predictions.dataset_csv, dataset, view, lane=DATA), "predictions")


@router.get(
    "/dataset/{key}/error.json", summary="An error", response_model=schemas.ErrorPage, responses=PROBLEMS
)
async def error_json(dataset: DatasetDep, workers: WorkersDep, at: At = 0) -> Json:
    """One of the rows that the model gets wrong, with the reasons for its answer."""
    return await workers.run(predictions.dataset_error, dataset, at, lane=DATA)


@router.get("/dataset/{key}/error", include_in_schema=False)
async def error_page(dataset: DatasetDep, workers: WorkersDep, at: At = 0) -> HTMLResponse:
    """One error as a page."""
    data = await error_json(dataset, workers, at)
    why = data["explanation"]
    return html("data_error.html.j2", d=data, row=data["row"], e=why, largest=largest_share(why))


@router.get("/dataset/{key}", include_in_schema=False)
async def dataset_page(dataset: DatasetDep, view: ViewDep, workers: WorkersDep) -> HTMLResponse:
    """A data set's page."""
    return html("dataset.html.j2", d=await dataset_json(dataset, view, workers), view=view)
