"""What the web server knows of the relation on the page for finding: nothing, or the files of `bagpack teach`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bagpack.app.finding import FoundRow, Task, task_from
from bagpack.errors import InputError, UsageError
from bagpack.find.answers import Answers
from bagpack.find.examples import UNNAMED, Pair


class Session:
    """One relation for all tabs with `bagpack teach`; otherwise each page keeps its examples and answers itself.

    ``file`` is the name of the file that answers are saved to, ``relation`` the name of the relation; both may be
    empty. ``progress`` is where a search notes what it is doing.
    """

    def __init__(self, answers: Answers | None = None) -> None:
        self.answers = answers
        self.offered: set[Pair] = set()
        self.progress = os.path.join(tempfile.gettempdir(), f"bagpack-find-{os.getpid()}.json")
        self.file = "" if answers is None else answers.path.name
        label = UNNAMED if answers is None else answers.examples.label
        self.relation = "" if label == UNNAMED else label

    def task(self, given: Any) -> Task:
        """What a request asks for; with `bagpack teach`, examples and answers are those of the files."""
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except ValueError:
                raise UsageError("the state of a search is JSON, and this is not") from None
        task = task_from(given)
        if self.answers is None:
            if not task.pairs:
                raise UsageError("there are no examples; give a few pairs of the relation")
            return task
        examples = self.answers.examples
        answered = tuple((*pair, right) for pair, right in self.answers.answered)
        return replace(
            task,
            pairs=examples.positives,
            negatives=examples.negatives,
            answers=answered,
            label=examples.label,
        )

    def offer(self, rows: Iterable[FoundRow]) -> None:
        """Remember which pairs were offered: only these can be answered."""
        if self.answers is not None:
            self.offered.update((row.w1, row.w2) for row in rows)

    def answer(self, pair: Pair, answer: str) -> None:
        """Save an answer, or take the last one back."""
        if self.answers is None:
            raise UsageError(
                "no file was named, so the page keeps the answers; bagpack teach saves them to a file"
            )
        if answer == "undo":
            self.answers.undo()
        elif answer not in ("yes", "no"):
            raise UsageError(f"{answer!r} is not an answer; it is yes, no or undo")
        elif pair not in self.offered:
            raise InputError(f"{' – '.join(pair)} was not offered, so an answer to it is not taken")
        else:
            self.answers.add(pair, answer == "yes")

    def to_dict(self) -> dict[str, Any]:
        """The examples and answers of the files, for a page."""
        pairs = [] if self.answers is None else [list(pair) for pair in self.answers.examples.positives]
        answers = [] if self.answers is None else [[*pair, right] for pair, right in self.answers.answered]
        return {"file": self.file, "label": self.relation, "pairs": pairs, "answers": answers}

    def close(self) -> None:
        """Remove the note of progress."""
        if os.path.exists(self.progress):
            os.unlink(self.progress)
