"""How far a context reaches, and how many of them are taken."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bagpack.errors import UsageError

WIDEST = 1000
DEFAULT_LIMIT = 5000
MOST = 2**63 - 1  # what the kernels count with


@dataclass(frozen=True)
class Windows:
    """A word has up to `before` + `after` tokens around it; a pair `left`, `between`, `right` (docs/method.md)."""

    before: int = 4
    after: int = 4
    left: int = 2
    between: int = 5
    right: int = 2

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 <= value <= WIDEST:
                raise UsageError(f"the window {name} = {value} is out of range; give 0 to {WIDEST}")

    @classmethod
    def parse(cls, text: str) -> Windows:
        """From `4/2-5-2`: around a word / left, between and right of a pair."""
        try:
            single, _, pair = text.partition("/")
            sides = [int(part) for part in single.split("-")]
            before, after = sides * 2 if len(sides) == 1 else sides
            left, between, right = (int(part) for part in (pair or "2-5-2").split("-"))
        except ValueError as error:
            raise UsageError(
                f"--windows {text} is not understood; write it like 4/2-5-2 (around a word / left-between-right)"
            ) from error
        return cls(before, after, left, between, right)

    def __str__(self) -> str:
        single = str(self.before) if self.before == self.after else f"{self.before}-{self.after}"
        return f"{single}/{self.left}-{self.between}-{self.right}"


@dataclass(frozen=True)
class CountSettings:
    """What is counted: windows, and at most how many observations of each word and each unordered pair."""

    windows: Windows = Windows()
    limit: int | None = DEFAULT_LIMIT

    def __post_init__(self) -> None:
        if self.limit is not None and not 1 <= self.limit <= MOST:
            raise UsageError(f"--limit {self.limit} is out of range; give 1 to {MOST}, or none for no limit")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> CountSettings:
        return cls(Windows(**values["windows"]), values["limit"])


def parse_limit(text: str) -> int | None:
    """`5000` or `none`."""
    if text.lower() == "none":
        return None
    if not text.isdecimal() or len(text) > len(str(MOST)) or int(text) > MOST:
        raise UsageError(
            f"--limit {text[:40]} is not an integer from 0 to {MOST}; give one, or none for no limit"
        )
    return int(text)
