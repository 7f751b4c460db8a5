"""The API page, and the few files that pages use."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from bagpack.app.dependencies import html
from bagpack.app.rendering import ASSETS, asset

router = APIRouter()


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
