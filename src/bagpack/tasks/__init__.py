"""Data sets: word pairs, relations, ratings and multiple-choice questions, read from files as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.tasks.anyfile import read_any as read_any
    from bagpack.tasks.dataset import Dataset as Dataset
    from bagpack.tasks.dataset import MultiLabel as MultiLabel
    from bagpack.tasks.dataset import read_dataset as read_dataset
    from bagpack.tasks.pairs import PairList as PairList
    from bagpack.tasks.pairs import read_pairs as read_pairs
    from bagpack.tasks.questions import Question as Question
    from bagpack.tasks.questions import QuestionSet as QuestionSet
    from bagpack.tasks.questions import read_questions as read_questions
    from bagpack.tasks.words import distinct_words as distinct_words
    from bagpack.tasks.words import normalise_target as normalise_target
    from bagpack.tasks.words import unordered_pairs as unordered_pairs

_NAMES = {
    "bagpack.tasks.anyfile": ("read_any",),
    "bagpack.tasks.dataset": ("Dataset", "MultiLabel", "read_dataset"),
    "bagpack.tasks.pairs": ("PairList", "read_pairs"),
    "bagpack.tasks.questions": ("Question", "QuestionSet", "read_questions"),
    "bagpack.tasks.words": ("distinct_words", "normalise_target", "unordered_pairs"),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
