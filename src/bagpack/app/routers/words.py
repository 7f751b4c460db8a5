"""Words."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import RedirectResponse, Response

from bagpack.app import queries, schemas
from bagpack.app.dependencies import Json, WordPath, WordQuery, WorkersDep, clean, html, unknown_word
from bagpack.app.rendering import word_url
from bagpack.contexts.windows import Windows

router = APIRouter()
RESPONSES = unknown_word(schemas.WordPage)


async def word_data(w: WordPath, workers: WorkersDep) -> Json:
    """A word's sketch."""
    return await workers.run(queries.word, clean(w), keep=True)


WordData = Annotated[Json, Depends(word_data)]


@router.get("/word/{w:path}.json", summary="A word", response_model=schemas.WordPage, responses=RESPONSES)
async def word_json(data: WordData, response: Response) -> Json:
    """How often, in which forms, what occurs before and after, and its collocates."""
    response.status_code = 404 if data["sketch"]["unknown"] else 200
    return data


@router.get("/word.json", summary="A word, any word", response_model=schemas.WordPage, responses=RESPONSES)
async def word_query_json(w: WordQuery, workers: WorkersDep, response: Response) -> Json:
    """The same for a word that cannot be part of a path, such as `and/or`."""
    return await word_json(await word_data(w, workers), response)


@router.get("/word/{w:path}", include_in_schema=False)
async def word_page(data: WordData) -> Response:
    """A word's page."""
    sketch = data["sketch"]
    reach = Windows.parse(sketch["windows"]).between + 1
    return html(
        "word.html.j2", 404 if sketch["unknown"] else 200, s=sketch, near=data["near"], by=data["by"], reach=reach
    )  # fmt: skip


@router.get("/word", include_in_schema=False)
async def word_query_page(w: WordQuery, workers: WorkersDep) -> Response:
    """A word's page; its address has the word in the path if possible."""
    url = word_url(clean(w))
    if not url.startswith("/word?"):
        return RedirectResponse(url, 303)
    return await word_page(await word_data(w, workers))
