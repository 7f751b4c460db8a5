"""The report's templates, and how they write numbers. Everything from the corpus is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from bagpack.wording import describe_block, say_counts, show_count, show_probability, show_value

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment() -> Environment:
    """The templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("bagpack.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {
        "basename": show_name,
        "path_end": path_end,
        "block_words": describe_block,
        "count": show_count,
        "probability": show_probability,
        "signed": show_signed,
        "value": show_value,
    }
    made.globals["say_counts"] = say_counts
    return made


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
