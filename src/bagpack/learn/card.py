"""The model card: what a model was made from and how well it did, in Markdown for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bagpack._version import __version__
from bagpack.learn.model import LinearModel
from bagpack.numbers import between_of, metric_label, show_interval, show_score, show_value

if TYPE_CHECKING:
    from bagpack.learn.types import Json

STRONGEST = 8  # contexts of each label


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _section(title: str, values: Mapping[str, Any] | None) -> list[str]:
    if not values:
        return []
    lines = [f"## {title}", "", "| | |", "|---|---|"]
    lines += [f"| {_escape(str(key))} | {_escape(show_value(value))} |" for key, value in values.items()]
    return [*lines, ""]


def _score(value: Json, metric: str) -> str:
    """``81.2 (79.0–83.4)`` from a mapping with mean, low and high; a bare number has the same form."""
    if not isinstance(value, Mapping):
        return show_score(value, metric)
    interval = show_interval(value.get("low"), value.get("high"), metric, between_of(metric))
    return show_score(value.get("mean"), metric) + (f" ({interval})" if interval else "")


def _scores(scores: Mapping[str, Mapping[str, Any]] | None) -> list[str]:
    if not scores:
        return ["## Scores", "", "Not evaluated.", ""]
    metrics = list(dict.fromkeys(metric for row in scores.values() for metric in row))
    lines = ["## Scores", "", "Mean over folds, 95 % interval in brackets.", ""]
    lines += ["| | " + " | ".join(map(metric_label, metrics)) + " |", "|---" * (len(metrics) + 1) + "|"]
    for name, row in scores.items():
        cells = [_score(row.get(metric), metric) for metric in metrics]
        lines.append(f"| {_escape(name)} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _strongest(model: LinearModel) -> list[str]:
    if not {"v1", "v2", "v12"} & set(model.block_names):
        return []
    lines = ["## Strongest contexts", ""]
    for label in model.classes or (None,):
        names = ", ".join(f"`{name}` {weight:+.3f}" for name, weight in model.strongest(label, STRONGEST))
        lines.append(f"- **{'rating' if label is None else label}**: {names}")
    return [*lines, ""]


def model_card(
    model: LinearModel,
    *,
    title: str = "A BagPack model",
    corpus: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    scores: Mapping[str, Mapping[str, Any]] | None = None,
    coverage: Mapping[str, Any] | None = None,
    caps: Mapping[str, Any] | None = None,
    versions: Mapping[str, Any] | None = None,
) -> str:
    """A Markdown card; the mappings become tables as they come.

    ``scores`` has, per row (a condition, a baseline) and metric, a number or a mapping with ``mean``, ``low``
    and ``high``.
    """
    kind = {
        "binary": "one of two labels",
        "multiclass": "one of several labels, one SVM each against the rest",
        "multilabel": "any number of labels, one SVM each",
        "rating": "a rating",
    }[model.kind]
    about = {
        "predicts": kind,
        "labels": list(model.classes) or None,
        "condition": model.condition,
        "preset": model.preset,
        "features": sum(len(weights) for weights in model.weights),
        **model.settings,
    }
    lines = [f"# {title}", "", "A linear model over named contexts of two words.", ""]
    lines += _section("Model", {key: value for key, value in about.items() if value is not None})
    lines += _section("Corpus", corpus) + _section("Data", data) + _scores(scores)
    lines += _section("Coverage", coverage) + _section("Caps that applied", caps)
    lines += _strongest(model)
    lines += _section("Versions", {"bagpack": __version__, **(versions or {})})
    return "\n".join(lines)
