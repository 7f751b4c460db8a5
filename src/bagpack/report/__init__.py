"""Showing results: an evaluation as sections, on a terminal and as a one-file HTML report. Nothing is computed here."""

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.report.html import render_report as render_report
    from bagpack.report.html import write_report as write_report

_NAMES = {"bagpack.report.html": ("render_report", "write_report")}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
