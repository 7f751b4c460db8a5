"""The report's templates, and how they write numbers. Everything from the corpus is escaped."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import PurePath
from typing import TYPE_CHECKING

from bagpack import numbers, wording

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def make_environment(*packages: str) -> Environment:
    """The templates of some packages, with the filters that all of them share."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]), autoescape=True,
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined,
    )  # fmt: skip
    made.filters |= {
        "basename": show_name, "path_end": path_end, "no_break": no_break, "probability": show_probability,
        "signed": show_signed, "block_words": wording.describe_block, "count": numbers.show_count,
        "value": numbers.show_value, "many": numbers.many, "times": wording.say_times,
    }  # fmt: skip
    made.globals |= {
        "say_counts": wording.say_counts,
        "say_feature": wording.say_feature,
        "share": show_share,
    }
    return made


@cache
def environment() -> Environment:
    """The report's templates."""
    return make_environment("bagpack.report")


def stylesheet() -> Markup:
    """The style of report pages, which contain it."""
    from markupsafe import Markup

    return Markup(
        resources.files("bagpack.report").joinpath("templates/report.css").read_text(encoding="utf-8")
    )


def no_break(text: str) -> str:
    """Percentages whose number and sign are not separated at the end of a line."""
    return text.replace(" %", "\u00a0%")


def show_probability(value: float | None) -> str:
    """As `numbers.show_probability`, unbroken."""
    return no_break(numbers.show_probability(value))


def show_share(part: int | None, whole: int | None) -> str:
    """As `numbers.show_share`, unbroken."""
    return no_break(numbers.show_share(part, whole))


def show_signed(value: float) -> str:
    """+0.123, or −0.123."""
    return f"{value:+.3f}".replace("-", "−")


def show_name(path: str) -> str:
    """The last part of a path."""
    return PurePath(path).name or path


def path_end(path: str) -> str:
    """The end of a document's path, which differs between lines: its folder and its name."""
    parts = path.rstrip("/").split("/")
    return path if len(parts) <= 2 else f"…/{'/'.join(parts[-2:])}"
