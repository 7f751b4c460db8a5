"""Why a model predicts a label for a pair: its decisions, with parts, contexts and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bagpack.contexts.targets import ContextSource
from bagpack.corpus.corpus import Corpus
from bagpack.explain.decision import Decision, PairDecisions
from bagpack.explain.lines import PairEvidence
from bagpack.learn.model import LinearModel
from bagpack.sources import as_source


@dataclass(frozen=True)
class Explanation:
    """Why a model predicts a label for a pair."""

    w1: str
    w2: str
    kind: str
    answer: str | None  # the label or the rating; None where the model does not answer, and `notes` say why
    probability: float | None  # of the label that comes first; None if the model has no calibration
    trained: bool  # whether the model was trained on this pair: then the prediction is not evidence
    counts: dict[str, int]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    decisions: tuple[Decision, ...] = ()  # the most probable label first; none with an unknown word

    def __getitem__(self, label: str) -> Decision:
        return {decision.label: decision for decision in self.decisions}[label]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def explain_pair(
    model: LinearModel, source: ContextSource | Corpus, w1: str, w2: str, *, labels: Sequence[str] | None = None,
    top: int = 10, lines: int = 3, in_full: bool = True, features: bool = True, evidence: PairEvidence | None = None,
) -> Explanation:  # fmt: skip
    """Explain a model's decisions about a pair.

    Parameters
    ----------
    labels
        The labels to explain; None explains all, the predicted one first.
    top
        Number of contexts, and of groups of features, that each decision lists.
    lines
        Number of corpus lines that each of them shows; 0 shows none.
    in_full
        Whether all labels are explained; otherwise the predicted one and the runner-up.
    features
        Whether the strongest groups of features are listed too; contexts of the two together always are.
    evidence
        The observations of the pair, if they were found before.
    """
    source = as_source(source)
    for name in labels or ():
        model.label_named(name)
    evidence = evidence or PairEvidence.of(source, w1, w2, model.counting)
    found = model.count([(w1, w2)], source) if evidence is None else evidence.counts(w1, w2, model.basis)
    counts = {name: int(getattr(found, name)[0]) for name in ("n_w1", "n_w2", "n_plus", "n_minus")}
    trained = bool(model.trained_on(found)[0])
    capped = {**found.capped_words, **found.capped_pairs}
    notes = [
        f"{name}: {found.settings.limit:,} of {total:,} observations counted"
        for name, total in capped.items()
    ]
    if evidence is None:
        unknown = tuple(word for word in dict.fromkeys((w1, w2)) if word in found.unknown_words)
        why = f"no prediction: the corpus does not contain {' and '.join(unknown)}"
        return Explanation(w1, w2, model.kind, None, None, trained, counts, unknown, (why, *notes))
    pair = PairDecisions(model, source, found, evidence, top, lines, features)
    wanted = [k for k in pair.order if labels is None or pair.labels[k] in labels]
    full = len(wanted) if in_full else 1 + (model.kind != "binary")
    decisions = tuple(pair.decision(k, place < full) for place, k in enumerate(wanted))
    answer: str | None = pair.answer
    if model.threshold is not None and not pair.answered:
        share = f"{100 * model.threshold.wanted:g} %"
        notes.insert(0, f"no prediction: the probability of the label is too low for a precision of {share}")
        answer = None
    best = None if pair.probabilities is None else float(pair.probabilities[pair.order[0]])
    if best is not None and pair.probabilities is not None and pair.probabilities.max() > best:
        notes.append("the highest decision value is predicted, although another label is as probable")
    return Explanation(
        w1, w2, model.kind, answer, best, trained, counts, (), tuple(notes), decisions,
    )  # fmt: skip
