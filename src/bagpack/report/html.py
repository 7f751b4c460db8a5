"""Pages: reports, explanations and found pairs, each one HTML file that needs nothing but itself.

No script is run, nothing is loaded, and everything from the corpus is escaped. One style sheet serves all pages, and
the explorer's too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from bagpack import numbers, wording
from bagpack._version import __version__
from bagpack.files import check_file, write_text
from bagpack.report.screens import score_bar

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from bagpack.evaluate.result import Evaluation
    from bagpack.find.ranking import Found

GENERATOR = b'<meta name="generator" content="BagPack'


def render_report(found: Evaluation) -> str:
    from bagpack.report.sections import KIND_WORDS, sections_of, tiles_of

    return _render(
        "report.html.j2",
        title=KIND_WORDS[found.kind], tiles=tiles_of(found), sections=sections_of(found),
        data_path=found.data.get("path"), corpus_path=found.corpus.get("path"), tokens=found.corpus.get("tokens"),
    )  # fmt: skip


def render_explanation(explanation: Mapping[str, Any]) -> str:
    """A page, from `Explanation.to_dict()`."""
    title = f"{explanation['w1']} – {explanation['w2']}: {explanation['answer'] or 'no prediction'}"
    return _render("explanation.html.j2", e=explanation, largest=largest_share(explanation), title=title)


def largest_share(explanation: Mapping[str, Any]) -> float:
    """The most that a reason adds to any decision: the length of a whole bar. It is never 0."""
    reasons = [reason for d in explanation["decisions"] for reason in (*d["reasons"], *d["contexts"])]
    return max((abs(reason["value"]) for reason in reasons), default=1.0) or 1.0


def render_found(found: Found, store: str | Path) -> str:
    """All pairs that were found, and their sentences."""
    best = found.rows[0].score if found.rows else 1.0
    rows = [(row, score_bar(row.score, best)) for row in found.rows]
    return _render("found.html.j2", title=found.title, found=found, rows=rows, store=str(store))


def check_page(path: Path) -> None:
    """Whether a page can be written here, which replaces one of BagPack's only; checked before the counting."""

    def is_ours(head: bytes) -> bool:
        return head.lower().startswith(b"<!doctype html>") and GENERATOR in head

    check_file(path, "page", is_ours, "report.html")


def write_page(path: Path, text: str) -> None:
    """Write a page; an older one of that name is replaced when the new one is whole, no other file is."""
    check_page(path)
    write_text(path, text)


@cache
def make_environment(*packages: str) -> Environment:
    """The templates of some packages, with the filters that all of them share."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]), autoescape=True,
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined,
    )  # fmt: skip
    made.filters |= {
        "basename": lambda path: PurePath(path).name or path, "path_end": path_end, "no_break": no_break,
        "probability": lambda value: no_break(numbers.show_probability(value)),
        "signed": lambda value: f"{value:+.3f}".replace("-", "−"), "block_words": wording.describe_block,
        "count": numbers.show_count, "value": numbers.show_value, "many": numbers.many, "times": wording.say_times,
    }  # fmt: skip
    made.globals["say_counts"] = wording.say_counts
    return made


def _render(template: str, **values: Any) -> str:
    own = make_environment("bagpack.report").get_template(template)
    return own.render(css=stylesheet(), version=__version__, **values)


@cache
def stylesheet() -> Markup:
    """The style of all pages, which contain it."""
    from markupsafe import Markup

    return Markup(resources.files("bagpack.report").joinpath("templates/style.css").read_text("utf-8"))


def no_break(text: str) -> str:
    return text.replace(" %", "\u00a0%")


def path_end(path: str) -> str:
    """The end of a document's path, which differs between lines: its folder and its name."""
    parts = path.rstrip("/").split("/")
    return path if len(parts) <= 2 else f"…/{'/'.join(parts[-2:])}"
