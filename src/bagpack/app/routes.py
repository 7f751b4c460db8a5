"""The pages and their JSON twins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Body, Depends, Form, Query, Request
from fastapi.encoders import jsonable_encoder
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from pydantic import AfterValidator, Field, Json

from bagpack.app import finding, pages
from bagpack.app.finding import LONGEST_WORD, Session, Task
from bagpack.app.library import Library
from bagpack.app.pool import FIND, PAGES, SLOW, Pool, Progress
from bagpack.app.rendering import pair_url, render, word_url
from bagpack.corpus.words import KnownWord
from bagpack.errors import UsageError
from bagpack.explain.browse import SORTED, SORTS

router = APIRouter()
T = TypeVar("T")
MISSING = "a word is missing; type one"


def clean(word: str) -> str:
    """A word without outer blanks and with single inner ones."""
    return " ".join(word.split())


def required(word: str) -> str:
    if not word:
        raise UsageError(MISSING)
    return word


SEVERAL = "A word, as a lemma or a form; several with blanks between."
OptionalWord = Annotated[str, Field(max_length=LONGEST_WORD, description=SEVERAL), AfterValidator(clean)]
Word = Annotated[OptionalWord, AfterValidator(required)]
Sort = Annotated[
    str, Query(description=f"One of {', '.join(SORTS)}; all but corpus sort at most {SORTED:,} lines.")
]
BY = "An attribute of the documents, such as genre or year; year:10 counts by decades. By default the first in `by`."
By = Annotated[str, Query(max_length=200, description=BY)]
PageNumber = Annotated[int, Query(ge=1, le=10_000_000, description="From 1 on.")]
Size = Annotated[int, Query(ge=1, le=200, description="Lines per page.")]
Whole = Annotated[bool, Query(description="On the page, whole lines instead of cut ones.")]
Features = Annotated[bool, Query(description="Also each decision as a sum over groups of features.")]
Feature = Annotated[str, Query(max_length=500, description="A feature's name, such as v12:+betw:such as.")]


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

    async def find(self, function: Callable[..., T], task: Task, *arguments: Any) -> T:
        """Something about a search."""
        return await self.pool.run(function, self.session.task(task), *arguments, lane=FIND)


Here = Annotated[Context, Depends(Context)]


def page(
    template: str, *paths: str, summary: str, method: str = "GET"
) -> Callable[[Callable[..., Awaitable[T]]], Any]:
    """Serve what a function returns as a page at each path, and as JSON at `path`.json; 404 if a word is unknown."""

    def status(found: Any) -> int:
        return 404 if getattr(getattr(found, "sketch", found), "unknown", None) else 200

    def register(function: Callable[..., Awaitable[T]]) -> Any:
        @wraps(function)
        async def as_json(**given: Any) -> Response:
            found = await function(**given)
            return JSONResponse(jsonable_encoder(found), status(found))

        @wraps(function)
        async def as_page(**given: Any) -> Response:
            try:
                found = await function(**given)
            except pages.EmptyPageError:
                found = None
            return HTMLResponse(render(template, p=found, given=given), status(found))

        for path in paths:
            twin = "/index.json" if path == "/" else f"{path}.json"
            router.api_route(twin, summary=summary, methods=[method])(as_json)
            router.api_route(path, methods=[method], include_in_schema=False, response_model=None)(as_page)
        return function

    return register


# Words and pairs ---------------------------------------------------------------------------------------------------


@page("home.html.j2", "/", summary="What is loaded")
async def home(here: Here) -> pages.HomePage:
    """The store, the model, and pairs to begin with."""
    return await here.pool.run(pages.home, keep=True)


@router.get("/complete.json", summary="Complete a word")
async def complete(here: Here, q: OptionalWord = "") -> list[KnownWord]:
    """The most frequent words of the corpus that begin with `q`."""
    return await here.pool.run(pages.complete, q, keep=True)


@page("word.html.j2", "/word/{w:path}", "/word", summary="A word")
async def word(w: Word, here: Here) -> pages.WordPage:
    """How often, in which forms, similar words, and its collocates by position. 404 for an unknown word.

    A word that cannot be part of a path, such as `..`, is given as a parameter.
    """
    return await here.about((w,), pages.word, w)


@page("pair.html.j2", "/pair/{w1}/{w2}", "/pair", summary="A pair")
async def pair(w1: Word, w2: Word, here: Here, features: Features = False) -> pages.PairPage:
    """How often, in which order, how far apart, the keywords around; and the model's decisions.

    404 for an unknown word. Words that cannot be part of a path, such as `and/or`, are given as parameters.
    """
    return await here.about((w1, w2), pages.pair, w1, w2, features)


@router.get("/look", include_in_schema=False)
async def look_up(w1: OptionalWord = "", w2: OptionalWord = "") -> Response:
    """The target of the search box: two words lead to the page of the pair, one to the page of the word."""
    words = [word for word in (w1, w2) if word]
    url = "/" if not words else word_url(words[0]) if len(words) == 1 else pair_url(words[0], words[1])
    return RedirectResponse(url, 303)


@page("lines.html.j2", "/lines", summary="A feature's lines")
async def lines(
    here: Here, w1: Word, w2: Word, feature: Feature,
    most: Annotated[int, Query(ge=1, le=1000, description="Maximum number of lines.")] = 100,
) -> pages.LinesPage:  # fmt: skip
    """The contexts that were counted for a feature."""
    return await here.about((w1, w2), pages.lines, w1, w2, feature, most)


# Concordances and distributions ------------------------------------------------------------------------------------


@page("concordance.html.j2", "/concordance", summary="A concordance")
async def concordance(
    here: Here, w1: OptionalWord = "", w2: OptionalWord = "", sort: Sort = "corpus", page: PageNumber = 1,
    size: Size = 50, whole: Whole = False,
) -> pages.ConcordancePage:  # fmt: skip
    """Every occurrence of a word, or every co-occurrence of two, a page at a time. 404 for an unknown word."""
    words = tuple(word for word in (w1, w2) if word)
    if not words:
        raise pages.EmptyPageError(MISSING)  # the page has a form that asks for a word
    return await here.about(words, pages.concordance, words, page, size, sort)


@router.get("/concordance/lines.csv", summary="A concordance as CSV", response_class=Response)
async def concordance_csv(here: Here, w1: Word, w2: OptionalWord = "", sort: Sort = "corpus") -> Response:
    """The lines as a CSV file with a header; at most 5,000, in the order asked for."""
    words = tuple(word for word in (w1, w2) if word)
    text = await here.pool.run(pages.concordance_csv, words, sort, lane=SLOW)
    return attached(b"\xef\xbb\xbf" + text.encode(), f"concordance-{'-'.join(words)}.csv")


@page("distribution.html.j2", "/distribution", summary="By attribute")
async def distribution(here: Here, w1: Word, w2: OptionalWord = "", by: By = "") -> pages.DistributionPage:
    """How often a word or a pair occurs in the documents of each value of an attribute, also per million tokens."""
    words = tuple(word for word in (w1, w2) if word)
    return await here.about(words, pages.distribution, words, by)


@page("model.html.j2", "/model", summary="The model")
async def model(
    here: Here, top: Annotated[int, Query(ge=1, le=200, description="Features per label.")] = 8
) -> pages.ModelPage:
    """Labels, the scores of the cross-validation, the strongest features. 404 without a model."""
    return await here.pool.run(pages.model, top, keep=True)


# Finding -----------------------------------------------------------------------------------------------------------


@router.get("/find", include_in_schema=False)
async def find_page(here: Here) -> Response:
    return HTMLResponse(render("find.html.j2", session=here.session, limit=finding.SHOWN))


@router.get("/find/task.json", summary="The relation that is taught")
async def task_json(here: Here) -> Task:
    """The examples and answers of `bagpack teach`; empty with `bagpack serve`, where the page keeps them itself."""
    return here.session.task(Task())


@router.post("/find.json", summary="Find pairs")
async def find_json(here: Here, task: Task) -> finding.FindPage:
    """The pairs most like the examples that are neither examples nor answered, best first, each with a sentence.

    With `bagpack teach`, examples and answers are those of its files.
    """
    found = await here.find(finding.search, task)
    here.session.offered.update((row.w1, row.w2) for row in found.rows)
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
    here: Here, answer: Annotated[Literal["yes", "no", "undo"], Body()], w1: Annotated[str, Body()] = "",
    w2: Annotated[str, Body()] = "",
) -> Task:  # fmt: skip
    """Save an answer to the file of `bagpack teach`: of a pair that was offered. Returns examples and answers."""
    here.session.answer((w1, w2), answer)
    return here.session.task(Task())


@router.get("/find/progress.json", summary="Progress of a search")
async def progress_json(here: Here) -> Progress:
    """What the search that is under way is doing."""
    return here.pool.progress


@page("row.html.j2", "/find/row", summary="A pair that was found", method="POST")
async def row(here: Here, task: Task, w1: Word, w2: Word) -> finding.RowPage:
    """More sentences of a pair, and why it was found."""
    return await here.find(finding.row, task, w1, w2)


@router.post("/find/file", summary="What was found, as a file", response_class=Response)
async def find_file(
    here: Here, state: Annotated[Json[Task], Form(description="The same as for /find.json, as text.")],
    kind: Annotated[Literal["tsv", "xlsx", "ttl"], Form(description="ttl is SKOS Turtle.")] = "tsv",
) -> Response:  # fmt: skip
    """Examples, answers and the first 500 pairs found as TSV or XLSX; confirmed pairs as SKOS Turtle."""
    return attached(await here.find(finding.file, state, kind), f"pairs.{kind}")


def attached(data: bytes, name: str) -> Response:
    """A file to download."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-._") else "_" for c in name)[-80:]
    kinds = {"csv": "text/csv", "tsv": "text/tab-separated-values", "ttl": "text/turtle"}
    kind = kinds.get(plain.rpartition(".")[2], "application/octet-stream")
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(data, media_type=f"{kind}; charset=utf-8", headers=headers)
