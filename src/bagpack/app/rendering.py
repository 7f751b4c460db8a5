"""Templates and the URLs in them. Everything from the corpus is escaped; pages contain no inline style or script."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from bagpack.errors import UsageError
from bagpack.numbers import metric_label, show_interval, show_score
from bagpack.report.html import make_environment

if TYPE_CHECKING:
    from jinja2 import Environment

    from bagpack.explain.explanation import Explanation

ASSETS = {
    "report.css": ("bagpack.report", "templates/style.css", "text/css; charset=utf-8"),
    "app.css": ("bagpack.app", "static/app.css", "text/css; charset=utf-8"),
    "app.js": ("bagpack.app", "static/app.js", "text/javascript; charset=utf-8"),
    "find.js": ("bagpack.app", "static/find.js", "text/javascript; charset=utf-8"),
    "icon.svg": ("bagpack.app", "static/icon.svg", "image/svg+xml"),
}


@cache
def asset(name: str) -> tuple[bytes, str]:
    """One of the few files that pages use, and its type."""
    package, path, kind = ASSETS[name]
    return files(package).joinpath(path).read_bytes(), kind


def _plain(word: str) -> bool:
    """Whether a word can be part of a path: browsers take . and .. for folders, and .json names the twin."""
    return word not in ("", ".", "..") and not set("/\\") & set(word) and not word.endswith(".json")


def word_url(word: str, ending: str = "") -> str:
    """The page of a word."""
    return (
        f"/word/{quote(word, safe='')}{ending}" if _plain(word) else f"/word{ending}?{urlencode({'w': word})}"
    )


def pair_url(w1: str, w2: str, ending: str = "") -> str:
    """The page of a pair."""
    if _plain(w1) and _plain(w2):
        return f"/pair/{quote(w1, safe='')}/{quote(w2, safe='')}{ending}"
    return f"/pair{ending}?{urlencode({'w1': w1, 'w2': w2})}"


def lines_url(w1: str, w2: str, feature: str, ending: str = "") -> str:
    """The lines of a feature."""
    return f"/lines{ending}?{urlencode({'w1': w1, 'w2': w2, 'feature': feature})}"


def with_query(path: str, **values: Any) -> str:
    """A URL with parameters; those that are None are omitted."""
    kept = {name: value for name, value in values.items() if value is not None}
    return f"{path}?{urlencode(kept)}" if kept else path


def short(value: float) -> str:
    """A number with three significant digits, or all of a larger one."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def largest(explanation: Explanation) -> float:
    """The most that a reason adds to any decision: the length of a whole bar. It is never 0."""
    values = [abs(reason.value) for own in explanation.decisions for reason in (*own.reasons, *own.contexts)]
    return max(values, default=1.0) or 1.0


@cache
def environment() -> Environment:
    """The templates."""
    from bagpack import __version__

    made = make_environment("bagpack.app", "bagpack.report")
    made.filters["short"] = short
    made.globals |= {
        "word_url": word_url, "pair_url": pair_url, "lines_url": lines_url, "with_query": with_query,
        "score": show_score, "interval": show_interval, "metric_name": metric_label,
        "largest": largest, "version": __version__,
    }  # fmt: skip
    return made


def compile_all() -> None:
    """Compile every template, so that no visitor waits for it."""
    for name in environment().list_templates(["j2"]):
        environment().get_template(name)


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return environment().get_template(template).render(**values)


def table_file(rows: list[list[Any]], kind: str, label: str) -> bytes:
    """A table of pairs as the content of a file: TSV, XLSX, or SKOS Turtle of the pairs that were confirmed.

    Without any answer, the pairs that were found are taken as they are.
    """
    import tempfile
    from pathlib import Path

    from bagpack.find.export import write_turtle
    from bagpack.sheets import write_table

    if kind not in ("tsv", "xlsx", "ttl"):
        raise UsageError(f"{kind!r} is not a kind of file; choose tsv, xlsx or ttl")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"pairs.{kind}")
        if kind == "ttl":
            answers = {row[-1] for row in rows[1:]}
            kept = {"example", "yes"} if answers & {"yes", "no"} else {"example", ""}
            write_turtle(path, [{"w1": row[1], "w2": row[2]} for row in rows[1:] if row[-1] in kept], label)
        else:
            write_table(path, rows)
        return path.read_bytes()
