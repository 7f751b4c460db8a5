"""One way in for commands that take any kind of data set, such as ``bagpack check``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bagpack.errors import InputError
from bagpack.tasks.dataset import Dataset, Kind, read_dataset
from bagpack.tasks.pairs import PairList, read_pairs
from bagpack.tasks.question_texts import text_format
from bagpack.tasks.questions import QuestionSet, read_questions
from bagpack.tasks.textfile import TextFile, read_text_file


def read_any(
    path: str | Path, task: Kind | None = None, columns: Mapping[str, str] | None = None
) -> PairList | Dataset | QuestionSet:
    """Read questions, labelled or rated pairs, or bare pairs: whatever the file holds.

    Questions are told by their form. A table with a label or a score becomes a :class:`Dataset`, one without
    either (or with both and no ``task``) a :class:`PairList`: for counting pairs it is enough.
    """
    file = read_text_file(path)
    words = {name: given for name, given in (columns or {}).items() if name in ("w1", "w2")}
    try:
        pairs = read_pairs(file, words)
    except InputError:
        if file.suffix not in (".tsv", ".csv") and _is_questions(file):
            return read_questions(file)
        raise
    return with_labels_or_scores(file, pairs, task, columns)


def with_labels_or_scores(
    file: TextFile, pairs: PairList, task: Kind | None = None, columns: Mapping[str, str] | None = None
) -> PairList | Dataset:
    """The table's pairs as a data set if one column alone can be meant by it, as they are otherwise."""
    wanted = columns or {}
    has_label = "label" in wanted or bool({"label", "relation"} & pairs.extra.keys())
    has_score = "score" in wanted or bool({"score", "rating"} & pairs.extra.keys())
    both = "label" in pairs.extra and has_score and not ({"label", "score"} & wanted.keys())
    if task is None and (both or not (has_label or has_score)):
        return pairs
    return read_dataset(file, task, columns)


def _is_questions(file: TextFile) -> bool:
    try:
        text_format(file)
    except InputError:
        return False
    return True
