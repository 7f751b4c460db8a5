"""Showing an evaluation: on the terminal, as JSON, as a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bagpack import console

if TYPE_CHECKING:
    from bagpack.cli.option_groups import OutputOptions
    from bagpack.evaluate.schema import EvaluationResult


def show_result(result: EvaluationResult, output: OutputOptions, report: Path | None) -> None:
    """Write the report if one is wanted, and print the result."""
    write_result(result, report)
    if output.json:
        console.print_json(result)
    elif not output.quiet:
        print_tables(result)
        if report is not None:
            console.print_message(f"report: {report}")


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


def show_by(by: str, results: dict[str, EvaluationResult]) -> None:
    """A row for each value of an attribute: its tokens, pairs never seen together, and the score of each condition."""
    from bagpack.numbers import show_score
    from bagpack.report.result import label_of_metric, main_metric

    first = next(iter(results.values()))
    metric = main_metric(first)
    rows = []
    for value, result in results.items():
        corpus, data = result.get("corpus", {}), result.get("data", {})
        scores = [show_score(one["metrics"][metric]["mean"], metric) for one in result["conditions"]]
        rows.append((value, f"{corpus.get('tokens', 0):,}", f"{data.get('unseen_pairs', 0):,}", *scores))
    names = [condition["name"] for condition in first["conditions"]]
    console.screen().print(console.plain_table((by, "tokens", "unseen pairs", *names), rows))
    console.print_message(f"scores: {label_of_metric(first, metric)}", "dim")
