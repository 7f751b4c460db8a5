"""What all routes share: who is asked, what a word may be, how a page is made."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import Field

from bagpack.app import answers
from bagpack.app.library import Library, LoadedData
from bagpack.app.limits import Limits, Workers
from bagpack.app.rendering import render
from bagpack.errors import UsageError
from bagpack.explain.browse import SORTED, SORTS
from bagpack.explain.telling import Tick

Json = dict[str, Any]
LONGEST_WORD = Limits.word
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": answers.Problem, "description": "The request is not understood."},
    404: {"description": "The corpus does not know the word, or there is no such thing."},
    503: {"model": answers.Problem, "description": "It took too long, or too many wait."},
}
WordQuery = Annotated[
    str, Query(min_length=1, max_length=LONGEST_WORD, description="A word; several with blanks between.")
]
SecondQuery = Annotated[str, Query(max_length=LONGEST_WORD, description="A second word: where the two meet.")]
Named = Annotated[str, Field(description="A word, as a lemma or a form; several with blanks between.")]
PairQuery = Annotated[
    str, Query(max_length=LONGEST_WORD, description="A word of the pair (a1, a2) or (b1, b2).")
]
FirstQuery = Annotated[
    str, Query(max_length=LONGEST_WORD, description="A word; several with blanks between.")
]
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
    """A word as it is asked for: outer blanks do not count, and inner ones are single."""
    word = " ".join(word.split())
    if not word:
        raise UsageError("a word is missing; type one")
    if len(word) > LONGEST_WORD:
        raise UsageError(
            f"the word has {len(word):,} characters, and {LONGEST_WORD} are allowed; ask for a shorter one"
        )
    return word


def data_entry(loaded: LoadedData) -> Json:
    """What lists say of a data set."""
    return {
        "id": loaded.id, "name": loaded.name, "kind": loaded.kind, "rows": len(loaded.data),
        "uploaded": loaded.uploaded,
    }  # fmt: skip


def model_facts(library: Library) -> Json | None:
    """What the model predicts, from what; None without one."""
    model = library.model
    if model is None:
        return None
    return {
        "name": library.model_name, "predicts": model.kind, "labels": [str(label) for label in model.classes],
        "condition": model.condition, "preset": model.preset, "features": sum(len(w) for w in model.weights),
    }  # fmt: skip


async def pair_content(library: Library, workers: Workers, w1: str, w2: str) -> Json:
    """A pair's sketch and the model's explanation."""
    first, second = clean(w1), clean(w2)

    def work(tick: Tick) -> Json:
        sketch = library.pair(first, second, tick)
        why = library.explanation(first, second, tick)
        plain = sketch.to_dict()
        del plain["explanation"]  # it stands beside the sketch, kept apart from it
        return {"sketch": plain, "explanation": None if why is None else why.to_dict()}

    return await workers.run(work, library.lane(first, second))
