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
    environment.filters["signed"] = show_signed
    return environment


def show_signed(value: float) -> str:
    """+0.123, or −0.123."""
    return f"{value:+.3f}".replace("-", "−")


def largest_share(explanation: Mapping[str, Any]) -> float:
    """The most that a feature adds to any decision: the length of a whole bar. It is never 0."""
    shares = (
        abs(feature["value"]) for decision in explanation["decisions"] for feature in decision["features"]
    )
    return max(shares, default=1.0) or 1.0


def render_explanation(explanation: Mapping[str, Any]) -> str:
    """A fragment with its own style, from `Explanation.to_dict()`; everything in it is escaped."""
    template = _environment().get_template("explanation.html.j2")
    return template.render(e=explanation, largest=largest_share(explanation))


def render_explanation_page(explanation: Mapping[str, Any]) -> str:
    """The fragment as a page of its own."""
    title = f"{explanation['w1']} – {explanation['w2']}: {explanation['answer']}"
    return (
        _environment()
        .get_template("explanation_page.html.j2")
        .render(title=title, fragment=render_explanation(explanation))
    )
