"""One way in for commands that take any kind of data set, such as ``bagpack check``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bagpack.errors import BagpackError, InputError
from bagpack.tasks.columns import LABELS, RELATIONS, SCORES, plain
from bagpack.tasks.dataset import Dataset, Kind, read_dataset
from bagpack.tasks.pairs import PairList, find_pair_columns, read_pairs
from bagpack.tasks.question_texts import text_format
from bagpack.tasks.questions import QuestionSet, read_questions
from bagpack.tasks.table import mapped_columns, read_header
from bagpack.tasks.textfile import TextFile, read_text_file


def read_any(
    path: str | Path | TextFile, task: Kind | None = None, columns: Mapping[str, str] | None = None
) -> PairList | Dataset | QuestionSet:
    """Read questions, labelled or rated pairs, or bare pairs: whatever the file holds.

    Questions are recognised by their form. A table with a label or a score becomes a :class:`Dataset`, one without
    either (or with both and no ``task``) a :class:`PairList`: for counting pairs it is enough.
    """
    file = read_text_file(path)
    words = {name: given for name, given in (columns or {}).items() if name not in ("label", "score")}
    may_be_questions = file.sheet is None and file.suffix not in (".tsv", ".csv")
    if may_be_questions and not _has_pairs(file, words) and _is_questions(file):
        return read_questions(file)
    return with_labels_or_scores(file, read_pairs(file, words), task, columns)


def with_labels_or_scores(
    file: TextFile, pairs: PairList, task: Kind | None = None, columns: Mapping[str, str] | None = None
) -> PairList | Dataset:
    """The table's pairs as a data set if one column alone can be meant by it, as they are otherwise."""
    wanted = columns or {}
    names = {plain(name) for name in pairs.extra}
    has_label = "label" in wanted or bool({*LABELS, *RELATIONS} & names)
    has_score = "score" in wanted or bool({*SCORES} & names)
    both = bool({*LABELS} & names) and has_score and not ({"label", "score"} & wanted.keys())
    if task is None and (both or not (has_label or has_score)):
        return pairs
    return read_dataset(file, task, columns)


def _has_pairs(file: TextFile, words: Mapping[str, str]) -> bool:
    """Whether the first line is a header that names the columns of the two words."""
    try:
        table = read_header(file)
        find_pair_columns(table, mapped_columns(table, words))
    except BagpackError:
        return False
    return True


def _is_questions(file: TextFile) -> bool:
    try:
        text_format(file)
    except InputError:
        return False
    return True
