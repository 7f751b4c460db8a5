"""Numbers as they are written."""

from __future__ import annotations

import math


def number_of(text: str) -> float | None:
    """The number that a text is; None if it is none."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
