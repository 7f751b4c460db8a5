"""The pages and their JSON twins: what is asked, whom it is asked of, what is shown."""

from __future__ import annotations

import csv
import io
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from pydantic import Field
from starlette.exceptions import HTTPException

from bagpack._version import __version__
from bagpack.app import answers
from bagpack.app.library import Library, LoadedData, read_upload
from bagpack.app.limits import Workers
from bagpack.app.rendering import ASSETS, asset, pair_url, render, with_query, word_url
from bagpack.contexts.concordance import FIELDS
from bagpack.errors import UsageError
from bagpack.explain.browse import SORTED, SORTS
from bagpack.explain.lines import line_dict
from bagpack.explain.sketch import SEGMENTS
from bagpack.report.wording import describe_feature, feature_words

router = APIRouter()

Json = dict[str, Any]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": answers.Problem, "description": "The request is not understood."},
    404: {"description": "The corpus does not know the word, or there is no such thing."},
    503: {"model": answers.Problem, "description": "It took too long, or too many wait."},
}
WordQuery = Annotated[
    str, Query(min_length=1, max_length=200, description="A word; several with blanks between.")
]
SecondQuery = Annotated[str, Query(max_length=200, description="A second word: where the two meet.")]
Named = Annotated[str, Field(description="A word, as a lemma or a form; several with blanks between.")]
PairQuery = Annotated[str, Query(max_length=200, description="A word of the pair (a1, a2) or (b1, b2).")]
FirstQuery = Annotated[str, Query(max_length=200, description="A word; several with blanks between.")]
Sort = Annotated[
    str, Query(description=f"One of {', '.join(SORTS)}; all but corpus sort at most {SORTED:,} lines.")
]


def library_of(request: Request) -> Library:
    """What is loaded."""
    found: Library = request.app.state.library
    return found


def workers_of(request: Request) -> Workers:
    """Who does the work."""
    found: Workers = request.app.state.workers
    return found


Lib = Annotated[Library, Depends(library_of)]
Work = Annotated[Workers, Depends(workers_of)]


def html(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page."""
    return HTMLResponse(render(template, **values), status)


def clean(word: str) -> str:
    """A word as it is asked for: outer blanks do not count."""
    word = " ".join(word.split())
    if not word:
        raise UsageError("a word is missing; type one")
    if len(word) > 200:
        raise UsageError("the word is longer than 200 characters; ask for a shorter one")
    return word


# Home ------------------------------------------------------------------------------------------------------------


def _entry(loaded: LoadedData) -> Json:
    return {
        "id": loaded.id, "name": loaded.name, "kind": loaded.kind, "rows": len(loaded.data),
        "uploaded": loaded.uploaded,
    }  # fmt: skip


def _model_facts(library: Library) -> Json | None:
    model = library.model
    if model is None:
        return None
    return {
        "name": library.model_name, "predicts": model.kind, "labels": [str(label) for label in model.classes],
        "condition": model.condition, "preset": model.preset, "features": sum(len(w) for w in model.weights),
    }  # fmt: skip


async def home_data(library: Lib) -> Json:
    """What is loaded."""
    corpus = library.background
    return {
        "store": library.source.path.name, "tokens": corpus.tokens, "sentences": corpus.sentences,
        "documents": corpus.documents, "types": corpus.types, "options": corpus.manifest["options"],
        "model": _model_facts(library), "data": [_entry(item) for item in library.data.values()],
        "frequent": library.frequent(), "version": __version__,
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
    q: Annotated[str, Query(max_length=200, description="How the word begins.")] = "",
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
    near = library.complete(sketch["word"][:4]) if sketch["unknown"] else []
    return html("word.html.j2", 404 if sketch["unknown"] else 200, s=sketch, near=near)


def _here(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


# Pairs -----------------------------------------------------------------------------------------------------------


async def _pair(library: Library, workers: Workers, w1: str, w2: str) -> Json:
    first, second = clean(w1), clean(w2)

    def work(tick: Any) -> Json:
        sketch = library.pair(first, second, tick)
        why = library.explanation(first, second, tick)
        plain = sketch.to_dict()
        del plain["explanation"]  # it stands beside the sketch, kept apart from it
        return {"sketch": plain, "explanation": None if why is None else why.to_dict()}

    return await workers.run(work, library.lane(first, second))


async def pair_data(w1: Named, w2: Named, library: Lib, workers: Work) -> Json:
    """A pair's sketch and explanation."""
    return await _pair(library, workers, w1, w2)


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
    return _pair_html(await _pair(library, workers, w1, w2), library)


def _pair_html(data: Json, library: Library) -> HTMLResponse:
    sketch, why = data["sketch"], data["explanation"]
    largest = (
        max((abs(f["value"]) for d in why["decisions"] for f in d["features"]), default=1.0) if why else 1.0
    )
    near = {word: library.complete(word[:4]) for word in sketch["unknown"]}
    return html(
        "pair.html.j2", 404 if sketch["unknown"] else 200, s=sketch, e=why, largest=largest or 1.0, near=near,
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
    words = feature_words(feature, first, second)
    return {
        "w1": first, "w2": second, "feature": feature,
        "words": describe_feature(feature, first, second).replace("*", ""),
        "pattern": words.pattern if words else feature,
        "count": found.count, "total": found.total, "shown": len(found.lines),
        "lines": [line_dict(line) for line in found.lines],
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
) -> tuple[list[str], Any]:
    """As many lines as a file may have."""
    words = [clean(word) for word in (w1, w2) if word.strip()]
    most = library.limits.download
    return words, await workers.run(lambda tick: library.lines(words, 0, most, sort, tick), "data")


DownloadData = Annotated[tuple[list[str], Any], Depends(download_data)]


def _file_name(words: list[str], ending: str) -> dict[str, str]:
    plain = "-".join("".join(c for c in word if c.isascii() and c.isalnum()) or "word" for word in words)
    return {"Content-Disposition": f'attachment; filename="concordance-{plain[:60]}.{ending}"'}


@router.get(
    "/concordance/lines.csv", summary="A concordance as CSV", responses=PROBLEMS, response_class=Response
)
async def concordance_csv(data: DownloadData) -> Response:
    """The lines as a CSV file with a header; at most 5,000, in the order asked for."""
    words, found = data
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _harmless(text) for name, text in line.to_dict().items()} for line in found.lines)
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=_file_name(words, "csv"))


def _harmless(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "@", "\t", "\r") or (text[:1] in "+-" and len(text) > 1) else text


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
    one = await _pair(library, workers, *first)
    two = await _pair(library, workers, *second)
    likeness = await workers.run(lambda tick: library.likeness(first, second, tick), library.lane(*first))
    shared = {}
    for place in SEGMENTS:
        there = {term.term for term in library.pair(*second, lambda: None).terms[place]}
        shared[place] = [t["term"] for t in one["sketch"]["terms"][place] if t["term"] in there]
    return {
        "first": one, "second": two, "shared": shared,
        "likeness": None if likeness is None else _plain_dict(likeness),
    }  # fmt: skip


def _plain_dict(item: Any) -> Json:
    from dataclasses import asdict

    return asdict(item)


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
        "facts": _model_facts(library), "scores": dict(manifest.get("scores", {})),
        "settings": {**model.settings, **_counting(manifest)},
        "trained_on": {
            name: value for name, value in dict(manifest.get("data", {})).items() if name != "path"
        },
        "strongest": strongest, "weakest": weakest,
    }  # fmt: skip


def _counting(manifest: Any) -> Json:
    counting = dict(manifest.get("counting", {}))
    windows = counting.pop("windows", {})
    return {**counting, "windows": ", ".join(f"{name} {size}" for name, size in windows.items())}


def _weighted(feature: str, weight: float) -> Json:
    words = feature_words(feature)
    return {
        "name": feature, "words": describe_feature(feature).replace("*", ""),
        "pattern": words.pattern if words else feature, "weight": weight,
    }  # fmt: skip


ModelData = Annotated[Json, Depends(model_data)]


@router.get("/model.json", summary="The model", response_model=answers.ModelPage, responses=PROBLEMS)
async def model_json(data: ModelData) -> JSONResponse:
    """Labels, what the cross-validation found, the strongest features."""
    return JSONResponse(data)


@router.get("/model", include_in_schema=False)
async def model_page(request: Request, library: Lib) -> HTMLResponse:
    """The model's page; without a model, how to load one."""
    data = None if library.model is None else model_data(library)
    return html("model.html.j2", m=data)


# Data sets ---------------------------------------------------------------------------------------------------------


async def data_list(library: Lib) -> Json:
    """What is loaded."""
    return {
        "data": [_entry(item) for item in library.data.values()], "upload_bytes": library.limits.upload_bytes,
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
    from bagpack.errors import BagpackError

    content = await file.read()
    name = file.filename or "upload.tsv"
    try:
        loaded = await workers.run(lambda tick: read_upload(name, content, library.limits))
    except BagpackError as error:
        return html("datasets.html.j2", 400, d=await data_list(library), problem=str(error))
    library.add_upload(loaded)
    return RedirectResponse(f"/dataset/{loaded.id}", 303)


async def data_data(
    key: Annotated[str, Path(description="The data set's id, as /dataset.json lists it.")], library: Lib, workers: Work,
    at: Annotated[int | None, Query(ge=0, description="Look at this error: 0 is the worst.")] = None,
) -> Json:  # fmt: skip
    """A data set with coverage, predictions, and one error if it is asked for."""
    loaded = library.dataset(key)

    def work(tick: Any) -> Json:
        covered = library.coverage(loaded)
        judged = library.judged(loaded, tick)
        why = None
        if at is not None:
            if judged is None or at >= len(judged.errors):
                raise UsageError(f"there is no error number {at + 1} in this data set")
            row = judged.rows[judged.errors[at]]
            why = library.explanation(row.w1, row.w2, tick)
        return {
            "entry": _entry(loaded), "coverage": covered,
            "judged": None if judged is None else judged.to_dict(),
            "notes": ["the model was trained on a file of this name and size: the scores below flatter it"]
            if library.was_trained_on(loaded) else [],
            "at": at, "explanation": None if why is None else why.to_dict(),
        }  # fmt: skip

    return await workers.run(work, "data")


DataData = Annotated[Json, Depends(data_data)]


@router.get("/dataset/{key}.json", summary="A data set", response_model=answers.DataPage, responses=PROBLEMS)
async def data_json(data: DataData) -> JSONResponse:
    """What the corpus knows of its pairs; with a model, its answers, scores and errors, the worst first."""
    return JSONResponse(data)


@router.get("/dataset/{key}", include_in_schema=False)
async def data_page(data: DataData, page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> HTMLResponse:
    """A data set's page, or one of its errors."""
    if data["at"] is not None:
        row = data["judged"]["rows"][data["judged"]["errors"][data["at"]]]
        largest = max(
            (abs(f["value"]) for d in data["explanation"]["decisions"] for f in d["features"]), default=1.0
        )
        return html("data_error.html.j2", d=data, row=row, e=data["explanation"], largest=largest or 1.0)
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
    return RedirectResponse(with_query("/static/icon.svg"), 301)
