"""What the pages of data sets and labels contain, as plain data. These functions run in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.app.queries import loaded_model, model_facts, strongest
from bagpack.app.state import Library, LoadedData, Upload, read_upload
from bagpack.errors import StoreError, UsageError
from bagpack.explain.judge import Judged, judge
from bagpack.numbers import many
from bagpack.sheets import table_text
from bagpack.vectors.coverage import coverage

Json = dict[str, Any]
Floats = NDArray[np.float64]
Source = str | Upload  # the id of a data set named at the start, or an upload

SORTS = ("line", "pair", "given", "predicted", "probability", "gap", "together")
SHOWN = ("all", "wrong", "right")
OF_A_LABEL = 12  # pairs on the page of a label
UNCERTAIN = 0.5  # difference of the probabilities of a label and the next best


@dataclass(frozen=True)
class View:
    """Which rows of a data set are shown, and in which order."""

    page: int = 1
    size: int = 50
    sort: str = "line"
    descending: bool = False
    show: str = "all"
    label: str = ""
    q: str = ""


@dataclass(frozen=True)
class Predicted:
    """A data set with what the corpus has of it and, with a model, the model's answers."""

    loaded: LoadedData
    coverage: Json
    judged: Judged | None
    scores: Floats | None  # rows × labels: calibrated probabilities, or decision values without calibration
    calibrated: bool
    trained: NDArray[np.bool_] | None

    def probability(self, row: int, labels: list[str]) -> float | None:
        """Probability of the predicted label; None for several labels at once, or without calibration."""
        if self.judged is None or self.scores is None or not self.calibrated:
            return None
        predicted = self.judged.rows[row].predicted
        return round(float(self.scores[row, labels.index(predicted)]), 6) if predicted in labels else None


def upload_entry(library: Library, upload: Upload) -> Json:
    """Read an upload and describe it; errors say what is wrong with the file."""
    return asdict(_load(library, upload).entry)


def _load(library: Library, source: Source) -> LoadedData:
    if isinstance(source, Upload):
        return library.datasets.get(source, lambda: read_upload(source, library.limits))
    return library.data[source]


def _predict(library: Library, source: Source) -> Predicted:
    loaded = _load(library, source)

    def make() -> Predicted:
        model, data = library.model, loaded.data
        covered = coverage(
            library.source, data.pairs, loaded.labels, library.settings.limit, library.settings.windows
        )
        if model is None:
            return Predicted(loaded, covered, None, None, False, None)
        matrix = library.matrix(data.pairs)
        scores = None
        if model.kind != "rating":
            decisions = model.decisions(matrix)
            calibrated = model.calibration is not None
            scores = model.probabilities(decisions) if calibrated else model.scores_of(decisions)
        return Predicted(
            loaded, covered, judge(model, matrix, data), scores, model.calibration is not None,
            model.trained_on(data.pairs),
        )  # fmt: skip

    return library.datasets.get(loaded.entry.id, make)


# Data sets ---------------------------------------------------------------------------------------------------------


def dataset(library: Library, source: Source, view: View) -> Json:
    """A data set: its coverage, the scores of the model, and a page of rows."""
    found = _predict(library, source)
    judged = found.judged
    return {
        "entry": asdict(found.loaded.entry), "coverage": found.coverage, "notes": _notes(library, found),
        "predictions": None if judged is None else {
            "kind": judged.kind, "scores": judged.scores, "per_label": judged.per_label,
            "confused": [{"given": a, "predicted": b, "rows": n} for a, b, n in judged.confused],
            "errors": len(judged.errors), **_page(library, found, judged, view),
        },
    }  # fmt: skip


def _judged(found: Predicted) -> Judged:
    if found.judged is None:
        raise StoreError("no model is loaded, so there are no predictions; start the explorer with --model")
    return found.judged


def _notes(library: Library, found: Predicted) -> list[str]:
    notes = [*found.loaded.notes, *(found.judged.notes if found.judged else ())]
    trained = int(found.trained.sum()) if found.trained is not None else 0
    named = dict(library.model.manifest.get("data", {})) if library.model else {}
    entry = found.loaded.entry
    if trained:
        of_model = many(trained, "of the pairs is", "of the pairs are")
        notes.append(f"{of_model} training data of the model: the scores below are optimistic")
    elif Path(str(named.get("path", ""))).name == entry.name and named.get("rows") == entry.rows:
        notes.append("the model was trained on a file of this name and size: the scores below are optimistic")
    return notes


def _page(library: Library, found: Predicted, judged: Judged, view: View) -> Json:
    chosen = _chosen(library, found, judged, view)
    start = (view.page - 1) * view.size
    return {
        **asdict(view), "total": len(judged.rows), "matching": len(chosen),
        "pages": max(1, -(-len(chosen) // view.size)),
        "rows": [_row(library, found, judged, row) for row in chosen[start : start + view.size]],
    }  # fmt: skip


def _chosen(library: Library, found: Predicted, judged: Judged, view: View) -> list[int]:
    """Numbers of the rows that the view selects, in its order; equal ones in the order of the file."""
    wanted = view.q.casefold()
    chosen = [
        row.row
        for row in judged.rows
        if (view.show == "all" or row.right is (view.show == "right"))
        and (not view.label or view.label in (row.given, row.predicted))
        and (not wanted or wanted in f"{row.w1} {row.w2}".casefold())
    ]
    labels = _labels(library)
    rows = judged.rows
    keys: dict[str, Callable[[int], Any]] = {
        "line": lambda i: rows[i].line,
        "pair": lambda i: (rows[i].w1.casefold(), rows[i].w2.casefold()),
        "given": lambda i: _number(rows[i].given),
        "predicted": lambda i: _number(rows[i].predicted),
        "probability": lambda i: _or_least(found.probability(i, labels)),
        "gap": lambda i: _or_least(rows[i].gap),
        "together": lambda i: rows[i].together,
    }
    if view.sort not in keys:
        raise UsageError(f"sort {view.sort} is unknown; choose {', '.join(keys)}")
    return sorted(chosen, key=keys[view.sort], reverse=view.descending)


def _number(text: str) -> tuple[float, str]:
    """Ratings are sorted as numbers, labels as text."""
    try:
        return float(text), ""
    except ValueError:
        return 0.0, text


def _or_least(value: float | None) -> float:
    return -np.inf if value is None else value


def _labels(library: Library) -> list[str]:
    return [str(label) for label in library.model.classes] if library.model else []


def _row(library: Library, found: Predicted, judged: Judged, row: int) -> Json:
    return {
        **asdict(judged.rows[row]), "probability": found.probability(row, _labels(library)),
        "trained": bool(found.trained[row]) if found.trained is not None else False,
    }  # fmt: skip


def dataset_csv(library: Library, source: Source, view: View) -> str:
    """All rows that the view selects as CSV; with calibration, one more column for each label."""
    found = _predict(library, source)
    judged = _judged(found)
    names = ("line", "w1", "w2", "given", "predicted", "right", "probability", "gap", "together", "trained")
    labels = _labels(library) if found.calibrated else []
    table: list[list[Any]] = [[*names, *(f"p({label})" for label in labels)]]
    for row in _chosen(library, found, judged, view):
        entry = _row(library, found, judged, row)
        more = [] if found.scores is None else [round(float(p), 6) for p in found.scores[row][: len(labels)]]
        table.append([*(entry[name] for name in names), *more])
    return table_text(table, ",")


def dataset_error(library: Library, source: Source, at: int) -> Json:
    """One of the rows that the model gets wrong, counted from the worst, with its explanation."""
    found = _predict(library, source)
    judged = _judged(found)
    if at >= len(judged.errors):
        raise UsageError(
            f"there is no error at={at}; they are counted from 0, and this data set has {len(judged.errors):,}"
        )
    row = judged.errors[at]
    why = library.explanation(judged.rows[row].w1, judged.rows[row].w2)
    return {
        "entry": asdict(found.loaded.entry), "kind": judged.kind, "at": at, "errors": len(judged.errors),
        "row": _row(library, found, judged, row), "explanation": why,
    }  # fmt: skip


# Labels ------------------------------------------------------------------------------------------------------------


def label_page(library: Library, name: str, source: Source | None, top: int) -> Json:
    """A label: its strongest features and, of a data set, pairs that are typical of it and pairs that are uncertain."""
    model = loaded_model(library)
    features = strongest(model, model.label_named(name), top)
    page: Json = {
        "label": name, "model": model_facts(library), "strongest": features[0], "weakest": features[1],
        "data": None, "typical": [], "uncertain": [],
    }  # fmt: skip
    if source is None:
        return page
    found = _predict(library, source)
    if found.judged is None or found.scores is None:
        return page
    column = _labels(library).index(name)
    mine = found.scores[:, column]
    others = np.delete(found.scores, column, axis=1)
    if model.kind == "multilabel" or not others.size:
        margin = 2 * mine - 1 if found.calibrated else mine
        rivals = np.full(len(mine), "")
    else:
        margin = mine - others.max(axis=1)
        rivals = np.delete(np.array(_labels(library), object), column)[others.argmax(axis=1)]
    typical = [i for i in np.argsort(-mine, kind="stable") if margin[i] > 0]
    uncertain = [i for i in np.argsort(np.abs(margin), kind="stable") if abs(margin[i]) < UNCERTAIN]
    return {
        **page, "data": asdict(found.loaded.entry),
        "typical": _distinct(library, found, typical, mine, rivals),
        "uncertain": _distinct(library, found, uncertain, mine, rivals),
    }  # fmt: skip


def _distinct(
    library: Library, found: Predicted, order: Iterable[Any], mine: Floats, rivals: NDArray[Any]
) -> list[Json]:
    """The first few distinct pairs of rows whose words the corpus has."""
    assert found.judged is not None
    shown: dict[tuple[str, str], Json] = {}
    unknown = set(found.coverage["unknown_words"])
    for row in map(int, order):
        entry = _row(library, found, found.judged, row)
        pair = entry["w1"], entry["w2"]
        if pair not in shown and not unknown & set(pair):
            probability = round(float(mine[row]), 6) if found.calibrated else None
            shown[pair] = {**entry, "probability": probability, "rival": str(rivals[row])}
        if len(shown) == OF_A_LABEL:
            break
    return list(shown.values())
