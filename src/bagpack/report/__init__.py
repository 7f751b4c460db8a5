"""Showing an evaluation: the one-file HTML report and the tables on a terminal. Nothing is computed here."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bagpack.evaluate.schema import EvaluationResult as EvaluationResult
    from bagpack.report.html import render_report as render_report
    from bagpack.report.html import write_report as write_report
    from bagpack.report.result import read_result as read_result
    from bagpack.wording import describe_feature as describe_feature

_HOMES = {
    "EvaluationResult": "bagpack.evaluate.schema",
    "describe_feature": "bagpack.wording",
    "read_result": "bagpack.report.result",
    "render_report": "bagpack.report.html",
    "write_report": "bagpack.report.html",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: what a command prints on a terminal does not need the HTML report."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'bagpack.report' has no attribute {name!r}")
