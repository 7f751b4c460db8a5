"""The pages and their JSON twins."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from bagpack.app import finding, pages
from bagpack.app.library import Library
from bagpack.app.pool import FIND, PAGES, SLOW, Pool
from bagpack.app.rendering import ASSETS, asset, pair_url, render, table_file, word_url
from bagpack.app.session import Session
from bagpack.contexts.windows import Windows
from bagpack.errors import UsageError
from bagpack.explain.browse import SORTED, SORTS

router = APIRouter()

LONGEST_WORD = finding.LONGEST_WORD
LISTED = 200  # rows of a distribution's table; the file has all


# Parameters --------------------------------------------------------------------------------------------------------

SEVERAL = "A word, as a lemma or a form; several with blanks between."
WordPath = Annotated[str, Path(description=SEVERAL)]
WordQuery = Annotated[str, Query(max_length=LONGEST_WORD, description=SEVERAL)]
OptionalWord = Annotated[str, Query(max_length=LONGEST_WORD, description=f"{SEVERAL} May be empty.")]
Sort = Annotated[
    str, Query(description=f"One of {', '.join(SORTS)}; all but corpus sort at most {SORTED:,} lines.")
]
By = Annotated[
    str,
    Query(
        max_length=200,
        description="An attribute of the documents, such as genre or year; year:10 counts by decades. By default the "
        "first that the page of the word or pair lists as `by`.",
    ),
]
PageNumber = Annotated[int, Query(ge=1, le=10_000_000, description="From 1 on.")]
Size = Annotated[int, Query(ge=1, le=200, description="Lines per page.")]
State = Annotated[
    dict[str, Any],
    Body(
        description="What is looked for: `pairs` ([[w1, w2], …]), `answers` ([[w1, w2, true or false], …]), and "
        "optionally `w1`, `w2` (words that pairs must have), `pos1` and `pos2` (parts of speech).",
    ),
]


def clean(word: str) -> str:
    """A word without outer blanks and with single inner ones."""
    word = " ".join(word.split())
    if not word:
        raise UsageError("a word is missing; type one")
    if len(word) > LONGEST_WORD:
        raise UsageError(
            f"the word has {len(word):,} characters, and {LONGEST_WORD} are allowed; ask for a shorter one"
        )
    return word


def words_of(w1: str, w2: str) -> tuple[str, ...]:
    """One word or two."""
    return (clean(w1), clean(w2)) if w2.strip() else (clean(w1),)


class Context:
    """What every page needs: the library, the workers, and the relation that is being taught."""

    def __init__(self, request: Request) -> None:
        self.library: Library = request.app.state.library
        self.pool: Pool = request.app.state.pool
        self.session: Session = request.app.state.session

    def lane(self, *words: str) -> str:
        """The workers for a page about these words."""
        return SLOW if self.library.is_slow(*words) else PAGES


Here = Annotated[Context, Depends(Context)]


def html(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page."""
    return HTMLResponse(render(template, **values), status)


# Home --------------------------------------------------------------------------------------------------------------


@router.get("/index.json", summary="What is loaded")
async def home_json(here: Here) -> pages.HomePage:
    """The store, the model, and pairs to begin with."""
    return await here.pool.run(pages.home, keep=True)


@router.get("/", include_in_schema=False)
async def home(here: Here) -> HTMLResponse:
    """The home page."""
    return html("home.html.j2", home=await home_json(here))


@router.get("/complete.json", summary="Complete a word")
async def complete(
    here: Here, q: Annotated[str, Query(max_length=LONGEST_WORD, description="The first letters.")] = ""
) -> pages.Completions:
    """The most frequent words of the corpus that begin with `q`."""
    return await here.pool.run(pages.complete, q, keep=True)


# Words -------------------------------------------------------------------------------------------------------------


@router.get("/word/{w:path}.json", summary="A word")
async def word_json(w: WordPath, here: Here, response: Response) -> pages.WordPage:
    """How often, in which forms, similar words, and its collocates by position. 404 for an unknown word."""
    found = await here.pool.run(pages.word, clean(w), keep=True)
    response.status_code = 404 if found.sketch.unknown else 200
    return found


@router.get("/word.json", summary="A word, any word")
async def word_query_json(w: WordQuery, here: Here, response: Response) -> pages.WordPage:
    """The same for a word that cannot be part of a path, such as `and/or`."""
    return await word_json(w, here, response)


@router.get("/word/{w:path}", include_in_schema=False)
async def word_page(w: WordPath, here: Here) -> Response:
    """A word's page."""
    status = Response()
    found = await word_json(w, here, status)
    reach = Windows.parse(found.sketch.windows).between + 1
    return html("word.html.j2", status.status_code, p=found, s=found.sketch, reach=reach)


@router.get("/word", include_in_schema=False)
async def word_query_page(w: WordQuery, here: Here) -> Response:
    """A word's page; its address has the word in the path if possible."""
    url = word_url(clean(w))
    return await word_page(w, here) if url.startswith("/word?") else RedirectResponse(url, 303)


# Pairs -------------------------------------------------------------------------------------------------------------


@router.get("/pair/{w1}/{w2}.json", summary="A pair")
async def pair_json(w1: WordPath, w2: WordPath, here: Here, response: Response) -> pages.PairPage:
    """How often, in which order, how far apart, the keywords around; and the model's decisions.

    404 for an unknown word.
    """
    words = clean(w1), clean(w2)
    found = await here.pool.run(pages.pair, *words, lane=here.lane(*words), keep=True)
    response.status_code = 404 if found.sketch.unknown else 200
    return found


@router.get("/pair.json", summary="A pair, any words")
async def pair_query_json(w1: WordQuery, w2: WordQuery, here: Here, response: Response) -> pages.PairPage:
    """The same for words that cannot be part of a path, such as `and/or`."""
    return await pair_json(w1, w2, here, response)


@router.get("/pair/{w1}/{w2}", include_in_schema=False)
async def pair_page(w1: WordPath, w2: WordPath, here: Here) -> HTMLResponse:
    """A pair's page."""
    status = Response()
    found = await pair_json(w1, w2, here, status)
    sketch = found.sketch
    return html(
        "pair.html.j2", status.status_code, p=found, s=sketch, e=found.explanation,
        longest=max((*sketch.distances_plus, *sketch.distances_minus, 1)),
    )  # fmt: skip


@router.get("/pair", include_in_schema=False)
async def look_up(here: Here, w1: OptionalWord = "", w2: OptionalWord = "") -> Response:
    """The target of the search box: two words lead to the page of the pair, one to the page of the word."""
    words = [clean(word) for word in (w1, w2) if word.strip()]
    if not words:
        return RedirectResponse("/", 303)
    url = word_url(words[0]) if len(words) == 1 else pair_url(*words)
    if url.startswith("/pair?"):
        return await pair_page(words[0], words[1], here)
    return RedirectResponse(url, 303)


@router.get("/lines.json", summary="A feature's lines")
async def lines_json(
    here: Here, w1: WordQuery, w2: WordQuery,
    feature: Annotated[str, Query(max_length=500, description="A feature's name, such as v12:+betw:such as.")],
    most: Annotated[int, Query(ge=1, le=1000, description="Maximum number of lines.")] = 100,
) -> pages.LinesPage:  # fmt: skip
    """The contexts that were counted for a feature."""
    words = clean(w1), clean(w2)
    return await here.pool.run(pages.lines, *words, feature, most, lane=here.lane(*words), keep=True)


@router.get("/lines", include_in_schema=False)
async def lines_page(
    here: Here, w1: WordQuery, w2: WordQuery, feature: Annotated[str, Query(max_length=500)],
    most: Annotated[int, Query(ge=1, le=1000)] = 100, part: bool = False,
) -> HTMLResponse:  # fmt: skip
    """A feature's lines as a page, or as the part that opens below a feature."""
    found = await lines_json(here, w1, w2, feature, most)
    return html("lines_part.html.j2" if part else "lines.html.j2", l=found)


# Concordances and distributions ------------------------------------------------------------------------------------


@router.get("/concordance.json", summary="A concordance")
async def concordance_json(
    here: Here, response: Response, w1: WordQuery, w2: OptionalWord = "", sort: Sort = "corpus",
    page: PageNumber = 1, size: Size = 50,
) -> pages.ConcordancePage:  # fmt: skip
    """Every occurrence of a word, or every co-occurrence of two, a page at a time. 404 for an unknown word."""
    words = words_of(w1, w2)
    found = await here.pool.run(pages.concordance, words, page, size, sort, lane=here.lane(*words), keep=True)
    response.status_code = 404 if found.unknown else 200
    return found


@router.get("/concordance", include_in_schema=False)
async def concordance_page(
    here: Here, w1: OptionalWord = "", w2: OptionalWord = "", sort: Sort = "corpus", page: PageNumber = 1,
    size: Size = 50, whole: bool = False,
) -> HTMLResponse:  # fmt: skip
    """A concordance as a page; without a word, a form that asks for one."""
    if not (w1.strip() or w2.strip()):
        return html("concordance.html.j2", c=None, query={"w1": "", "w2": ""})
    if not w1.strip():
        w1, w2 = w2, ""
    status = Response()
    found = await concordance_json(here, status, w1, w2, sort, page, size)
    words = found.words
    query = {"w1": words[0], "w2": words[1] if len(words) > 1 else None, "whole": 1 if whole else None}
    return html(
        "concordance.html.j2", status.status_code, c=found, query=query, whole=whole,
        sorts=SORTS if len(words) > 1 else SORTS[:3], most=here.pool.limits.download, by=here.library.by,
    )  # fmt: skip


@router.get("/concordance/lines.csv", summary="A concordance as CSV", response_class=Response)
async def concordance_csv(
    here: Here, w1: WordQuery, w2: OptionalWord = "", sort: Sort = "corpus"
) -> Response:
    """The lines as a CSV file with a header; at most 5,000, in the order asked for."""
    words = words_of(w1, w2)
    text = await here.pool.run(pages.concordance_csv, words, sort, here.pool.limits.download, lane=SLOW)
    return attached(b"\xef\xbb\xbf" + text.encode(), f"concordance-{'-'.join(words)}.csv")


@router.get("/distribution.json", summary="By attribute")
async def distribution_json(
    here: Here, response: Response, w1: WordQuery, w2: OptionalWord = "", by: By = ""
) -> pages.DistributionPage:
    """How often a word or a pair occurs in the documents of each value of an attribute, also per million tokens."""
    words = words_of(w1, w2)
    found = await here.pool.run(pages.distribution, words, by, lane=here.lane(*words), keep=True)
    response.status_code = 404 if found.unknown else 200
    return found


@router.get("/distribution/rows.csv", summary="By attribute, as CSV", response_class=Response)
async def distribution_csv(here: Here, w1: WordQuery, w2: OptionalWord = "", by: By = "") -> Response:
    """A row for each value: count, tokens of its documents, count per million tokens and its 95 % interval."""
    found = await distribution_json(here, Response(), w1, w2, by)
    name = f"{'-'.join(found.words)}-by-{found.attribute}.csv"
    return attached(b"\xef\xbb\xbf" + found.csv().encode(), name)


@router.get("/distribution", include_in_schema=False)
async def distribution_page(here: Here, w1: WordQuery, w2: OptionalWord = "", by: By = "") -> HTMLResponse:
    """The same as a page with a chart."""
    status = Response()
    found = await distribution_json(here, status, w1, w2, by)
    words = found.words
    query = {"w1": words[0], "w2": words[1] if len(words) > 1 else None, "by": found.by}
    highest = max((row.per_million for row in found.rows), default=0)
    return html(
        "distribution.html.j2", status.status_code, d=found, query=query, chart=found.columns(), most=LISTED,
        highest=highest,
    )  # fmt: skip


# The model ---------------------------------------------------------------------------------------------------------


@router.get("/model.json", summary="The model")
async def model_json(
    here: Here, top: Annotated[int, Query(ge=1, le=200, description="Features per label.")] = 8
) -> pages.ModelPage:
    """Labels, the scores of the cross-validation, the strongest features. 404 without a model."""
    return await here.pool.run(pages.model, top, keep=True)


@router.get("/model", include_in_schema=False)
async def model_page(here: Here) -> HTMLResponse:
    """The model's page; without a model, how to load one."""
    return html("model.html.j2", m=None if here.library.model is None else await model_json(here, 8))


# Finding -----------------------------------------------------------------------------------------------------------


@router.get("/find", include_in_schema=False)
async def find_page(here: Here) -> HTMLResponse:
    """The workbench."""
    return html("find.html.j2", session=here.session, limit=finding.SHOWN)


@router.get("/find/task.json", summary="The relation that is taught")
async def task_json(here: Here) -> dict[str, Any]:
    """The examples and answers of `bagpack teach`; empty with `bagpack serve`, where the page keeps them itself."""
    return here.session.to_dict()


@router.post("/find.json", summary="Find pairs")
async def find_json(here: Here, state: State) -> finding.FindPage:
    """The pairs most like the examples that are neither examples nor answered, best first, each with a sentence.

    With `bagpack teach`, examples and answers are those of its files.
    """
    task = here.session.task(state)
    found = await here.pool.run(finding.search, task, here.session.progress, lane=FIND)
    here.session.offer(found.rows)
    return found


@router.post("/find/check.json", summary="Check words")
async def check_json(
    here: Here, words: Annotated[list[str], Body(description="Words of examples.", max_length=10_000)]
) -> pages.Near:
    """The words that the corpus does not contain, each with similar spellings."""
    wanted = tuple(dict.fromkeys(word for word in words if word.strip() and len(word) <= LONGEST_WORD))
    return await here.pool.run(pages.unknown_words, wanted, keep=True)


@router.post("/find/answer.json", summary="Answer")
async def answer_json(
    here: Here, w1: Annotated[str, Body(max_length=LONGEST_WORD)] = "",
    w2: Annotated[str, Body(max_length=LONGEST_WORD)] = "",
    answer: Annotated[str, Body(max_length=4, description="yes, no or undo.")] = "",
) -> dict[str, Any]:  # fmt: skip
    """Save an answer to the file of `bagpack teach`: of a pair that was offered. Returns examples and answers."""
    here.session.answer((w1, w2), answer)
    return here.session.to_dict()


@router.get("/find/progress.json", summary="Progress of a search")
async def progress_json(here: Here) -> finding.Progress:
    """What the search that is under way is doing."""
    return finding.read_progress(here.session.progress)


@router.post("/find/row.json", summary="A pair that was found")
async def row_json(here: Here, state: State, w1: WordQuery, w2: WordQuery) -> finding.RowPage:
    """More sentences of a pair, and why it was found."""
    task = here.session.task(state)
    return await here.pool.run(finding.row, task, w1, w2, here.session.progress, lane=FIND)


@router.post("/find/row", include_in_schema=False)
async def row_part(here: Here, state: State, w1: WordQuery, w2: WordQuery) -> HTMLResponse:
    """The part of the page that opens below a row."""
    found = await row_json(here, state, w1, w2)
    return html("row.html.j2", r=found, e=found.explanation)


@router.post("/find/file", summary="What was found, as a file", response_class=Response)
async def find_file(
    here: Here, state: Annotated[str, Form(description="The same as for /find.json, as text.")],
    kind: Annotated[str, Form(description="tsv, xlsx or ttl (SKOS Turtle).")] = "tsv",
) -> Response:  # fmt: skip
    """Examples, answers and the first 500 pairs found as TSV or XLSX; confirmed pairs as SKOS Turtle."""
    task = here.session.task(state)
    rows = await here.pool.run(finding.table, task, here.session.progress, lane=FIND)
    return attached(table_file(rows, kind, task.label), f"pairs.{kind}")


def attached(data: bytes, name: str) -> Response:
    """A file to download."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-._") else "_" for c in name)[-80:]
    kinds = {"csv": "text/csv", "tsv": "text/tab-separated-values", "ttl": "text/turtle"}
    kind = kinds.get(plain.rpartition(".")[2], "application/octet-stream")
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(data, media_type=f"{kind}; charset=utf-8", headers=headers)


# The API, and the few files that pages use --------------------------------------------------------------------------


@router.get("/api", include_in_schema=False)
async def api_page(request: Request) -> HTMLResponse:
    """The content of /openapi.json for people."""
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
