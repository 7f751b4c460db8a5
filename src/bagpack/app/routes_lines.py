"""Concordances and pairs side by side: pages and their JSON twins."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from bagpack.app import answers
from bagpack.app.asking import (
    PROBLEMS,
    FirstQuery,
    Json,
    Lib,
    PairQuery,
    SecondQuery,
    Sort,
    WordQuery,
    Work,
    clean,
    html,
    pair_content,
)
from bagpack.contexts.concordance import FIELDS
from bagpack.errors import UsageError
from bagpack.explain.browse import SORTS, Lines
from bagpack.explain.lines import line_dict
from bagpack.explain.sketch import SEGMENTS
from bagpack.sheets import table_text

router = APIRouter()


# Concordance -------------------------------------------------------------------------------------------------------


async def concordance_data(
    library: Lib, workers: Work, w1: FirstQuery = "", w2: SecondQuery = "", sort: Sort = "corpus",
    page: Annotated[int, Query(ge=1, le=10_000_000, description="From 1 on.")] = 1,
    size: Annotated[int, Query(ge=1, le=200, description="Lines on a page.")] = 50,
) -> Json:  # fmt: skip
    """A page of a concordance."""
    words = [clean(word) for word in (w1, w2) if word.strip()]
    if not words:
        empty: Json = {
            "words": [], "unknown": [], "total": 0, "reachable": 0, "page": 1, "pages": 0, "size": size, "sort": sort,
            "note": "", "lines": [],
        }  # fmt: skip
        return empty
    start = (page - 1) * size
    found = await workers.run(
        lambda tick: library.lines(words, start, size, sort, tick), library.lane(*words)
    )
    unknown = (
        (await workers.run(lambda tick: library.browser(words, tick).unknown)) if not found.total else ()
    )
    return {
        "words": words, "unknown": list(unknown), "total": found.total, "reachable": found.reachable, "page": page,
        "pages": -(-found.reachable // size), "size": size, "sort": sort, "note": found.note,
        "lines": [line_dict(line) for line in found.lines],
    }  # fmt: skip


ConcordanceData = Annotated[Json, Depends(concordance_data)]


@router.get(
    "/concordance.json", summary="A concordance", response_model=answers.ConcordancePage, responses=PROBLEMS
)
async def concordance_json(data: ConcordanceData) -> JSONResponse:
    """Every place where a word stands, or two words meet, a page at a time."""
    return JSONResponse(data, 404 if data["unknown"] else 200)


@router.get("/concordance", include_in_schema=False)
async def concordance_page(data: ConcordanceData, library: Lib) -> HTMLResponse:
    """A concordance as a page."""
    words = data["words"]
    query = {"w1": words[0] if words else None, "w2": words[1] if len(words) > 1 else None}
    return html(
        "concordance.html.j2", 404 if data["unknown"] else 200, c=data, query=query,
        sorts=SORTS if len(words) > 1 else SORTS[:3], most=library.limits.download,
    )  # fmt: skip


async def download_data(
    library: Lib, workers: Work, w1: WordQuery, w2: SecondQuery = "", sort: Sort = "corpus"
) -> tuple[list[str], Lines]:
    """As many lines as a file may have."""
    words = [clean(word) for word in (w1, w2) if word.strip()]
    most = library.limits.download
    return words, await workers.run(lambda tick: library.lines(words, 0, most, sort, tick), "data")


DownloadData = Annotated[tuple[list[str], Lines], Depends(download_data)]


def _file_name(words: list[str], ending: str) -> dict[str, str]:
    plain = "-".join("".join(c for c in word if c.isascii() and c.isalnum()) or "word" for word in words)
    return {"Content-Disposition": f'attachment; filename="concordance-{plain[:60]}.{ending}"'}


@router.get(
    "/concordance/lines.csv", summary="A concordance as CSV", responses=PROBLEMS, response_class=Response
)
async def concordance_csv(data: DownloadData) -> Response:
    """The lines as a CSV file with a header; at most 5,000, in the order asked for."""
    words, found = data
    rows = ([line[name] for name in FIELDS] for line in (line.to_dict() for line in found.lines))
    text = table_text([FIELDS, *rows], ",")
    return Response(text, media_type="text/csv; charset=utf-8", headers=_file_name(words, "csv"))


@router.get("/concordance/lines.json", summary="A concordance as a JSON file", responses=PROBLEMS)
async def concordance_file(data: DownloadData) -> JSONResponse:
    """The lines as a JSON file; at most 5,000, and it says of how many."""
    words, found = data
    lines = [line.to_dict() for line in found.lines]
    body = {"words": words, "total": found.total, "shown": len(lines), "note": found.note, "lines": lines}
    return JSONResponse(body, headers=_file_name(words, "json"))


# Compare -----------------------------------------------------------------------------------------------------------


async def compare_data(
    library: Lib, workers: Work, a1: PairQuery = "", a2: PairQuery = "", b1: PairQuery = "",
    b2: PairQuery = "",
) -> Json | None:  # fmt: skip
    """Two pairs; None if they are not named yet."""
    if not all(word.strip() for word in (a1, a2, b1, b2)):
        return None
    first, second = (clean(a1), clean(a2)), (clean(b1), clean(b2))
    one = await pair_content(library, workers, *first)
    two = await pair_content(library, workers, *second)
    likeness = await workers.run(lambda tick: library.likeness(first, second, tick), library.lane(*first))
    shared = {}
    for place in SEGMENTS:
        there = {term["term"] for term in two["sketch"]["terms"][place]}
        shared[place] = [term["term"] for term in one["sketch"]["terms"][place] if term["term"] in there]
    return {
        "first": one, "second": two, "shared": shared, "likeness": None if likeness is None else asdict(likeness),
    }  # fmt: skip


CompareData = Annotated[Json | None, Depends(compare_data)]


@router.get(
    "/compare.json", summary="Two pairs side by side", response_model=answers.ComparePage, responses=PROBLEMS
)
async def compare_json(data: CompareData) -> JSONResponse:
    """Both pairs' pages, the telling terms they share, and how similar their relations are."""
    if data is None:
        raise UsageError("name both pairs: a1, a2, b1 and b2")
    return JSONResponse(data)


@router.get("/compare", include_in_schema=False)
async def compare_page(request: Request, data: CompareData) -> HTMLResponse:
    """Two pairs side by side."""
    asked = {name: request.query_params.get(name, "") for name in ("a1", "a2", "b1", "b2")}
    return html("compare.html.j2", d=data, asked=asked)
