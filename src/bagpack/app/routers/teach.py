"""Teaching a relation: one question at a time, or a list."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from bagpack.app import schemas
from bagpack.app.dependencies import PROBLEMS, Json, html
from bagpack.app.rendering import with_query
from bagpack.app.teaching import LISTED, TeachSession
from bagpack.errors import StoreError
from bagpack.find.examples import UNNAMED

router = APIRouter()

View = Literal["one", "list"]
ViewQuery = Annotated[View, Query(description="One question with its sentences, or a list.")]
WIDTH, HEIGHT = 600, 120  # of the curve


async def get_session(request: Request) -> TeachSession:
    """The relation that is being taught."""
    session: TeachSession | None = request.app.state.teaching
    if session is None:
        raise StoreError("nothing is being taught here; start with bagpack teach STORE EXAMPLES")
    await session.ready()
    return session


SessionDep = Annotated[TeachSession, Depends(get_session)]


@router.get("/teach.json", summary="Teaching", response_model=schemas.TeachPage, responses=PROBLEMS)
async def teach_json(session: SessionDep, view: ViewQuery = "one") -> Json:
    """The next questions, how many answers there are, and how good the model is."""
    data = session.to_dict(LISTED)
    if view == "one" and data["questions"]:
        data["questions"][0]["lines"] = await session.lines(data["questions"][0])
    return data


@router.get("/teach", include_in_schema=False)
async def teach_page(
    session: SessionDep,
    view: ViewQuery = "one",
    known: str = "",
    undone: str = "",
) -> HTMLResponse:
    """The page."""
    data = await teach_json(session, view)
    chart = curve(data["curve"])
    return html(
        "teach.html.j2",
        d=data,
        view=view,
        known=known[:300],
        undone=undone[:300],
        chart=chart,
        unnamed=UNNAMED,
    )


@router.post(
    "/teach", summary="Answer a question", status_code=303, response_class=RedirectResponse,
    responses={**PROBLEMS, 303: {"description": "Leads to the next question."}},
)  # fmt: skip
async def teach_answer(
    session: SessionDep,
    answer: Annotated[str, Form(max_length=10, description="yes, no, label, skip or undo.")],
    w1: Annotated[str, Form(max_length=200)] = "",
    w2: Annotated[str, Form(max_length=200)] = "",
    label: Annotated[str, Form(max_length=100, description="With `label`: another label.")] = "",
    view: Annotated[View, Form()] = "one",
) -> RedirectResponse:
    """Write an answer to the file of examples; leads to the next question."""
    notice: dict[str, str | None] = {}
    if answer == "undo":
        notice["undone"] = " – ".join(session.undo())
    elif known := session.answer((w1, w2), answer, label):
        notice["known"] = f"{w1} – {w2} is labelled {known} already"
    path = with_query("/teach", view=view if view != "one" else None, **notice)
    return RedirectResponse(path, 303)


def curve(points: list[Json]) -> Json | None:
    """Where the lines of the curve go."""
    if len(points) < 2:
        return None
    first, last = points[0]["answers"], max(points[-1]["answers"], points[0]["answers"] + 1)

    def line(name: str) -> str:
        return " ".join(
            f"{WIDTH * (point['answers'] - first) / (last - first):.1f},{HEIGHT * (1 - point[name]):.1f}"
            for point in points
            if point[name] is not None
        )

    return {
        "width": WIDTH,
        "height": HEIGHT,
        "first": first,
        "last": last,
        "precision": line("precision"),
    }
