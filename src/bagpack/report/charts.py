"""Positions of marks on an axis. The template draws them; positions are percentages of the plot's width.

Percentages and not a view box, so that a plot fills any window while its marks and its text keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from bagpack.numbers import is_number, metric_info


class Tick(NamedTuple):
    at: float
    text: str


class Axis(NamedTuple):
    """A linear axis from ``low`` to ``high`` with round ticks."""

    low: float
    high: float
    ticks: list[Tick]

    def at(self, value: float) -> float:
        """A value's place in percent of the width, kept inside the plot."""
        place = 100 * (value - self.low) / (self.high - self.low)
        return round(min(100.0, max(0.0, place)), 2)


def make_axis(values: Iterable[float | None], metric: str) -> Axis:
    """An axis that holds the values, with a margin, and four to seven round ticks.

    Percentages never leave 0 to 100. The axis need not begin at zero: what it carries are points, not bars.
    """
    finite = [float(value) for value in values if is_number(value)] or [0.0, 1.0]
    percent = metric_info(metric).percent
    low, high = min(finite), max(finite)
    if percent:
        low, high = min(1.0, max(0.0, low)), min(1.0, max(0.0, high))
    span = max(high - low, 0.1 if percent else 0.1 * max(1.0, abs(high)))
    low, high = min(low, (low + high - span) / 2), max(high, (low + high + span) / 2)
    margin = 0.08 * span
    # The smallest of 1, 2, 2.5, 5, 10 times a power of ten that gives at most five parts.
    rough = (span + 2 * margin) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next((factor for factor in (1, 2, 2.5, 5) if factor * power >= rough * (1 - 1e-9)), 10)
    first = math.floor((low - margin) / step + 1e-9)
    last = math.ceil((high + margin) / step - 1e-9)
    if percent:
        first, last = max(0, first), min(round(1 / step), last)
    if last - first < 1:
        first, last = (first - 1, last) if first > 0 else (first, last + 1)
    scale = 100 if percent else 1
    digits = next(d for d in range(10) if math.isclose(round(step * scale, d), step * scale, rel_tol=1e-6))
    axis = Axis(first * step, last * step, [])
    for value in (count * step for count in range(first, last + 1)):
        axis.ticks.append(Tick(axis.at(value), f"{scale * value:.{digits}f}".replace("-", "−")))
    return axis
