"""Reading a result, and what both the terminal and the report show of it: metrics, scores, comparisons, coverage."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Literal, NamedTuple

from bagpack import numbers
from bagpack.errors import InputError
from bagpack.evaluate.schema import EvaluationResult, Score, check_result

_EMBEDDED = re.compile(r'<script type="application/json" id="bagpack-result">(.*?)</script>', re.DOTALL)


def read_result(path: str | Path) -> EvaluationResult:
    """Read a result from the JSON of ``evaluate --json``, or back out of an HTML report."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not UTF-8 text, so it is neither a result nor a report; check the path"
        ) from None
    embedded = _EMBEDDED.search(text)
    try:
        data = json.loads(embedded[1] if embedded else text)
    except ValueError:
        data = None
    return check_result(data, str(path))


def main_metric(result: EvaluationResult) -> str:
    """The metric that the headline and the plot show: as said, or the first condition's first."""
    named = result.get("main_metric")
    return named or next(iter(result["conditions"][0]["metrics"]), "score")


def metric_names(result: EvaluationResult) -> list[str]:
    """Every metric of the conditions, the main one first, then in the order given."""
    names = [metric for condition in result["conditions"] for metric in condition["metrics"]]
    return list(dict.fromkeys([main_metric(result), *names]))


def label_of_metric(result: EvaluationResult, metric: str, unit: bool = True) -> str:
    """A metric as a table of this result names it, with the labels that it excludes."""
    left_out = result.get("settings", {}).get("left_out") or ()
    return numbers.metric_label(metric, [str(label) for label in left_out], unit)


class ScoreRow(NamedTuple):
    """A condition, a baseline, or a row of a reference (published numbers), whose name is the source."""

    role: Literal["condition", "baseline", "reference"]
    name: str
    metrics: dict[str, Score]
    source: str = ""


def score_rows(result: EvaluationResult) -> list[ScoreRow]:
    """The rows of a table of scores."""
    rows = [ScoreRow("condition", one["name"], one["metrics"]) for one in result["conditions"]]
    rows += [ScoreRow("baseline", one["name"], one["metrics"]) for one in result.get("baselines", [])]
    for reference in result.get("references", []):
        for name, values in reference["scores"].items():
            metrics: dict[str, Score] = {metric: {"mean": value} for metric, value in values.items()}
            rows.append(ScoreRow("reference", name, metrics, reference["name"]))
    return rows


def score_text(score: Score | None, metric: str) -> tuple[str, str]:
    """A score and its interval as tables show them."""
    score = score or {"mean": None}
    ends = score.get("low"), score.get("high")
    return numbers.show_score(score["mean"], metric), numbers.show_interval(
        *ends, metric, numbers.between_of(metric)
    )


def comparison_rows(result: EvaluationResult) -> list[dict[str, str]]:
    """The paired comparisons, as text."""
    return [
        {
            "pair": f"{row['a']} − {row['b']}",
            "metric": label_of_metric(result, row["metric"]),
            "difference": numbers.show_score(row["difference"], row["metric"], signed=True),
            "interval": numbers.show_difference_interval(row.get("low"), row.get("high"), row["metric"]),
            "p": numbers.show_p(row.get("p")),
            "test": row.get("test", ""),
        }
        for row in result.get("comparisons", [])
    ]


def coverage_rows(result: EvaluationResult) -> list[tuple[str, int, int | None, list[str]]]:
    """What the corpus has not, or not all, of the data set: what, how many, of how many, and the first of them."""
    data = result.get("data", {})
    words, pairs, rows = data.get("words"), data.get("pairs"), data.get("rows")
    limit = result.get("settings", {}).get("limit")
    cap = f"the cap of {limit:,}" if isinstance(limit, int) else "the cap"
    found: list[tuple[str, int | None, int | None, list[str]]] = [
        ("words unknown to the corpus", data.get("unknown_words"), words, data.get("unknown_word_list", [])),
        ("pairs never seen together", data.get("unseen_pairs"), pairs, []),
        (f"words cut at {cap}", data.get("capped_words"), words, data.get("capped_word_list", [])),
        (f"pairs cut at {cap}", data.get("capped_pairs"), pairs, data.get("capped_pair_list", [])),
        ("rows that repeat a pair", data.get("duplicates"), rows, []),
        ("rows with both words equal", data.get("equal_words"), rows, []),
    ]
    return [(name, count, whole, listed) for name, count, whole, listed in found if count is not None]
