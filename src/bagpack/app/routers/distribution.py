"""How often a word or a pair occurs by an attribute of the documents: over time, or by genre."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from bagpack.app import queries, schemas
from bagpack.app.dependencies import (
    PROBLEMS,
    Json,
    LibraryDep,
    OptionalWordQuery,
    WordQuery,
    WorkersDep,
    csv_file,
    html,
    lane_of,
    unknown_word,
    words_of,
)
from bagpack.corpus.where import number_of

router = APIRouter()

LISTED = 200  # rows of the page's table; the file has all
By = Annotated[
    str,
    Query(
        max_length=200,
        description="An attribute of the documents, such as genre or year; year:10 counts by decades. By default the "
        "first that the page of the word or pair lists as `by`.",
    ),
]


async def distribution_data(
    library: LibraryDep, workers: WorkersDep, w1: WordQuery, w2: OptionalWordQuery = "", by: By = ""
) -> Json:
    """The counts of a word or a pair by an attribute."""
    words = words_of(w1, w2)
    return await workers.run(queries.distribution, words, by, lane=lane_of(library, *words), keep=True)


DistributionData = Annotated[Json, Depends(distribution_data)]


@router.get(
    "/distribution.json", summary="By attribute", response_model=schemas.DistributionPage,
    responses=unknown_word(schemas.DistributionPage),
)  # fmt: skip
async def distribution_json(data: DistributionData, response: Response) -> Json:
    """How often a word or a pair occurs in the documents of each value of an attribute, also per million tokens."""
    response.status_code = 404 if data["unknown"] else 200
    return data


@router.get(
    "/distribution/rows.csv", summary="By attribute, as CSV", response_class=Response,
    responses={**PROBLEMS, 200: {"content": {"text/csv": {}}, "description": "The rows."}},
)  # fmt: skip
async def distribution_csv(data: DistributionData) -> Response:
    """A row for each value: count, tokens of its documents, count per million tokens and its 95 % interval."""
    return csv_file(queries.distribution_csv(data), f"{'-'.join(data['words'])}-by-{data['attribute']}")


@router.get("/distribution", include_in_schema=False)
async def distribution_page(data: DistributionData) -> HTMLResponse:
    """The same as a page with a chart."""
    words = data["words"]
    query = {"w1": words[0], "w2": words[1] if len(words) > 1 else None, "by": data["by"]}
    return html(
        "distribution.html.j2", 404 if data["unknown"] else 200, d=data, query=query, chart=columns(data),
        most=LISTED, highest=max((row["per_million"] for row in data["rows"]), default=0),
    )  # fmt: skip


def columns(data: Json) -> Json | None:
    """Where the columns of a chart are, in percent of its width and height; None unless the values are numbers."""
    rows = [(number_of(row["value"]), row) for row in data["rows"]]
    numbered = [(number, row) for number, row in rows if number is not None]
    if len(numbered) < 2 or not any(row["count"] for _, row in numbered):
        return None
    highest = max(numbered, key=lambda item: item[1]["per_million"])[1]
    top = min(max(row["high"] for _, row in numbered), 2 * highest["per_million"])
    first, last = numbered[0][0], numbered[-1][0]
    step = min(after - before for (before, _), (after, _) in pairwise(numbered))
    whole = last - first + step
    return {
        "columns": [
            {
                "x": 100 * (number - first) / whole, "row": row,
                **{name: 100 - 100 * min(row[name] / top, 1) for name in ("per_million", "low", "high")},
            }
            for number, row in numbered
        ],
        "width": 100 * step / whole, "first": numbered[0][1]["value"], "last": numbered[-1][1]["value"],
        "highest": highest,
    }  # fmt: skip
