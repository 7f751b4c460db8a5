"""Finding new pairs of a relation: from examples, a model or one pair to a ranked list with sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack import parallel
from bagpack.contexts.concordance import Context
from bagpack.contexts.targets import ContextSource, Target
from bagpack.errors import UsageError
from bagpack.explain.decision import Decision
from bagpack.explain.explanation import explain_pair
from bagpack.find.candidates import Pool, ScoredPool, collect_pool
from bagpack.find.examples import UNNAMED, Examples, as_examples
from bagpack.find.like import LIKE, make_prototype
from bagpack.find.options import FindOptions
from bagpack.find.sentences import best_lines
from bagpack.find.slots import Places
from bagpack.find.training import Trained, train_on_examples
from bagpack.find.vocabulary import targets_of
from bagpack.learn.model import LinearModel
from bagpack.numbers import many
from bagpack.parallel import on_threads
from bagpack.sheets import Cell
from bagpack.sources import as_source
from bagpack.tasks.pairs import BACKGROUND, NO_LABELS, Pair
from bagpack.vectors.counts import KEY_SEPARATOR, PairCounts
from bagpack.vectors.word_classes import class_names

LIKES = 3  # training pairs or words that a reason names
RECOMBINED = 0.25  # of a list, at most, are pairs of two words of the examples


@dataclass(frozen=True)
class FoundPair:
    """A pair that was found.

    Attributes
    ----------
    score
        What pairs are ranked by: the model's score and the fit of the words, both as z-scores over the candidates.
    together, n_w1, n_w2
        How often the pair co-occurs and the words occur in the corpus.
    sentence, document
        The sentence with the highest score, and its document.
    reasons
        Why it was found: what decided, and the training pairs and words that it is like.
    """

    rank: int
    w1: str
    w2: str
    score: float
    together: int
    n_w1: int
    n_w2: int
    sentence: str = ""
    document: str = ""
    reasons: str = ""


COLUMNS = tuple(field.name for field in fields(FoundPair))


@dataclass(frozen=True)
class Found(Sequence[FoundPair]):
    """The pairs found, best first; a sequence of rows.

    ``pandas.DataFrame(found.to_dicts())`` is a table of them. ``lines`` has the sentences in their parts, for
    highlighting; ``notes`` what a reader must know; ``model`` is the model that ranked them.
    """

    label: str
    rows: tuple[FoundPair, ...]
    candidates: int
    scored: int
    notes: tuple[str, ...] = ()
    lines: tuple[Context | None, ...] = ()
    model: LinearModel | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    @property
    def title(self) -> str:
        """For a page; examples without a label have no relation to name."""
        return "Pairs found" if self.label == UNNAMED else f"Pairs found: {self.label}"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Each row as a dictionary."""
        return [asdict(row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "label": self.label,
            "candidates": self.candidates,
            "scored": self.scored,
            "notes": list(self.notes),
            "pairs": self.to_dicts(),
        }

    def table(self) -> list[list[Cell]]:
        """A header and the rows, for a file."""
        return [list(COLUMNS), *([getattr(row, name) for name in COLUMNS] for row in self.rows)]


def find_pairs(
    corpus: ContextSource | str | Path, examples: Any = None, *, model: LinearModel | None = None,
    like: Pair | None = None, columns: Mapping[str, str] | None = None, options: FindOptions | None = None,
    **more: Any,
) -> Found:  # fmt: skip
    """Find new pairs of a relation in a whole corpus, best first, each with a sentence.

    Parameters
    ----------
    corpus
        A corpus, or the path of a store.
    examples
        Pairs of the relation: a sequence of pairs, a data frame or a file with columns w1, w2 and, optionally, label.
        Or what `train_on_examples` returned.
    model
        A trained model instead of examples.
    like
        One pair instead of examples: pairs like it are found without training.
    columns
        Names of the columns of ``examples``, where they are not recognised.
    options, more
        A `FindOptions`, or its fields.

    Examples
    --------
    >>> found = find_pairs("my.bp", [("wheel", "car"), ("page", "book"), ("finger", "hand")], top=20)  # doctest: +SKIP
    >>> pandas.DataFrame(found.to_dicts())  # doctest: +SKIP
    """
    if sum(given is not None for given in (examples, model, like)) != 1:
        raise UsageError("say what to look for: either examples, or a model, or one pair")
    asked = options or FindOptions(**more)
    source = as_source(corpus)
    trained = places = None
    known: list[Pair] = []
    if model is not None:
        model, label, notes = model.calibrated, label_to_find(model, asked.label), _about_background(model)
    elif like is not None:
        model, notes = make_prototype(source, like)
        label, known = LIKE, [like]
    else:
        trained = examples
        if not isinstance(trained, Trained):
            with on_threads():  # starting processes would take longer
                trained = train_on_examples(
                    source, as_examples(examples, asked.label, columns), seed=asked.seed
                )
        model, label, notes = trained.model, trained.label, trained.notes
        known = list(trained.examples.pairs)
        parallel.progress()("word vectors", 0, 0)
        places = Places.of(source, trained, asked)
    pool = collect_pool(source, model, label, asked, trained, places)
    scored = pool.scored(model, label, places)
    if places is not None:
        notes = [*notes, *_about_places(places, scored)]
    marked = known_pairs(source, [*asked.known, *known], scored.counts, model)
    chosen, skipped = choose_pairs(scored, pool, marked, trained.examples if trained else None)
    rows = tuple(_row(scored, index, rank) for rank, index in enumerate(chosen, 1))
    notes = [*notes, *_about_list(pool, asked, skipped, int(marked.sum()))]
    found = Found(str(label), rows, pool.candidates, len(pool), tuple(notes), model=model)
    found = add_reasons(found, source, asked.explain)
    return add_sentences(found, source, model) if asked.sentences else found


def _about_background(model: LinearModel) -> list[str]:
    if model.kind == "multiclass" and not model.manifest.get(BACKGROUND):
        return [
            "the model was trained without background pairs, so the PMI of the two words is added to its score; a "
            "model of bagpack train --background has seen what other pairs are like"
        ]
    return []


def _about_places(places: Places, scored: ScoredPool) -> list[str]:
    if not scored.weight:
        return ["the kinds of words do not matter: the examples are found better without them"]
    notes = [f"words that are used like those of the examples rank higher (weight {scored.weight:g})"]
    shown = [class_names(kinds) for kinds in places.kinds]
    if any(shown):
        notes.append(
            f"parts of speech: {shown[0] or 'any'} – {shown[1] or 'any'} (--pos1 and --pos2 change them)"
        )
    return notes


def label_to_find(model: LinearModel, label: Any) -> Any:
    """The label that is looked for; an error where the model leaves a choice and none is made."""
    if model.kind == "rating":
        if label is not None:
            raise UsageError(f"the model predicts ratings, so there is no label {label!r}")
        return None
    if label is None:
        labels = [own for own in model.classes if str(own).lower() not in NO_LABELS]
        if len(labels) != 1:
            shown = ", ".join(map(str, model.classes))
            raise UsageError(f"the model has several labels; choose the one to find with --label: {shown}")
        return labels[0]
    return model.label_named(label)


# Ranking --------------------------------------------------------------------------------------------------------


def known_pairs(
    source: ContextSource, pairs: Iterable[Pair], counts: PairCounts, model: LinearModel | None = None
) -> NDArray[np.bool_]:
    """Which rows are known or were trained on: by the keys of their words, so in any form and in either order."""
    listed = list(pairs)
    target = targets_of(source, listed)
    known = {frozenset(map(_key, (target[one], target[two]))) for one, two in listed}
    keys = [_key(target) for target in counts.targets]
    marked = np.array([frozenset((keys[a], keys[b])) in known for a, b in counts.rows.tolist()], np.bool_)
    if model is not None:
        marked |= model.trained_on(counts) | model.trained_on(counts.reversed())
    return marked


def _key(target: Target | None) -> str:
    return "" if target is None else KEY_SEPARATOR.join(target.words)


def choose_pairs(
    scored: ScoredPool, pool: Pool, known: NDArray[np.bool_], examples: Examples | None = None
) -> tuple[list[int], int]:
    """Numbers of the pairs of a list, and how many were skipped because of their words.

    No word occurs too often in a place, and pairs of two words of the examples are at most a quarter of the list: they
    can be right, but say little that is new.
    """
    asked = pool.asked
    limits = [None if is_fixed else asked.per_word for is_fixed in asked.fixed]
    own: set[str] = set()
    if examples is not None and not any(asked.fixed):
        own = {_key(target) for target in targets_of(pool.source, examples.positives).values()}
    is_own = [_key(target) in own for target in scored.counts.targets] if own else []
    used: tuple[dict[int, int], dict[int, int]] = ({}, {})
    chosen: list[int] = []
    recombined = limited = 0
    for index in scored.order().tolist():
        if len(chosen) == asked.top:
            break
        if known[index]:
            continue
        pair = scored.counts.rows[index].tolist()
        both = bool(own) and is_own[pair[0]] and is_own[pair[1]]
        if (both and recombined >= RECOMBINED * (len(chosen) + 1)) or any(
            limit is not None and counts.get(word, 0) >= limit
            for word, counts, limit in zip(pair, used, limits, strict=True)
        ):
            limited += 1
            continue
        recombined += both
        for word, counts in zip(pair, used, strict=True):
            counts[word] = counts.get(word, 0) + 1
        chosen.append(index)
    return chosen, limited


def _row(scored: ScoredPool, index: int, rank: int) -> FoundPair:
    counts = scored.counts
    w1, w2 = (counts.name_list[k] for k in counts.rows[index].tolist())
    n_w1, n_w2 = counts.totals[index, :2].tolist()
    return FoundPair(rank, w1, w2, round(float(scored.value[index]), 6), int(counts.seen[index]), n_w1, n_w2)


def _about_list(pool: Pool, asked: FindOptions, skipped: int, known: int) -> list[str]:
    """How many candidates there were, and which are not in the list."""
    if not len(pool):
        return ["there are no candidate pairs: no two words co-occur often enough; use a larger corpus"]
    best = "all" if pool.candidates <= len(pool) else f"the best {len(pool):,}"
    notes = [f"{many(pool.candidates, 'candidate pair')}, {best} scored in full"]
    if skipped:
        notes.append(
            f"{many(skipped, 'pair')} skipped, so that no word occurs more than {asked.per_word} times in a place, and "
            f"most pairs have a word that no example has"
        )
    if known:
        notes.append(f"{many(known, 'known pair')} excluded")
    if pool.unknown:
        shown = ", ".join(pool.unknown[:5]) + (" …" if len(pool.unknown) > 5 else "")
        notes.append(f"{many(len(pool.unknown), 'term')} of the list not in the corpus: {shown}")
    return notes


def add_sentences(found: Found, source: ContextSource, model: LinearModel) -> Found:
    """The same rows with the best sentence of each."""
    parallel.progress()("sentences", 0, 0)
    label = label_to_find(model, found.label if model.kind != "rating" else None)
    listed = best_lines(source, model, [(row.w1, row.w2) for row in found.rows], label, most=1)
    lines = tuple(own[0] if own else None for own in listed)
    rows = tuple(
        row if line is None else replace(row, sentence=line.text, document=line.document)
        for row, line in zip(found.rows, lines, strict=True)
    )
    return replace(found, rows=rows, lines=lines)


def add_reasons(found: Found, source: ContextSource, number: int) -> Found:
    """The same rows, the first of them with their reasons."""
    model = found.model
    if not number or model is None:
        return found
    rows = list(found.rows)
    labels = None if model.kind == "rating" else [found.label]
    for at, row in enumerate(rows[:number]):
        why = explain_pair(model, source, row.w1, row.w2, labels=labels, lines=0).decisions[0]
        rows[at] = replace(row, reasons=_say_reasons(row, why))
    return replace(found, rows=tuple(rows))


def _say_reasons(row: FoundPair, why: Decision) -> str:
    """A decision in one line: what decided, and the training pairs and words that the pair is most like."""
    names = {"first": row.w1, "second": row.w2, "together": "together"}
    likes = [
        f"{names[part.name]} like {', '.join(like.name for like in part.alike[:LIKES])}"
        for part in why.parts
        if part.alike
    ]
    return "; ".join([*filter(None, [why.summary]), *likes])
