"""What a report shows of single pairs: mistakes with their sentences, suspicious labels, the cells of the confusion
matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from bagpack import numbers, wording
from bagpack.evaluate.predictions import mistakes
from bagpack.evaluate.schema import EvaluationResult, Prediction
from bagpack.report.rendering import show_share

MISTAKES = 100
FIRST = 15  # that are shown at once; the others open
SUSPICIOUS = 30
OF_CELL = 40  # pairs of a cell of the confusion matrix


def show_pair(row: Prediction) -> dict[str, Any]:
    """A row of the data with its prediction, as text."""
    label, predicted = row["label"], row["predicted"]
    if isinstance(label, float | int):
        return {
            **_common(row),
            "label": f"{label:g}",
            "predicted": "–" if predicted is None else f"{predicted:.2f}",
            "sure": "" if predicted is None else f"{float(predicted) - label:+.2f}".replace("-", "−"),
        }
    return {
        **_common(row),
        "label": label or "no label",
        "predicted": predicted or "no label",
        "sure": numbers.show_probability(row["probability"]),
    }


def _common(row: Prediction) -> dict[str, Any]:
    together = row["together"]
    return {
        "w1": row["w1"],
        "w2": row["w2"],
        "line": row["line"],
        "together": _seen(together),
        "count": "unknown word" if together is None else numbers.show_count(together),
        "abstained": row["abstained"],
        "of_label": numbers.show_probability(row["label_probability"]),
        "sentences": row.get("sentences", []),
    }


def _seen(together: int | None) -> str:
    if together is None:
        return "unknown word"
    return f"seen together {wording.say_times(together)}" if together else "never seen together"


def mistakes_part(result: EvaluationResult) -> dict[str, Any] | None:
    """The mistakes, the surest (or largest) first."""
    rows = result.get("predictions", [])
    wrong = mistakes(rows)
    tested = sum(row["predicted"] is not None for row in rows)
    if not wrong:
        return None
    shown = [show_pair(rows[i]) for i in wrong[:MISTAKES]]
    return {
        "number": len(wrong),
        "tested": tested,
        "share": show_share(len(wrong), tested),
        "first": shown[:FIRST],
        "more": shown[FIRST:],
        "hidden": len(wrong) - len(shown),
    }


def suspicious_part(result: EvaluationResult) -> dict[str, Any] | None:
    """Labels that the model contradicts with confidence."""
    rows, found = result.get("predictions", []), result.get("suspicious", [])
    if not found:
        return None
    shown = [show_pair(rows[i]) for i in found[:SUSPICIOUS]]
    return {"number": len(found), "rows": shown, "hidden": len(found) - len(shown)}


def first_predictions(result: EvaluationResult, most: int) -> EvaluationResult:
    """The result with at most ``most`` predictions: suspicious labels first, then mistakes, then the others."""
    rows = result.get("predictions", [])
    if len(rows) <= most:
        return result
    wanted = dict.fromkeys([*result.get("suspicious", []), *mistakes(rows), *range(len(rows))])
    kept = sorted(list(wanted)[:most])
    place = {old: new for new, old in enumerate(kept)}
    found = cast(EvaluationResult, {**result, "predictions": [rows[i] for i in kept]})
    if "suspicious" in result:
        found["suspicious"] = [place[i] for i in result["suspicious"] if i in place]
    return found


def cell_pairs(rows: Sequence[Prediction], labels: Sequence[str]) -> dict[tuple[int, int], dict[str, Any]]:
    """The pairs of each cell of the confusion matrix (true label, predicted label), the surest first."""
    place = {label: at for at, label in enumerate(labels)}
    cells: dict[tuple[int, int], list[Prediction]] = {}
    for row in rows:
        label, predicted = str(row["label"]), row["predicted"]
        if label in place and predicted in place:
            cells.setdefault((place[label], place[str(predicted)]), []).append(row)
    out = {}
    for (down, across), inside in sorted(cells.items()):
        inside.sort(key=lambda row: -(row["probability"] or 0.0))
        out[down, across] = {
            "id": f"cell-{down + 1}-{across + 1}",
            "label": labels[down],
            "predicted": labels[across],
            "number": len(inside),
            "rows": [show_pair(row) for row in inside[:OF_CELL]],
            "hidden": max(0, len(inside) - OF_CELL),
        }
    return out
