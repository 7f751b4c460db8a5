"""Home, words, pairs and the lines of features: pages and their JSON twins."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from bagpack._version import __version__
from bagpack.app import answers
from bagpack.app.asking import (
    LONGEST_WORD,
    PROBLEMS,
    Json,
    Lib,
    Named,
    SecondQuery,
    WordQuery,
    Work,
    clean,
    data_entry,
    html,
    model_facts,
    pair_content,
)
from bagpack.app.library import Library
from bagpack.app.rendering import pair_url, word_url
from bagpack.contexts.windows import Windows
from bagpack.report.explanation import largest_share
from bagpack.wording import feature_in_words, say_evidence, say_feature

router = APIRouter()


# Home ------------------------------------------------------------------------------------------------------------


async def home_data(library: Lib) -> Json:
    """What is loaded."""
    corpus = library.background
    return {
        "store": library.source.path.name, "tokens": corpus.tokens, "sentences": corpus.sentences,
        "documents": corpus.documents, "types": corpus.types, "options": corpus.manifest["options"],
        "model": model_facts(library), "data": [data_entry(item) for item in library.data.values()],
        "examples": library.example_pairs(), "frequent": library.frequent(), "version": __version__,
    }  # fmt: skip


HomeData = Annotated[Json, Depends(home_data)]


@router.get("/index.json", summary="What is loaded", response_model=answers.Home)
async def home_json(data: HomeData) -> JSONResponse:
    """The store, the model and the data sets."""
    return JSONResponse(data)


@router.get("/", include_in_schema=False)
async def home(data: HomeData) -> HTMLResponse:
    """The first page."""
    return html("home.html.j2", home=data)


@router.get("/complete.json", summary="Words that begin so", response_model=answers.Completions)
async def complete(
    library: Lib,
    workers: Work,
    q: Annotated[str, Query(max_length=LONGEST_WORD, description="How the word begins.")] = "",
) -> JSONResponse:
    """The most frequent words of the corpus that begin with `q`."""
    return JSONResponse({"words": await workers.run(lambda tick: library.complete(q))})


# Words -----------------------------------------------------------------------------------------------------------


async def word_data(w: Named, library: Lib, workers: Work) -> Json:
    """A word's sketch."""
    word = clean(w)
    sketch = await workers.run(lambda tick: library.word(word, tick))
    return {"sketch": sketch.to_dict()}


WordData = Annotated[Json, Depends(word_data)]


@router.get("/word/{w:path}.json", summary="A word", response_model=answers.WordPage, responses=PROBLEMS)
@router.get("/word.json", summary="A word, any word", response_model=answers.WordPage, responses=PROBLEMS)
async def word_json(data: WordData) -> JSONResponse:
    """How often, in which forms, what stands before and after, and what it is seen with."""
    return JSONResponse(data, 404 if data["sketch"]["unknown"] else 200)


@router.get("/word/{w:path}", include_in_schema=False)
@router.get("/word", include_in_schema=False)
async def word_page(request: Request, data: WordData, library: Lib) -> Response:
    """A word's page."""
    sketch = data["sketch"]
    if request.url.path == "/word" and (url := word_url(sketch["word"])) != _here(request):
        return RedirectResponse(url, 303)
    near = library.nearby(sketch["word"]) if sketch["unknown"] else []
    reach = Windows.parse(sketch["windows"]).between + 1
    return html("word.html.j2", 404 if sketch["unknown"] else 200, s=sketch, near=near, reach=reach)


def _here(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


# Pairs -----------------------------------------------------------------------------------------------------------


async def pair_data(w1: Named, w2: Named, library: Lib, workers: Work) -> Json:
    """A pair's sketch and explanation."""
    return await pair_content(library, workers, w1, w2)


PairData = Annotated[Json, Depends(pair_data)]


@router.get("/pair/{w1}/{w2}.json", summary="A pair", response_model=answers.PairPage, responses=PROBLEMS)
@router.get("/pair.json", summary="A pair of any words", response_model=answers.PairPage, responses=PROBLEMS)
async def pair_json(data: PairData) -> JSONResponse:
    """The pair's sketch: how often, in which order, how far apart, what stands around; and the model's decisions."""
    return JSONResponse(data, 404 if data["sketch"]["unknown"] else 200)


@router.get("/pair/{w1}/{w2}", include_in_schema=False)
async def pair_page(data: PairData, library: Lib) -> HTMLResponse:
    """A pair's page."""
    return _pair_html(data, library)


@router.get("/pair", include_in_schema=False)
async def find_pair(
    request: Request, library: Lib, workers: Work, w1: SecondQuery = "", w2: SecondQuery = ""
) -> Response:
    """Where the search box leads: one word to its page, two to theirs."""
    if not w1.strip() and not w2.strip():
        return RedirectResponse("/", 303)
    if not w1.strip() or not w2.strip():
        return RedirectResponse(word_url(clean(w1 if w1.strip() else w2)), 303)
    url = pair_url(clean(w1), clean(w2))
    if url != _here(request) and not url.startswith("/pair?"):
        return RedirectResponse(url, 303)
    return _pair_html(await pair_content(library, workers, w1, w2), library)


def _pair_html(data: Json, library: Library) -> HTMLResponse:
    sketch, why = data["sketch"], data["explanation"]
    near = {word: library.nearby(word) for word in sketch["unknown"]}
    return html(
        "pair.html.j2", 404 if sketch["unknown"] else 200, s=sketch, e=why, near=near,
        largest=largest_share(why) if why else 1.0,
        longest=max((*sketch["distances_plus"], *sketch["distances_minus"], 1)),
    )  # fmt: skip


# Lines of a feature ------------------------------------------------------------------------------------------------


async def lines_data(
    library: Lib, workers: Work, w1: WordQuery, w2: WordQuery,
    feature: Annotated[str, Query(max_length=500, description="A feature's name, such as v12:+betw:such as.")],
    most: Annotated[int, Query(ge=1, le=1000, description="Lines at most.")] = 100,
) -> Json:  # fmt: skip
    """The lines that make a feature's count."""
    first, second = clean(w1), clean(w2)
    found = await workers.run(
        lambda tick: library.feature_lines(first, second, feature, most), library.lane(first, second)
    )
    said = say_feature(feature, first, second)
    return {
        "w1": first, "w2": second, "feature": feature,
        "words": feature_in_words(feature, first, second),
        "pattern": said.pattern, "place": said.place,
        "count": found.count, "evidence": say_evidence(feature, found.count, first, second),
        "total": found.total, "shown": len(found.lines),
        "lines": found.line_dicts(),
    }  # fmt: skip


LinesData = Annotated[Json, Depends(lines_data)]


@router.get("/lines.json", summary="A feature's lines", response_model=answers.LinesPage, responses=PROBLEMS)
async def lines_json(data: LinesData) -> JSONResponse:
    """The very observations that made a feature's count."""
    return JSONResponse(data)


@router.get("/lines", include_in_schema=False)
async def lines_page(
    data: LinesData, part: Annotated[bool, Query(description="Only the list, to be put into a page.")] = False
) -> HTMLResponse:
    """A feature's lines as a page, or as the part that opens below a feature."""
    return html("lines_part.html.j2" if part else "lines.html.j2", l=data)
