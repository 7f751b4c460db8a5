"""Finding new pairs of a relation: from examples, a model or one pair to a ranked list with sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bagpack import parallel
from bagpack.arrays import Bools
from bagpack.contexts.concordance import Context
from bagpack.contexts.targets import ContextSource, Target
from bagpack.errors import UsageError
from bagpack.explain.explanation import explain_pair
from bagpack.find.candidates import Pool, ScoredPool, collect_pool, lacks_background
from bagpack.find.examples import UNNAMED, Examples, as_examples
from bagpack.find.options import FindOptions
from bagpack.find.sentences import best_lines
from bagpack.find.slots import Places
from bagpack.find.training import Trained, train_on_examples
from bagpack.find.vocabulary import few, targets_of
from bagpack.learn.model import LinearModel
from bagpack.numbers import many
from bagpack.sheets import Cell
from bagpack.sources import as_source
from bagpack.tasks.pairs import NO_LABELS, Pair
from bagpack.vectors.counts import KEY_SEPARATOR, PairCounts

LIKES = 3  # training pairs or words that a reason names
RECOMBINED = 0.25  # of a list, at most, are pairs of two words of the examples
WITHOUT_BACKGROUND = (
    "the model was trained without background pairs, so the PMI of the two words is added to its score; a model of "
    "bagpack train --background has seen what other pairs are like"
)


@dataclass(frozen=True)
class FoundPair:
    """A pair that was found."""

    rank: int
    w1: str
    w2: str
    score: float  # what pairs are ranked by: the model's score and the fit of the words, both as z-scores
    together: int
    n_w1: int  # how often the first word occurs in the corpus
    n_w2: int
    model_score: float
    line: Context | None = None  # the sentence with the highest score
    reasons: str = ""  # what decided, and the training pairs and words that it is like

    @property
    def pair(self) -> Pair:
        return self.w1, self.w2

    @property
    def sentence(self) -> str:
        return self.line.text if self.line else ""

    @property
    def document(self) -> str:
        return self.line.document if self.line else ""


COLUMNS = (
    "rank", "w1", "w2", "score", "together", "n_w1", "n_w2", "model_score", "sentence", "document", "reasons",
)  # fmt: skip


@dataclass(frozen=True)
class Found(Sequence[FoundPair]):
    """The pairs found, best first; a sequence of rows, and ``notes`` with what a reader must know.

    ``pandas.DataFrame(found.to_dicts())`` is a table of them.
    """

    label: str
    rows: tuple[FoundPair, ...]
    candidates: int
    scored: int
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    @property
    def title(self) -> str:
        """For a page; examples without a label have no relation to name."""
        return "Pairs found" if self.label == UNNAMED else f"Pairs found: {self.label}"

    def table(self) -> list[list[Cell]]:
        """A header and the rows, for a file."""
        return [list(COLUMNS), *([getattr(row, name) for name in COLUMNS] for row in self.rows)]

    def to_dicts(self) -> list[dict[str, Any]]:
        header, *rows = self.table()
        return [dict(zip(map(str, header), row, strict=True)) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        about = {"label": self.label, "candidates": self.candidates, "scored": self.scored}
        return {**about, "notes": list(self.notes), "pairs": self.to_dicts()}


def find_pairs(
    corpus: ContextSource | str | Path, examples: Any = None, *, model: LinearModel | None = None,
    columns: Mapping[str, str] | None = None, options: FindOptions | None = None, **more: Any,
) -> Found:  # fmt: skip
    """Find new pairs of a relation in a whole corpus, best first, each with a sentence.

    Parameters
    ----------
    corpus
        A corpus, or the path of a store.
    examples
        Pairs of the relation, one or more: a sequence of pairs, a data frame or a file with columns w1, w2 and,
        optionally, label. Or what `train_on_examples` returned.
    model
        A trained model instead of examples.
    columns
        Names of the columns of ``examples``, where they are not recognised.
    options, more
        A `FindOptions`, or its fields.

    Examples
    --------
    >>> found = find_pairs("my.bp", [("wheel", "car"), ("page", "book"), ("finger", "hand")], top=20)  # doctest: +SKIP
    >>> pandas.DataFrame(found.to_dicts())  # doctest: +SKIP
    """
    if (examples is None) == (model is None):
        raise UsageError("say what to look for: either examples or a model")
    asked = options or FindOptions(**more)
    source = as_source(corpus)
    trained = places = None
    if model is not None:
        label = label_to_find(model, asked.label)
        notes = [WITHOUT_BACKGROUND] if lacks_background(model) else []
    else:
        trained = examples
        if not isinstance(trained, Trained):
            given = as_examples(examples, asked.label, columns)
            with parallel.on_threads():  # starting processes would take longer
                trained = train_on_examples(source, given, seed=asked.seed)
        model, label, notes = trained.model, trained.label, trained.notes
        parallel.progress()("word vectors", 0, 0)
        places = Places.of(source, trained, asked)
    pool = collect_pool(source, model, label, asked, places)
    scored = pool.scored(model, label, places)
    if places is not None:
        notes = [*notes, *_about_places(places, scored)]
    marked = known_pairs(source, asked.known, scored.counts, model)
    chosen, skipped = choose_pairs(scored, pool, marked, trained.examples if trained else None)
    notes = [*notes, *_about_list(pool, asked, skipped, int(marked.sum()))]
    rows = found_rows(scored, chosen)
    if asked.sentences:
        parallel.progress()("sentences", 0, 0)
        lines = best_lines(source, model, [row.pair for row in rows], label, most=1)
        rows = [replace(row, line=own[0] if own else None) for row, own in zip(rows, lines, strict=True)]
    for at, row in enumerate(rows[: asked.explain]):
        rows[at] = replace(row, reasons=_say_reasons(source, model, label, row.pair))
    return Found(str(label), tuple(rows), pool.candidates, len(pool), tuple(notes))


def _about_places(places: Places, scored: ScoredPool) -> list[str]:
    if not scored.weight:
        return ["the kinds of words do not matter: the examples are found better without them"]
    notes = [f"words that are used like those of the examples rank higher (weight {scored.weight:g})"]
    if any(places.kinds):
        first, second = (name or "any" for name in places.kind_names)
        notes.append(f"parts of speech: {first} – {second} (--pos1 and --pos2 change them)")
    return notes


def label_to_find(model: LinearModel, label: Any) -> Any:
    """The label that is looked for; an error where the model leaves a choice and none is made."""
    if model.kind == "rating":
        if label is not None:
            raise UsageError(f"the model predicts ratings, so there is no label {label!r}; remove --label")
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
) -> Bools:
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
    scored: ScoredPool, pool: Pool, known: Bools, examples: Examples | None = None
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


def found_rows(scored: ScoredPool, chosen: Sequence[int]) -> list[FoundPair]:
    """The chosen pairs, without sentences and reasons."""
    own_counts, rows = scored.counts[list(chosen)], []
    both = zip(chosen, own_counts.pairs, own_counts.totals.tolist(), strict=True)
    for rank, (index, (w1, w2), (n_w1, n_w2, _, _, together)) in enumerate(both, 1):
        value, score = (round(float(own[index]), 6) for own in (scored.value, scored.score))
        rows.append(FoundPair(rank, w1, w2, value, together, n_w1, n_w2, score))
    return rows


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
        notes.append(f"{many(len(pool.unknown), 'term')} of the list not in the corpus: {few(pool.unknown)}")
    return notes


def _say_reasons(source: ContextSource, model: LinearModel, label: Any, pair: Pair) -> str:
    """What decided about a pair, and the training pairs and words that it is most like, as sentences."""
    labels = None if model.kind == "rating" else [label]
    why = explain_pair(model, source, *pair, labels=labels, lines=0, features=False).decisions[0]
    names = {"first": f"{pair[0]} is", "second": f"{pair[1]} is", "together": "the two together are"}
    alike = [(names[p.name], [like.name for like in p.alike if like.name not in pair]) for p in why.parts]
    likes = [f"{name} used like {', '.join(words[:LIKES])}" for name, words in alike if words]
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in (why.summary, *likes) if text)
