"""Pairs, and the lines behind the features of a pair."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bagpack.app import queries, schemas
from bagpack.app.dependencies import (
    PROBLEMS,
    Json,
    LibraryDep,
    OptionalWordQuery,
    WordPath,
    WordQuery,
    WorkersDep,
    clean,
    html,
    lane_of,
    unknown_word,
)
from bagpack.app.rendering import pair_url, word_url
from bagpack.report.html import largest_share

router = APIRouter()
RESPONSES = unknown_word(schemas.PairPage)


Against = Annotated[str, Query(max_length=500, description="Explain also why the answer is not this label.")]


async def pair_data(
    w1: WordPath, w2: WordPath, library: LibraryDep, workers: WorkersDep, against: Against = ""
) -> Json:
    """A pair's sketch and explanation."""
    words = clean(w1), clean(w2)
    return await workers.run(queries.pair, *words, against or None, lane=lane_of(library, *words), keep=True)


PairData = Annotated[Json, Depends(pair_data)]


@router.get("/pair/{w1}/{w2}.json", summary="A pair", response_model=schemas.PairPage, responses=RESPONSES)
async def pair_json(data: PairData, response: Response) -> Json:
    """How often, in which order, how far apart, the keywords around; and the model's decisions."""
    response.status_code = 404 if data["sketch"]["unknown"] else 200
    return data


@router.get("/pair.json", summary="A pair, any words", response_model=schemas.PairPage, responses=RESPONSES)
async def pair_query_json(
    w1: WordQuery, w2: WordQuery, library: LibraryDep, workers: WorkersDep, response: Response,
    against: Against = "",
) -> Json:  # fmt: skip
    """The same for words that cannot be part of a path, such as `and/or`."""
    return await pair_json(await pair_data(w1, w2, library, workers, against), response)


@router.get("/pair/{w1}/{w2}", include_in_schema=False)
async def pair_page(data: PairData) -> HTMLResponse:
    """A pair's page."""
    sketch, why = data["sketch"], data["explanation"]
    return html(
        "pair.html.j2", 404 if sketch["unknown"] else 200, s=sketch, e=why, near=data["near"], by=data["by"],
        largest=largest_share(why) if why else 1.0,
        longest=max((*sketch["distances_plus"], *sketch["distances_minus"], 1)),
    )  # fmt: skip


@router.get("/pair", include_in_schema=False)
async def find_pair(
    library: LibraryDep, workers: WorkersDep, w1: OptionalWordQuery = "", w2: OptionalWordQuery = ""
) -> Response:
    """The target of the search box: two words lead to the page of the pair, one to the page of the word."""
    words = [clean(word) for word in (w1, w2) if word.strip()]
    if not words:
        return RedirectResponse("/", 303)
    if len(words) == 1:
        return RedirectResponse(word_url(words[0]), 303)
    url = pair_url(*words)
    if not url.startswith("/pair?"):
        return RedirectResponse(url, 303)
    return await pair_page(await pair_data(words[0], words[1], library, workers))


# Lines of a feature ------------------------------------------------------------------------------------------------


async def lines_data(
    library: LibraryDep, workers: WorkersDep, w1: WordQuery, w2: WordQuery,
    feature: Annotated[str, Query(max_length=500, description="A feature's name, such as v12:+betw:such as.")],
    most: Annotated[int, Query(ge=1, le=1000, description="Maximum number of lines.")] = 100,
) -> Json:  # fmt: skip
    """The contexts that were counted for a feature."""
    words = clean(w1), clean(w2)
    return await workers.run(queries.lines, *words, feature, most, lane=lane_of(library, *words), keep=True)


LinesData = Annotated[Json, Depends(lines_data)]


@router.get("/lines.json", summary="A feature's lines", response_model=schemas.LinesPage, responses=PROBLEMS)
async def lines_json(data: LinesData) -> Json:
    """The contexts that were counted for a feature."""
    return data


@router.get("/lines", include_in_schema=False)
async def lines_page(
    data: LinesData, part: Annotated[bool, Query(description="Only the list, to be put into a page.")] = False
) -> HTMLResponse:
    """A feature's lines as a page, or as the part that opens below a feature."""
    return html("lines_part.html.j2" if part else "lines.html.j2", l=data)
