"""Templates and the URLs in them. Everything from the corpus is escaped; pages contain no inline style or script."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from bagpack._version import __version__
from bagpack.numbers import metric_label, show_interval, show_score
from bagpack.report.html import make_environment

if TYPE_CHECKING:
    from jinja2 import Environment

    from bagpack.explain.explanation import Explanation


def _plain(word: str) -> bool:
    """Whether a word can be part of a path: browsers take . and .. for folders, and .json names the twin."""
    return word not in ("", ".", "..") and not set("/\\") & set(word) and not word.endswith(".json")


def _url(kind: str, ending: str, **words: str) -> str:
    if all(map(_plain, words.values())):
        return f"/{kind}/{'/'.join(quote(word, safe='') for word in words.values())}{ending}"
    return with_query(f"/{kind}{ending}", **words)


def word_url(word: str, ending: str = "") -> str:
    """The page of a word."""
    return _url("word", ending, w=word)


def pair_url(w1: str, w2: str, ending: str = "") -> str:
    """The page of a pair."""
    return _url("pair", ending, w1=w1, w2=w2)


def lines_url(w1: str, w2: str, feature: str, ending: str = "") -> str:
    """The lines of a feature."""
    return with_query(f"/lines{ending}", w1=w1, w2=w2, feature=feature)


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
    made = make_environment("bagpack.app", "bagpack.report")
    made.filters["short"] = short
    made.globals |= {
        "word_url": word_url, "pair_url": pair_url, "lines_url": lines_url, "with_query": with_query,
        "score": show_score, "interval": show_interval, "metric_name": metric_label,
        "largest": largest, "version": __version__,
    }  # fmt: skip
    return made


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return environment().get_template(template).render(**values)
