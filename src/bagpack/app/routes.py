"""The pages and their JSON twins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Body, Depends, Form, Path, Query, Request
from fastapi.encoders import jsonable_encoder
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from bagpack.app import finding, pages
from bagpack.app.library import Library
from bagpack.app.pool import FIND, PAGES, SLOW, Pool
from bagpack.app.rendering import ASSETS, asset, pair_url, render, table_file, word_url
from bagpack.app.session import Session
from bagpack.contexts.windows import Windows
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.explain.browse import SORTED, SORTS

router = APIRouter()
MISSING = UsageError("a word is missing; type one")
T = TypeVar("T")

LONGEST_WORD = finding.LONGEST_WORD
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
Whole = Annotated[bool, Query(description="On the page, whole lines instead of cut ones.")]
Feature = Annotated[str, Query(max_length=500, description="A feature's name, such as v12:+betw:such as.")]
State = Annotated[
    dict[str, Any],
    Body(
        description="What is looked for: `pairs` ([[w1, w2], …]), `answers` ([[w1, w2, true or false], …]), and "
        "optionally `w1`, `w2` (words that pairs must have), `pos1` and `pos2` (parts of speech).",
    ),
]


class Context:
    """What every page needs: the library, the workers, and the relation that is being taught."""

    def __init__(self, request: Request) -> None:
        self.library: Library = request.app.state.library
        self.pool: Pool = request.app.state.pool
        self.session: Session = request.app.state.session

    async def about(self, words: tuple[str, ...], function: Callable[..., T], *arguments: Any) -> T:
        """A page about one or two words; of two very frequent ones in the slow lane."""
        lane = SLOW if self.library.is_slow(*words) else PAGES
        return await self.pool.run(function, *arguments, lane=lane, keep=True)

    async def find(self, function: Callable[..., T], task: finding.Task, *arguments: Any) -> T:
        """Something about a search."""
        return await self.pool.run(function, self.session.progress, task, *arguments, lane=FIND)


Here = Annotated[Context, Depends(Context)]
# The content of a page, whether it is about something unknown, and what else its template needs. An error instead of
# the content is raised for JSON; the page says what to do.
Answer = tuple[Any, bool, dict[str, Any]]


def page(
    path: str, template: str, content: Any, summary: str
) -> Callable[[Callable[..., Awaitable[Answer]]], Any]:
    """Serve a function's answer as a page at `path`, and as JSON at `path`.json."""

    def register(function: Callable[..., Awaitable[Answer]]) -> Any:
        @wraps(function)
        async def as_json(*arguments: Any, **named: Any) -> Response:
            found, unknown, _ = await function(*arguments, **named)
            if isinstance(found, BagpackError):
                raise found
            return JSONResponse(jsonable_encoder(found), 404 if unknown else 200)

        @wraps(function)
        async def as_page(*arguments: Any, **named: Any) -> Response:
            found, unknown, more = await function(*arguments, **named)
            found = None if isinstance(found, BagpackError) else found
            return html(template, 404 if unknown else 200, p=found, **more)

        router.get(f"{path}.json" if path != "/" else "/index.json", response_model=content, summary=summary)(
            as_json
        )
        router.get(path, include_in_schema=False, response_model=None)(as_page)
        return as_page

    return register


def html(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(render(template, **values), status)


def clean(word: str) -> str:
    """A word without outer blanks and with single inner ones."""
    word = " ".join(word.split())
    if not word:
        raise MISSING
    if len(word) > LONGEST_WORD:
        raise UsageError(
            f"a word has at most {LONGEST_WORD} characters, and this one has {len(word):,}; shorten it"
        )
    return word


def words_of(w1: str, w2: str) -> tuple[str, ...]:
    """One word or two."""
    return (clean(w1), clean(w2)) if w2.strip() else (clean(w1),)


# Words and pairs ---------------------------------------------------------------------------------------------------


@page("/", "home.html.j2", pages.HomePage, "What is loaded")
async def home(here: Here) -> Answer:
    """The store, the model, and pairs to begin with."""
    return await here.pool.run(pages.home, keep=True), False, {}


@router.get("/complete.json", summary="Complete a word")
async def complete(
    here: Here, q: Annotated[str, Query(max_length=LONGEST_WORD, description="The first letters.")] = ""
) -> pages.Completions:
    """The most frequent words of the corpus that begin with `q`."""
    return await here.pool.run(pages.complete, q, keep=True)


async def _word(w: str, here: Context) -> Answer:
    found = await here.about((w,), pages.word, clean(w))
    reach = Windows.parse(found.sketch.windows).between + 1
    return found, bool(found.sketch.unknown), {"s": found.sketch, "reach": reach}


@page("/word/{w:path}", "word.html.j2", pages.WordPage, "A word")
async def word(w: WordPath, here: Here) -> Answer:
    """How often, in which forms, similar words, and its collocates by position. 404 for an unknown word."""
    return await _word(w, here)


@page("/word", "word.html.j2", pages.WordPage, "A word, any word")
async def word_query(w: WordQuery, here: Here) -> Answer:
    """The same for a word that cannot be part of a path, such as `and/or`."""
    return await _word(w, here)


async def _pair(w1: str, w2: str, here: Context) -> Answer:
    words = clean(w1), clean(w2)
    found = await here.about(words, pages.pair, *words)
    s = found.sketch
    longest = max((*s.distances_plus, *s.distances_minus, 1))
    return found, bool(s.unknown), {"s": s, "e": found.explanation, "longest": longest}


@page("/pair/{w1}/{w2}", "pair.html.j2", pages.PairPage, "A pair")
async def pair(w1: WordPath, w2: WordPath, here: Here) -> Answer:
    """How often, in which order, how far apart, the keywords around; and the model's decisions.

    404 for an unknown word.
    """
    return await _pair(w1, w2, here)


@page("/pair", "pair.html.j2", pages.PairPage, "A pair, any words")
async def pair_query(w1: WordQuery, w2: WordQuery, here: Here) -> Answer:
    """The same for words that cannot be part of a path, such as `and/or`."""
    return await _pair(w1, w2, here)


@router.get("/look", include_in_schema=False)
async def look_up(w1: OptionalWord = "", w2: OptionalWord = "") -> Response:
    """The target of the search box: two words lead to the page of the pair, one to the page of the word."""
    words = [clean(word) for word in (w1, w2) if word.strip()]
    url = "/" if not words else word_url(words[0]) if len(words) == 1 else pair_url(words[0], words[1])
    return RedirectResponse(url, 303)


async def _lines(here: Context, w1: str, w2: str, feature: str, most: int) -> pages.LinesPage:
    words = clean(w1), clean(w2)
    return await here.about(words, pages.lines, *words, feature, most)


@page("/lines", "lines.html.j2", pages.LinesPage, "A feature's lines")
async def lines(
    here: Here, w1: WordQuery, w2: WordQuery, feature: Feature,
    most: Annotated[int, Query(ge=1, le=1000, description="Maximum number of lines.")] = 100,
) -> Answer:  # fmt: skip
    """The contexts that were counted for a feature."""
    return await _lines(here, w1, w2, feature, most), False, {}


@router.get("/lines/part", include_in_schema=False)
async def lines_part(here: Here, w1: WordQuery, w2: WordQuery, feature: Feature) -> Response:
    """The part of a page that opens below a feature."""
    return html("lines_part.html.j2", p=await _lines(here, w1, w2, feature, 100))


# Concordances and distributions ------------------------------------------------------------------------------------


@page("/concordance", "concordance.html.j2", pages.ConcordancePage, "A concordance")
async def concordance(
    here: Here, w1: OptionalWord = "", w2: OptionalWord = "", sort: Sort = "corpus", page: PageNumber = 1,
    size: Size = 50, whole: Whole = False,
) -> Answer:  # fmt: skip
    """Every occurrence of a word, or every co-occurrence of two, a page at a time. 404 for an unknown word."""
    if not (w1.strip() or w2.strip()):
        return MISSING, False, {"query": {"w1": "", "w2": ""}}  # the page has a form that asks for a word
    words = words_of(w1, w2) if w1.strip() else (clean(w2),)
    found = await here.about(words, pages.concordance, words, page, size, sort)
    query = {"w1": words[0], "w2": words[1] if len(words) > 1 else None, "whole": 1 if whole else None}
    return found, bool(found.unknown), {
        "query": query, "whole": whole, "sorts": SORTS if len(words) > 1 else SORTS[:3],
        "most": here.pool.limits.download, "by": here.library.by,
    }  # fmt: skip


@router.get("/concordance/lines.csv", summary="A concordance as CSV", response_class=Response)
async def concordance_csv(
    here: Here, w1: WordQuery, w2: OptionalWord = "", sort: Sort = "corpus"
) -> Response:
    """The lines as a CSV file with a header; at most 5,000, in the order asked for."""
    words = words_of(w1, w2)
    text = await here.pool.run(pages.concordance_csv, words, sort, here.pool.limits.download, lane=SLOW)
    return attached(b"\xef\xbb\xbf" + text.encode(), f"concordance-{'-'.join(words)}.csv")


@page("/distribution", "distribution.html.j2", pages.DistributionPage, "By attribute")
async def distribution(here: Here, w1: WordQuery, w2: OptionalWord = "", by: By = "") -> Answer:
    """How often a word or a pair occurs in the documents of each value of an attribute, also per million tokens."""
    words = words_of(w1, w2)
    found = await here.about(words, pages.distribution, words, by)
    highest = max((row.per_million for row in found.rows), default=0)
    query = {"w1": words[0], "w2": words[1] if len(words) > 1 else None, "by": found.by}
    return found, bool(found.unknown), {"query": query, "highest": highest}


@router.get("/distribution/rows.csv", summary="By attribute, as CSV", response_class=Response)
async def distribution_csv(here: Here, w1: WordQuery, w2: OptionalWord = "", by: By = "") -> Response:
    """A row for each value: count, tokens of its documents, count per million tokens and its 95 % interval."""
    words = words_of(w1, w2)
    attribute, text = await here.about(words, pages.distribution_csv, words, by)
    return attached(b"\xef\xbb\xbf" + text.encode(), f"{'-'.join(words)}-by-{attribute}.csv")


@page("/model", "model.html.j2", pages.ModelPage, "The model")
async def model(
    here: Here, top: Annotated[int, Query(ge=1, le=200, description="Features per label.")] = 8
) -> Answer:
    """Labels, the scores of the cross-validation, the strongest features. 404 without a model."""
    if here.library.model is None:
        return StoreError("no model is loaded; start the explorer with --model"), False, {}
    return await here.pool.run(pages.model, top, keep=True), False, {}


# Finding -----------------------------------------------------------------------------------------------------------


@router.get("/find", include_in_schema=False)
async def find_page(here: Here) -> Response:
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
    found = await here.find(finding.search, here.session.task(state))
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
    return await here.find(finding.row, here.session.task(state), w1, w2)


@router.post("/find/row", include_in_schema=False)
async def row_part(here: Here, state: State, w1: WordQuery, w2: WordQuery) -> Response:
    found = await row_json(here, state, w1, w2)
    return html("row.html.j2", r=found, e=found.explanation)


@router.post("/find/file", summary="What was found, as a file", response_class=Response)
async def find_file(
    here: Here, state: Annotated[str, Form(description="The same as for /find.json, as text.")],
    kind: Annotated[str, Form(description="tsv, xlsx or ttl (SKOS Turtle).")] = "tsv",
) -> Response:  # fmt: skip
    """Examples, answers and the first 500 pairs found as TSV or XLSX; confirmed pairs as SKOS Turtle."""
    task = here.session.task(state)
    rows = await here.find(finding.table, task)
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
async def api_page(request: Request) -> Response:
    return html("api.html.j2", api=request.app.openapi())


@router.get("/static/{name}", include_in_schema=False)
async def static(name: str) -> Response:
    if name not in ASSETS:
        raise HTTPException(404, "there is no such file")
    content, kind = asset(name)
    return Response(content, media_type=kind, headers={"Cache-Control": "max-age=3600"})


@router.get("/favicon.ico", include_in_schema=False)
async def icon() -> Response:
    return RedirectResponse("/static/icon.svg", 301)
