"""Showing an evaluation: the one-file HTML report and the tables on a terminal. Nothing is computed here."""

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.report.html import render_report as render_report
    from bagpack.report.html import write_report as write_report
    from bagpack.report.result import read_result as read_result

_NAMES = {
    "bagpack.report.html": ("render_report", "write_report"),
    "bagpack.report.result": ("read_result",),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
