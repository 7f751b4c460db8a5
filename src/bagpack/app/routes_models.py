"""The model, data sets, and the few files that pages use."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from bagpack.app import answers
from bagpack.app.asking import (
    PROBLEMS,
    Json,
    Lib,
    Work,
    data_entry,
    html,
    model_facts,
)
from bagpack.app.library import read_upload
from bagpack.app.rendering import ASSETS, asset
from bagpack.errors import BagpackError, UsageError
from bagpack.explain.telling import Tick
from bagpack.learn.model import LinearModel
from bagpack.report.explanation import largest_share
from bagpack.wording import feature_in_words, say_feature

router = APIRouter()


# Model -------------------------------------------------------------------------------------------------------------


def model_data(
    library: Lib, top: Annotated[int, Query(ge=1, le=200, description="Features per label.")] = 12
) -> Json:
    """The model's labels, scores and strongest features."""
    model = library.model
    if model is None:
        raise HTTPException(404, "no model is loaded; start the explorer with --model")
    names = model.feature_names()
    strongest, weakest = {}, {}
    for label in [None] if model.kind == "rating" else model.classes:
        name = "rating" if label is None else str(label)
        ordered = model.strongest(label, len(names))
        strongest[name] = [_weighted(feature, weight) for feature, weight in ordered[:top] if weight > 0]
        weakest[name] = [
            _weighted(feature, weight) for feature, weight in ordered[: -top - 1 : -1] if weight < 0
        ]
    manifest = model.manifest
    return {
        "facts": model_facts(library), "scores": dict(manifest.get("scores", {})),
        "settings": {**model.settings, **_counting(model)},
        "trained_on": {
            name: value for name, value in dict(manifest.get("data", {})).items() if name != "path"
        },
        "strongest": strongest, "weakest": weakest,
    }  # fmt: skip


def _counting(model: LinearModel) -> Json:
    """How the model's pairs were counted, the windows in one line."""
    counting = model.counting.to_dict() if model.counting else {}
    windows = counting.pop("windows", {})
    return {**counting, "windows": ", ".join(f"{name} {size}" for name, size in windows.items())}


def _weighted(feature: str, weight: float) -> Json:
    said = say_feature(feature)
    return {
        "name": feature, "words": feature_in_words(feature),
        "pattern": said.pattern, "place": said.place, "weight": weight,
    }  # fmt: skip


ModelData = Annotated[Json, Depends(model_data)]


@router.get("/model.json", summary="The model", response_model=answers.ModelPage, responses=PROBLEMS)
async def model_json(data: ModelData) -> JSONResponse:
    """Labels, what the cross-validation found, the strongest features."""
    return JSONResponse(data)


@router.get("/model", include_in_schema=False)
async def model_page(library: Lib) -> HTMLResponse:
    """The model's page; without a model, how to load one."""
    return html("model.html.j2", m=None if library.model is None else model_data(library))


# Data sets ---------------------------------------------------------------------------------------------------------


async def data_list(library: Lib) -> Json:
    """What is loaded."""
    return {
        "data": [data_entry(item) for item in library.data.values()], "upload_bytes": library.limits.upload_bytes,
        "rows": library.limits.rows,
    }  # fmt: skip


DataListData = Annotated[Json, Depends(data_list)]


@router.get("/dataset.json", summary="Data sets", response_model=answers.DataList)
async def data_list_json(data: DataListData) -> JSONResponse:
    """The data sets that are loaded."""
    return JSONResponse(data)


@router.get("/dataset", include_in_schema=False)
async def data_list_page(data: DataListData) -> HTMLResponse:
    """Pick or upload one."""
    return html("datasets.html.j2", d=data, problem="")


@router.post(
    "/dataset", summary="Upload a data set", status_code=303, responses={400: {"description": "Unreadable."}}
)
async def upload(library: Lib, workers: Work, file: UploadFile) -> Response:
    """A TSV (or .csv) of pairs, kept in memory only; leads to its page, whose address follows from its content."""
    content = await file.read()
    name = file.filename or "upload.tsv"
    try:
        loaded = await workers.run(lambda tick: read_upload(name, content, library.limits))
    except BagpackError as error:
        return html("datasets.html.j2", 400, d=await data_list(library), problem=str(error))
    library.add_upload(loaded)
    return RedirectResponse(f"/dataset/{loaded.id}", 303)


async def dataset_data(
    key: Annotated[str, Path(description="The data set's id, as /dataset.json lists it.")], library: Lib, workers: Work,
    at: Annotated[int | None, Query(ge=0, description="Look at this error: 0 is the worst.")] = None,
) -> Json:  # fmt: skip
    """A data set with coverage, predictions, and one error if it is asked for."""
    loaded = library.dataset(key)

    def work(tick: Tick) -> Json:
        covered = library.coverage(loaded)
        judged = library.judged(loaded, tick)
        why = None
        if at is not None:
            if judged is None:
                raise UsageError(
                    "no model is loaded, so there are no errors; start the explorer with --model"
                )
            if at >= len(judged.errors):
                raise UsageError(
                    f"there is no error at={at}; they are counted from 0, and this data set has {len(judged.errors):,}"
                )
            row = judged.rows[judged.errors[at]]
            why = library.explanation(row.w1, row.w2, tick)
        return {
            "entry": data_entry(loaded), "coverage": covered,
            "judged": None if judged is None else judged.to_dict(),
            "notes": ["the model was trained on a file of this name and size: the scores below flatter it"]
            if library.was_trained_on(loaded) else [],
            "at": at, "explanation": None if why is None else why.to_dict(),
        }  # fmt: skip

    return await workers.run(work, "data")


DatasetData = Annotated[Json, Depends(dataset_data)]


@router.get("/dataset/{key}.json", summary="A data set", response_model=answers.DataPage, responses=PROBLEMS)
async def data_json(data: DatasetData) -> JSONResponse:
    """What the corpus knows of its pairs; with a model, its answers, scores and errors, the worst first."""
    return JSONResponse(data)


@router.get("/dataset/{key}", include_in_schema=False)
async def data_page(data: DatasetData, page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> HTMLResponse:
    """A data set's page, or one of its errors."""
    if data["at"] is not None:
        row = data["judged"]["rows"][data["judged"]["errors"][data["at"]]]
        why = data["explanation"]
        return html("data_error.html.j2", d=data, row=row, e=why, largest=largest_share(why))
    return html("dataset.html.j2", d=data, page=page, size=50)


# The rest ----------------------------------------------------------------------------------------------------------


@router.get("/api", include_in_schema=False)
async def api_page(request: Request) -> HTMLResponse:
    """What /openapi.json says, for people, without anything from elsewhere."""
    return html("api.html.j2", api=request.app.openapi())


@router.get("/static/{name}", include_in_schema=False)
async def static(name: str) -> Response:
    """One of the few files that pages use; there are no others."""
    if name not in ASSETS:
        raise HTTPException(404, "there is no such file")
    content, kind = asset(name)
    return Response(content, media_type=kind, headers={"Cache-Control": "max-age=3600"})


@router.get("/favicon.ico", include_in_schema=False)
async def icon() -> Response:
    """For browsers that ask for it by this name."""
    return RedirectResponse("/static/icon.svg", 301)
