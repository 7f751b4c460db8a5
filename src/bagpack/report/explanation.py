"""An explanation in HTML: a self-contained fragment, for files, notebooks and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bagpack._version import __version__
from bagpack.report.rendering import environment


def largest_share(explanation: Mapping[str, Any]) -> float:
    """The most that a reason adds to any decision: the length of a whole bar. It is never 0."""
    decisions = [*explanation["decisions"], *filter(None, [explanation["contrast"]])]
    return max((abs(reason["value"]) for d in decisions for reason in d["reasons"]), default=1.0) or 1.0


def render_explanation(explanation: Mapping[str, Any]) -> str:
    """A fragment with its own style, from `Explanation.to_dict()`; everything in it is escaped."""
    template = environment().get_template("explanation.html.j2")
    return template.render(e=explanation, largest=largest_share(explanation))


def render_explanation_page(explanation: Mapping[str, Any]) -> str:
    """The fragment as a page of its own."""
    title = f"{explanation['w1']} – {explanation['w2']}: {explanation['answer'] or 'no prediction'}"
    template = environment().get_template("explanation_page.html.j2")
    return template.render(title=title, fragment=render_explanation(explanation), version=__version__)
