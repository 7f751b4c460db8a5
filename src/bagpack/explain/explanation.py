"""Why a model predicts a label for a pair: its decisions, with parts, contexts and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bagpack.contexts.targets import ContextSource, elsewhere
from bagpack.corpus.corpus import Corpus
from bagpack.errors import UsageError
from bagpack.explain.decision import Decision, PairDecisions
from bagpack.learn.model import LinearModel
from bagpack.sources import as_source
from bagpack.vectors.counts import PairCounts
from bagpack.wording import say_elsewhere


@dataclass(frozen=True)
class Explanation:
    """Why a model predicts a label for a pair.

    Attributes
    ----------
    answer
        The label (several are joined by commas) or the rating; None where the model does not answer, and `notes` say
        why. With an unknown word there are no decisions either.
    probability
        Of the answer, or of the label that comes first where there is none; None if the model has no calibration.
    trained
        Whether the model was trained on this pair: then the prediction is not evidence.
    decisions
        The answer's label first, then the others by probability.
    contrast
        The difference of two labels, if one was asked for.
    """

    w1: str
    w2: str
    kind: str
    answer: str | None
    probability: float | None
    trained: bool
    counts: dict[str, int]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    decisions: tuple[Decision, ...] = ()
    contrast: Decision | None = None

    def __getitem__(self, label: str) -> Decision:
        return {decision.label: decision for decision in self.decisions}[label]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def to_html(self) -> str:
        """A fragment of HTML with its own style."""
        from bagpack.report.html import render_explanation

        return render_explanation(self.to_dict())

    _repr_html_ = to_html


def explain_pair(
    model: LinearModel, source: ContextSource | Corpus, w1: str, w2: str, *, labels: Sequence[str] | None = None,
    against: str | None = None, top: int = 10, lines: int = 3, in_full: bool = True,
) -> Explanation:  # fmt: skip
    """Explain a model's decisions about a pair.

    Parameters
    ----------
    labels
        The labels to explain; None explains all, the predicted one first.
    against
        A label to compare with: the reasons for the predicted label (or the one in ``labels``) and not for this one.
    top
        Number of contexts, and of groups of features, that each decision lists.
    lines
        Number of corpus lines that each of them shows; 0 shows none.
    in_full
        Whether all labels are explained; otherwise the predicted one and the runner-up.
    """
    source = as_source(source)
    matrix = model.count([(w1, w2)], source)
    found = explain_matrix(
        model, source, matrix, labels=labels, against=against, top=top, lines=lines, in_full=in_full
    )
    reported = [say_elsewhere(**asdict(item)) for item in elsewhere(source, (w1, w2))]
    return replace(found, notes=(*reported, *found.notes))


def explain_matrix(
    model: LinearModel, source: ContextSource, matrix: PairCounts, *,
    labels: Sequence[str] | None = None, against: str | None = None, top: int = 10, lines: int = 3,
    in_full: bool = True,
) -> Explanation:  # fmt: skip
    """Explain a pair that is counted already: the only row of a matrix."""
    w1, w2 = matrix.pairs[0]
    names = ["rating"] if model.kind == "rating" else [str(name) for name in model.classes]
    for name in [*(labels or ()), *([] if against is None else [against])]:
        model.label_named(name)
    counts = {name: int(getattr(matrix, name)[0]) for name in ("n_w1", "n_w2", "n_plus", "n_minus")}
    trained = bool(model.trained_on(matrix)[0])
    limit = matrix.settings.limit
    capped = {**matrix.capped_words, **matrix.capped_pairs}
    caps = [f"{name}: {limit:,} of {total:,} observations counted" for name, total in capped.items()]
    targets = [matrix.targets[name] for name in matrix.rows[0]]
    unknown = tuple(dict.fromkeys(w for w, target in zip((w1, w2), targets, strict=True) if target is None))
    if unknown:
        why = f"no prediction: the corpus does not contain {' and '.join(unknown)}"
        return Explanation(w1, w2, model.kind, None, None, trained, counts, unknown, (why, *caps))
    decisions_of = PairDecisions(model, source, matrix, top, lines)
    order = decisions_of.order
    wanted = [k for k in order if labels is None or names[k] in labels]
    full = len(wanted) if in_full else 1 + (model.kind != "binary")
    decisions = [decisions_of.decision(k, names[k], place < full) for place, k in enumerate(wanted)]
    contrast = None
    if against is not None:
        first = next(k for k in wanted if names[k] != against) if labels is None else names.index(labels[0])
        if names[first] == against:
            raise UsageError(f"{against} cannot be compared with itself; choose another label")
        contrast = decisions_of.difference(first, names.index(against))
    notes: tuple[str, ...] = ()
    if model.threshold is not None and not decisions_of.answered:
        wanted_share = f"{100 * model.threshold.wanted:g} %"
        notes = (f"no prediction: the probability of the label is too low for a precision of {wanted_share}",)
    best = None if decisions_of.probabilities is None else float(decisions_of.probabilities[order[0]])
    return Explanation(
        w1, w2, model.kind, None if notes else decisions_of.answer, best, trained, counts, (), (*notes, *caps),
        tuple(decisions), contrast,
    )  # fmt: skip
