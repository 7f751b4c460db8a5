"""Showing an evaluation: on the terminal, as JSON, as a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bagpack import console

if TYPE_CHECKING:
    from bagpack.cli.options import OutputOptions
    from bagpack.evaluate.schema import EvaluationResult


def show_result(result: EvaluationResult, output: OutputOptions, report: Path | None) -> None:
    """Write the report if one is wanted, and print the result."""
    write_result(result, report)
    if output.json:
        console.print_json(result)
    elif not output.quiet:
        print_tables(result)
        if report is not None:
            console.tell(f"report: {report}")


def write_result(result: EvaluationResult, report: Path | None) -> None:
    """Record the command in the result, and write the report if one is wanted."""
    result["command"] = shlex.join(["bagpack", *sys.argv[1:]])
    if report is not None:
        from bagpack.report import write_report

        write_report(result, report)


def print_tables(result: EvaluationResult) -> None:
    """On standard output."""
    from bagpack.report.terminal import print_result

    print_result(result, console.screen())
