"""A model from examples of one relation: the pairs of the relation against all other pairs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis, BasisSize
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import InputError, UsageError
from bagpack.find.examples import NO, UNNAMED, Examples, Pair
from bagpack.find.negatives import draw_negatives, number_to_draw
from bagpack.find.similar import SimilarExamples
from bagpack.find.vocabulary import Vocabulary, corpus_vocabulary, targets_of
from bagpack.learn.calibration import fit_calibration
from bagpack.learn.fitting import SvmSettings, fit_counts, shared_grams
from bagpack.learn.held_out import calibrate, hold_out
from bagpack.learn.model import LinearModel, pair_hashes
from bagpack.learn.presets import Preset, get_preset, modern
from bagpack.learn.targets import encode_targets
from bagpack.numbers import many
from bagpack.parallel import Progress
from bagpack.sources import as_source
from bagpack.vectors.counted import count_remembered
from bagpack.vectors.matrix import BlockMatrix

# With a few examples, the contexts of the two words together say more than those of each: docs/finding.md.
FEW_EXAMPLES = modern("modern", v12=2.0)


@dataclass(frozen=True)
class Trained:
    """A model of one relation, and what it was trained on."""

    model: LinearModel
    label: str
    examples: Examples
    drawn: tuple[Pair, ...]
    seed: int
    unknown: tuple[str, ...] = ()  # words of the examples that the corpus does not contain
    f1: float | None = None  # cross-validated, over all training pairs
    # The counts of the positives, negatives and drawn pairs, and their held-out decision values.
    matrix: BlockMatrix | None = field(default=None, repr=False, compare=False)
    held_out: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    def similar(self, side: int) -> SimilarExamples | None:
        """What the examples say about the partners of a word in the first (0) or second (1) place.

        None if no partner recurs in the examples, or if the model does not use the contexts of single words.
        """
        if self.matrix is None or ("v1", "v2")[side] not in self.model.block_names:
            return None
        positives = len(self.examples.positives)
        similar = SimilarExamples(self.matrix[:positives], self.model, side)
        if not similar.weight:
            return None
        if self.held_out is not None:
            values = self.held_out + similar.added(self.matrix)
            truth = np.arange(len(values)) < positives
            similar.curve = fit_calibration(values[:, None], truth[:, None], "binary").curves[0]
        return similar

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the training pairs, one sentence each."""
        positives, negatives = len(self.examples.positives), len(self.examples.negatives)
        given = f"{positives:,} example{'s' if positives > 1 else ''}"
        given += "" if self.label == UNNAMED else f" of {self.label}"
        if negatives:
            given += f" and {negatives:,} of other pairs"
        notes = [f"trained on {given}"]
        if several := len(self.examples.with_other_labels):
            have, count = (
                ("1 pair has", "it counts") if several == 1 else (f"{several:,} pairs have", "they count")
            )
            notes.append(f"{have} the label {self.label} and another one; {count} as {self.label}")
        if self.drawn:
            mix = "" if self.model.calibration is None else "; probabilities refer to this mix"
            notes.append(
                f"negatives: {many(len(self.drawn), 'co-occurring pair')} drawn (seed {self.seed}){mix}"
            )
        if self.model.calibration is None:
            notes.append("one example is too few for probabilities, so pairs are ranked by the model's score")
        if self.unknown:
            shown = ", ".join(self.unknown[:5]) + (" …" if len(self.unknown) > 5 else "")
            notes.append(f"words of the examples that the corpus does not contain: {shown}")
        return notes


def train_on_examples(
    corpus: Corpus | ContextSource, examples: Examples, *, negatives: int | None = None,
    drawn: Sequence[Pair] | None = None, seed: int = 0, vocabulary: Vocabulary | None = None,
    preset: str | Preset = "modern", condition: str = "v1v2v12", C: float | None = None, b: BasisSize = 1500,
    basis: Basis | None = None, settings: CountSettings | None = None, n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Trained:  # fmt: skip
    """Train a model that separates the pairs of a relation from all other pairs.

    Parameters
    ----------
    negatives
        How many co-occurring pairs that are not examples are drawn from the corpus; None: ten for each positive, from
        200 to 4,000. 0 draws none.
    drawn
        Pairs that were drawn before, which are used again: a retrained model is compared with the last one on the same
        negatives. Those that are examples by now are dropped.
    vocabulary
        The words that drawn pairs are made of; None takes the frequent words of the corpus.
    preset
        How counts become features; `modern` is the variant for few examples, with v12 counted twice.
    """
    if negatives is not None and negatives < 0:
        raise UsageError(f"--negatives must be at least 0, not {negatives}")
    source = as_source(corpus)
    settings = settings or CountSettings()
    preset = FEW_EXAMPLES if preset == FEW_EXAMPLES.name else get_preset(preset)
    examples, unknown = _usable(source, examples)
    if drawn is None:
        number = number_to_draw(len(examples.positives)) if negatives is None else negatives
        drawn = []
        if number:
            if progress:
                progress("negatives", 0, 0)
            vocabulary = vocabulary or corpus_vocabulary(source)
            drawn = draw_negatives(
                source,
                examples,
                vocabulary,
                number,
                seed=seed,
                between=settings.windows.between,
                n_jobs=n_jobs,
            )
    taken = {frozenset(pair) for pair in examples.negatives} | set(map(frozenset, examples.positives))
    own = set(examples.pairs)
    drawn = [
        pair for pair in drawn
        if pair not in own and (frozenset(pair) not in taken or (pair[::-1] in own and not examples.is_symmetric))
    ]  # fmt: skip
    if not drawn and not examples.negatives:
        if negatives == 0:
            raise UsageError(
                "there are no negative examples, and --negatives 0 draws none; add pairs with the label no, or drop "
                "--negatives"
            )
        raise InputError(
            "there are no negative examples, and none could be drawn from the corpus: no two words of it co-occur; "
            "add pairs with the label no"
        )
    pairs = [*examples.positives, *examples.negatives, *drawn]
    labels = [examples.label] * len(examples.positives) + [_no(examples.label)] * (
        len(pairs) - len(examples.positives)
    )
    basis = basis or source.pick_basis(b, n_jobs)
    matrix = count_remembered(source, pairs, basis, settings, n_jobs, progress)
    if progress:
        progress("model", 0, 0)
    targets = encode_targets(labels)
    svm = SvmSettings(preset.C if C is None else C)
    grams = shared_grams(matrix, [condition], preset, svm)
    model = fit_counts(matrix, targets, condition, preset, svm, grams=grams)
    f1 = scores = None
    if len(examples.positives) > 1:  # with one, no fold could hold it out
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            held_out = hold_out(matrix, targets, condition, preset, svm, grams=grams)
            model = calibrate(model, matrix, targets, preset, svm, held_out=held_out)
        if held_out is not None:
            output, sign = model.output_of(examples.label)
            scores = sign * held_out.decisions[:, output]
            f1 = _f1(scores, len(examples.positives))
    model = replace(model, trained=np.unique(pair_hashes(examples.pairs)))  # drawn pairs may be found
    return Trained(model, examples.label, examples, tuple(drawn), seed, unknown, f1, matrix, scores)


def _f1(scores: NDArray[np.float64], positives: int) -> float:
    """F1 of the label, each pair predicted by a model that was not trained on it."""
    from sklearn.metrics import f1_score

    return float(f1_score(np.arange(len(scores)) < positives, scores > 0, zero_division=0.0))


def _no(label: str) -> str:
    return NO if label != NO else f"not {NO}"


def _usable(source: ContextSource, examples: Examples) -> tuple[Examples, tuple[str, ...]]:
    """The examples without pairs of a word that the corpus does not contain, and these words."""
    target = targets_of(source, examples.pairs)
    unknown = tuple(word for word in target if target[word] is None)
    where = examples.path or "the examples"
    if not examples.positives:
        raise InputError(f"{where} has no positive example; add pairs of the relation")

    def known(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        return tuple((w1, w2) for w1, w2 in pairs if target[w1] is not None and target[w2] is not None)

    usable = replace(
        examples,
        positives=known(examples.positives),
        negatives=known(examples.negatives),
        with_other_labels=known(examples.with_other_labels),
    )
    if not usable.positives:
        shown = ", ".join(unknown[:5])
        raise InputError(
            f"{where} has no example whose two words the corpus contains (it lacks {shown}); check the corpus's "
            f"language and level, or give other examples"
        )
    return usable, unknown
