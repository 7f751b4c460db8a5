"""An explanation in HTML: a self-contained fragment, for files, notebooks and pages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from bagpack.report.wording import describe_block

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("bagpack.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["block_words"] = describe_block
    environment.filters["signed"] = lambda value: f"{value:+.3f}".replace("-", "−")
    return environment


def render_explanation(explanation: Mapping[str, Any]) -> str:
    """A fragment with its own style, from `Explanation.to_dict()`; everything in it is escaped."""
    largest = max(
        (abs(f["value"]) for d in explanation["decisions"] for f in d["features"]),
        default=1.0,
    )
    return _environment().get_template("explanation.html.j2").render(e=explanation, largest=largest or 1.0)


def render_explanation_page(explanation: Mapping[str, Any]) -> str:
    """The fragment as a page of its own."""
    title = f"{explanation['w1']} – {explanation['w2']}: {explanation['answer']}"
    return (
        _environment()
        .get_template("explanation_page.html.j2")
        .render(title=title, fragment=render_explanation(explanation))
    )
