"""Data sets on which a preset was chosen: its scores there are optimistic, and reports say so.

The pairs themselves are not ours to distribute, so `tuned_on.json` has a 32-bit checksum of each. A data set is
recognised if at least half of its pairs are known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from zlib import crc32

SHARE = 0.5


def checksum(w1: str, w2: str) -> str:
    """Eight hexadecimal digits for a pair, for any order and case of its words."""
    return f"{crc32(chr(9).join(sorted((w1.casefold(), w2.casefold()))).encode()):08x}"


@cache
def _known() -> dict[str, dict[str, frozenset[str]]]:
    """Checksums by preset and data set."""
    text = resources.files("bagpack.evaluate").joinpath("tuned_on.json").read_text(encoding="utf-8")
    return {
        preset: {
            name: frozenset(digits[at : at + 8] for at in range(0, len(digits), 8))
            for name, digits in sets.items()
        }
        for preset, sets in json.loads(text).items()
    }


def tuned_on(preset: str, pairs: Iterable[tuple[str, str]]) -> str | None:
    """The name of the data set that these pairs are from, if the preset was chosen on it."""
    found = {checksum(w1, w2) for w1, w2 in pairs}
    for name, known in _known().get(preset, {}).items():
        if found and len(found & known) >= SHARE * len(found):
            return name
    return None


def tuned_on_note(preset: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """A sentence for the report if the preset was chosen on this data set."""
    name = tuned_on(preset, pairs)
    if name is None:
        return []
    return [
        f"The settings of preset {preset.partition(':')[0]} were chosen on {name}, which has no separate test part, so "
        "its scores here are optimistic."
    ]
