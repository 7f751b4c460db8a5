"""The report: one HTML file that needs nothing but itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagpack import numbers, wording
from bagpack._version import __version__
from bagpack.evaluate.schema import Breakdown, Condition, EvaluationResult, Score, check_result, without_nan
from bagpack.report.charts import make_axis, make_whisker
from bagpack.report.page import write_page
from bagpack.report.pairs import cell_pairs, first_predictions, mistakes_part, suspicious_part
from bagpack.report.questions import MARKS, answered_questions
from bagpack.report.reliability import curve_part, reliability_part
from bagpack.report.rendering import environment, show_share, stylesheet
from bagpack.report.result import (
    comparison_rows,
    coverage_rows,
    label_of_metric,
    main_metric,
    metric_names,
    score_rows,
    score_text,
)

if TYPE_CHECKING:
    from markupsafe import Markup

_MARKS = ("circle", "square", "diamond", "triangle")
_KIND_WORDS = {
    "relations": "Relations between words",
    "ratings": "Ratings of word pairs",
    "analogies": "Analogy questions",
    "synonyms": "Synonym questions",
}
_LONG_LIST = 200  # words or pairs of a list that are shown
_FOLDS = 100  # that are shown one by one
_GROUPS = 200  # that are shown
EMBEDDED = 5_000  # predictions in the JSON of a page; 100,000 would be 20 MB


def render_report(result: EvaluationResult) -> str:
    """The report as the text of an HTML page: no script is run, nothing is loaded, all text is escaped."""
    result = check_result(without_nan(result), "the result")
    data, corpus = result.get("data", {}), result.get("corpus", {})
    template = environment().get_template("report.html.j2")
    return template.render(
        result=result,
        data_path=data.get("path"),
        corpus_path=corpus.get("path"),
        tokens=corpus.get("tokens"),
        version=__version__,
        title=result.get("title") or _KIND_WORDS[result["kind"]],
        kind_words=_KIND_WORDS[result["kind"]],
        css=stylesheet(),
        embedded=_embedded(result),
        embedded_rows=EMBEDDED if len(result.get("predictions", [])) > EMBEDDED else None,
        tiles=_tiles(result),
        metrics=[
            (
                label_of_metric(result, name, unit=False),
                numbers.show_unit(name),
                numbers.metric_info(name).meaning,
            )
            for name in metric_names(result)
        ],
        scores=_score_rows(result),
        plot=_plot(result),
        comparisons=comparison_rows(result),
        folds=_folds(result),
        confusion=_confusion(result),
        mistakes=mistakes_part(result),
        suspicious=suspicious_part(result),
        reliability=reliability_part(result),
        curve=curve_part(result),
        questions=answered_questions(result),
        marks=MARKS,
        buckets=_breakdown(result.get("buckets"), result),
        groups=_breakdown(result.get("groups"), result),
        coverage=coverage_rows(result),
        most_listed=_LONG_LIST,
        labels=data.get("labels", {}),
        facts=_facts(result),
    )


def write_report(result: EvaluationResult, path: str | Path) -> None:
    """Write the report; an older one of that name is replaced when the new one is whole, no other file is."""
    write_page(Path(path), render_report(result))


def _embedded(result: EvaluationResult) -> Markup:
    """The result as JSON that cannot end its element, with a bounded number of predictions."""
    from markupsafe import Markup

    text = json.dumps(first_predictions(result, EMBEDDED), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _cell(score: Score | None, metric: str) -> dict[str, str]:
    value, interval = score_text(score, metric)
    return {"value": value, "interval": interval}


def _marks(result: EvaluationResult) -> dict[str, str]:
    """Each condition's mark: a shape and a colour of its own, the same in every plot."""
    names = [condition["name"] for condition in result["conditions"]]
    known = {"v1v2": "circle", "v12": "square", "v1v2v12": "diamond"}
    return {name: known.get(name, _MARKS[at % len(_MARKS)]) for at, name in enumerate(names)}


def _score_rows(result: EvaluationResult) -> list[dict[str, Any]]:
    metrics, marks = metric_names(result), _marks(result)
    return [
        {
            "role": row.role,
            "name": row.name,
            "mark": "" if row.source else marks.get(row.name, "bar"),
            "meaning": row.source or wording.CONDITIONS.get(row.name, ""),
            "cells": [_cell(row.metrics.get(metric), metric) for metric in metrics],
        }
        for row in score_rows(result)
    ]


def _plot(result: EvaluationResult) -> dict[str, Any] | None:
    metric, marks = main_metric(result), _marks(result)
    shown = [*result["conditions"], *result.get("baselines", [])]
    scores = [(row, row["metrics"][metric]) for row in shown if metric in row["metrics"]]
    scores = [(row, score) for row, score in scores if numbers.is_number(score["mean"])]
    if not scores:
        return None
    values: list[float | None] = []
    for _, score in scores:
        ends = numbers.inside(score.get("low"), score.get("high"), metric) or ()
        values += [score["mean"], *ends, *score.get("folds", [])]
    axis = make_axis(values, metric)
    rows = [
        {
            "name": row["name"],
            "mark": marks.get(row["name"], "bar"),
            "at": axis.at(score["mean"] or 0.0),
            "whisker": make_whisker(axis, score, metric),
            "folds": [axis.at(fold) for fold in _few(score.get("folds", [])) if fold is not None],
            **_cell(score, metric),
        }
        for row, score in scores
    ]
    return {"axis": axis, "rows": rows, "metric": label_of_metric(result, metric)}


def _few(folds: list[float | None]) -> list[float | None]:
    """The folds, unless there are too many to distinguish."""
    return folds if len(folds) <= _FOLDS else []


def _tiles(result: EvaluationResult) -> list[dict[str, str]]:
    metric = main_metric(result)
    unit = numbers.show_unit(metric)
    last = result["conditions"][-1]
    tiles = [_tile(last, metric, unit, f"{label_of_metric(result, metric, unit=False)}, {last['name']}")]
    tiles += [_tile(row, metric, unit, f"Baseline: {row['name']}") for row in result.get("baselines", [])]
    rows, tested = result.get("rows"), result.get("tested")
    data = result.get("data", {})
    pairs, unseen = data.get("pairs"), data.get("unseen_pairs")
    shares = []
    if rows and tested is not None and tested < rows:
        shares.append(("Rows tested", tested, rows))
    if pairs and unseen is not None:
        shares.append(("Pairs seen together", pairs - unseen, pairs))
    for name, part, whole in shares:
        note = f"{numbers.show_count(part)} of {numbers.show_count(whole)}"
        tiles.append({"value": show_share(part, whole), "name": name, "note": note})
    return [tile for tile in tiles if tile["value"] != "–"]


def _tile(row: Condition, metric: str, unit: str, name: str) -> dict[str, str]:
    cell = _cell(row["metrics"].get(metric), metric)
    value = cell["value"] + (unit if cell["value"] != "–" else "")
    return {"value": value, "name": name, "note": cell["interval"] and f"95 %: {cell['interval']}"}


def _folds(result: EvaluationResult) -> dict[str, Any] | None:
    metric = main_metric(result)
    rows = [
        (row["name"], _few(row["metrics"][metric].get("folds", [])))
        for row in [*result["conditions"], *result.get("baselines", [])]
        if metric in row["metrics"]
    ]
    number = max((len(folds) for _, folds in rows), default=0)
    if not number:
        return None
    shown = [
        {"name": name, "values": [numbers.show_score(fold, metric) for fold in folds]}
        for name, folds in rows
        if len(folds) == number
    ]
    return {"number": number, "rows": shown, "metric": label_of_metric(result, metric)}


def _confusion(result: EvaluationResult) -> dict[str, Any] | None:
    confusion = result.get("confusion")
    if not confusion:
        return None
    labels, rows = confusion["labels"], []
    found = cell_pairs(result.get("predictions", []), labels)
    for at, counts in enumerate(confusion["counts"]):
        total = sum(counts)
        cells = [
            {
                "count": count,
                "share": round(count / total, 3) if total else 0,
                "right": at == across,
                "title": f"{labels[at]} predicted as {labels[across]}: {count} of {total}",
                "id": found[at, across]["id"] if (at, across) in found else "",
            }
            for across, count in enumerate(counts)
        ]
        recall = show_share(counts[at], total)
        rows.append({"label": labels[at], "cells": cells, "total": total, "recall": recall})
    return {
        "condition": confusion["condition"],
        "labels": labels,
        "rows": rows,
        "cells": list(found.values()),
    }


def _breakdown(breakdown: Breakdown | None, result: EvaluationResult) -> dict[str, Any] | None:
    if not breakdown or not breakdown["rows"]:
        return None
    metric, marks = breakdown["metric"], _marks(result)
    names = [condition["name"] for condition in result["conditions"]]
    names = [name for name in names if any(name in row["scores"] for row in breakdown["rows"])]
    shown = breakdown["rows"][:_GROUPS]
    axis = make_axis([score for row in shown for score in row["scores"].values()], metric)
    rows = []
    for row in shown:
        scores = [(name, row["scores"].get(name)) for name in names]
        rows.append(
            {
                "name": row["name"],
                "n": row["n"],
                "cells": [numbers.show_score(score, metric) for _, score in scores],
                "marks": [
                    {
                        "at": axis.at(score),
                        "mark": marks[name],
                        "text": f"{name}: {numbers.show_score(score, metric)}",
                    }
                    for name, score in scores
                    if score is not None
                ],
            }
        )
    return {
        "metric": label_of_metric(result, metric),
        "axis": axis,
        "rows": rows,
        "hidden": len(breakdown["rows"]) - len(shown),
        "column": breakdown.get("column", ""),
        "names": [{"name": name, "mark": marks[name]} for name in names],
    }


def _facts(result: EvaluationResult) -> dict[str, dict[str, str]]:
    """What is listed at the end of a report, by title."""
    data, corpus = dict(result.get("data", {})), dict(result.get("corpus", {}))
    shown = {"path": "file", "content_hash": "content hash"}
    of_data = {key: data[key] for key in ("path", "rows", "questions", "pairs", "words") if key in data}
    return {
        "Corpus": {shown.get(key, key): numbers.show_count(value) for key, value in corpus.items()},
        "Data set": {shown.get(key, key): numbers.show_count(value) for key, value in of_data.items()},
        "Settings": {key: numbers.show_value(value) for key, value in result.get("settings", {}).items()},
        "Versions": result.get("versions", {}),
    }
