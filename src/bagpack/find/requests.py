"""A search as it is asked for by a command or a page: where the examples are, what to look for, how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bagpack.basis import Basis, BasisSize
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.find.background import MANIFEST
from bagpack.find.examples import Pair, read_examples
from bagpack.find.pool import MIN_COUNT, SCORED, CandidateOptions
from bagpack.find.ranking import PER_WORD, TOP, Found, check_limits, find_pairs
from bagpack.find.vocabulary import Vocabulary, read_vocabulary
from bagpack.learn.model import LinearModel
from bagpack.learn.types import Label
from bagpack.numbers import many
from bagpack.parallel import Progress, on_threads
from bagpack.sources import open_source
from bagpack.tasks import read_pairs

if TYPE_CHECKING:
    from bagpack.find.training import Trained


@dataclass(frozen=True)
class FindRequest:
    """Parameters of `bagpack find`; see `find_pairs` and `train_on_examples`."""

    examples: str | None = None
    label: str | None = None
    model: str | None = None
    like: Pair | None = None
    w1: str | None = None
    w2: str | None = None
    among: str | None = None
    known: str | None = None
    mark_known: bool = False
    top: int = TOP
    per_word: int | None = PER_WORD
    min_count: int | None = None
    min_together: int = 2
    never_meeting: int = 0
    scored: int | None = None
    negatives: int | None = None
    columns: Mapping[str, str] | None = None
    any_store: bool = False
    preset: str = "modern"
    seed: int = 0
    b: BasisSize = 1500
    basis: str | None = None
    settings: CountSettings = field(default_factory=CountSettings)

    def __post_init__(self) -> None:
        check_limits(self.top, self.per_word)
        CandidateOptions(  # wrong numbers are reported before a model is trained
            self.w1, self.w2, None, least_count(self.min_count), self.min_together,
            SCORED if self.scored is None else self.scored, self.never_meeting,
        )  # fmt: skip


def run_request(
    store: str | Path, request: FindRequest, n_jobs: int | None = None, progress: Progress | None = None
) -> Found:
    """Train a model if none is given, and find pairs."""
    known: list[Pair] = []
    if request.known is not None:
        known += read_pairs(request.known).pairs
    model, label, source, notes, examples = _model(store, request, n_jobs, progress)
    known += examples
    vocabulary = None if request.among is None else read_vocabulary(source, request.among)
    found = find_pairs(
        source, model, label, w1=request.w1, w2=request.w2, among=vocabulary, known=known,
        mark_known=request.mark_known, min_count=least_count(request.min_count, vocabulary),
        min_together=request.min_together, top=request.top, per_word=request.per_word, scored=request.scored,
        never_meeting=request.never_meeting, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    return replace(found, notes=(*notes, *found.notes))


def least_count(given: int | None, vocabulary: Vocabulary | None = None) -> int:
    """How often a word must occur: as given, or 5 times; every term of a list is wanted."""
    if given is not None:
        return given
    return MIN_COUNT if vocabulary is None else 1


def _model(
    store: str | Path, request: FindRequest, n_jobs: int | None, progress: Progress | None
) -> tuple[LinearModel | Trained, Label, ContextSource, list[str], list[Pair]]:
    if request.model is not None:
        from bagpack.learn.model_io import load_model

        model = load_model(request.model)
        source = model.open_source(store, request.any_store)
        return model, request.label, source, [f"model: {request.model}", *_about_background(model)], []
    if request.like is None:
        assert request.examples is not None
        examples = read_examples(request.examples, request.label, request.columns)
    source = open_source(store)
    basis = None if request.basis is None else Basis.open_for(request.basis, source)
    if progress and basis is None:
        progress("basis", 0, 0)
    if request.like is not None:
        from bagpack.find.like import LIKE, make_prototype

        prototype = make_prototype(
            source,
            request.like,
            b=request.b,
            basis=basis,
            settings=request.settings,
            n_jobs=n_jobs,
            progress=progress,
        )
        return prototype.model, LIKE, source, prototype.notes, [request.like]
    from bagpack.find.training import train_on_examples

    with on_threads():  # starting processes would take longer
        trained = train_on_examples(
            source, examples, negatives=request.negatives, seed=request.seed, preset=request.preset, b=request.b,
            basis=basis, settings=request.settings, n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
    return trained, trained.label, source, trained.notes, list(examples.pairs)


def _about_background(model: LinearModel) -> list[str]:
    """What probabilities of a model of labels refer to."""
    if model.kind == "rating":
        return []
    if drawn := model.manifest.get(MANIFEST):
        return [
            f"probabilities refer to its training pairs and {many(drawn['pairs'], 'pair')} drawn from the corpus"
        ]
    return [
        "probabilities refer to its training pairs alone, and pairs in none of its relations may have a high one; they "
        "are ranked by probability and PMI; bagpack train --background 2000 makes a model for finding"
    ]
