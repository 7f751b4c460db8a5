"""A relation that is being taught: the answers, the candidates' present ranking, and what to ask next.

The session is in the web server; the model is trained, and sentences are looked up, in workers.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from bagpack.app.state import Library
from bagpack.app.workers import PAGES, TEACH, WorkerPool
from bagpack.errors import BagpackError, InputError
from bagpack.explain.lines import mark_line
from bagpack.find.answers import AnswerFile
from bagpack.find.examples import NO, Examples, Pair
from bagpack.find.sentences import best_lines
from bagpack.find.teaching import LINES, Ranking
from bagpack.learn.model import LinearModel

Json = dict[str, Any]
LAST = 20  # answers whose precision is shown
LISTED = 20
TERMS = 40  # features with the largest weights, whose terms are highlighted
YES, SKIP = "yes", "skip"


# In workers --------------------------------------------------------------------------------------------------------


def rank(
    library: Library, examples: Examples, answered: list[tuple[Pair, bool]]
) -> tuple[Ranking, LinearModel]:
    """Train on the examples, and rank the candidates."""
    assert library.teaching is not None
    return library.teaching.rank(examples, answered), library.teaching.trained.model


def lines(library: Library, model: LinearModel, label: str, pair: Pair) -> list[Json]:
    """The best sentences of a pair, with both words and the strongest terms marked."""
    assert model.counting is not None and model.basis is not None
    terms = list(
        dict.fromkeys(
            name.split(":", 2)[2] for name, weight in model.strongest(label, TERMS)
            if name.startswith("v12:") and weight > 0
        )
    )  # fmt: skip
    targets = [target for target in library.source.resolve(pair) if target is not None]
    windows = model.counting.windows
    lengths = [len(target.keys) for target in targets]
    found = []
    for line in best_lines(library.source, model, [pair], label, LINES)[0]:
        shard = library.background.shards[line.shard]
        minus = line.order == "-"
        reach = line.position - windows.left, line.second + lengths[0 if minus else 1] + windows.right
        spans = mark_line(shard, line, targets, lengths, windows, reach, terms)
        found.append({"document": line.document, "text": line.text, "spans": list(spans)})
    return found


# In the web server -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """The share of yes among the last 20 answers after some answers."""

    answers: int
    precision: float | None


@dataclass(eq=False)
class TeachSession:
    """The state of teaching: one for all tabs."""

    file: AnswerFile
    workers: WorkerPool
    notes: tuple[str, ...]
    ranking: Ranking | None = None
    model: LinearModel | None = None
    problem: str = ""
    skipped: list[Pair] = field(default_factory=list)
    curve: list[Point] = field(default_factory=list)
    _done: list[str] = field(default_factory=list)  # what undo takes back: answer or skip
    _training: asyncio.Task[None] | None = None
    _stale: bool = True

    @property
    def training(self) -> bool:
        """Whether a model with the last answers is on its way."""
        return self._training is not None and not self._training.done()

    async def ready(self) -> None:
        """Wait for the first ranking."""
        self.train()
        if self.ranking is None and self._training is not None:
            await self._training

    def train(self) -> None:
        """Train in the background if there are new answers."""
        if self._stale and not self.training:
            self._training = asyncio.get_running_loop().create_task(self._train())

    async def _train(self) -> None:
        while self._stale:
            self._stale = False
            try:
                answers = len(self.file.answered)
                answered = [(pair, label == self.file.label) for pair, label in self.file.answered]
                ranking, self.model = await self.workers.run(rank, self.file.examples, answered, lane=TEACH)
                self.ranking, self.problem = ranking, ""
                self.curve.append(Point(answers, self.precision()))
            except BagpackError as error:
                self.problem = str(error)

    def precision(self) -> float | None:
        """The share of yes among the last answers, of this session and earlier ones."""
        last = [label for _, label in self.file.answered[-LAST:]]
        return sum(label == self.file.label for label in last) / len(last) if last else None

    def asked(self) -> list[Pair]:
        """Pairs that are not to be asked about again."""
        return [*(pair for pair, _ in self.file.answered), *self.skipped]

    def questions(self, number: int) -> list[Json]:
        """The pairs to ask about next."""
        if self.ranking is None:
            return []
        asked = self.asked()
        chosen = self.ranking.questions(number, asked=asked, turn=len(asked))
        best = max(float(self.ranking.value.max(initial=0.0)), 1e-9)
        return [
            {
                "w1": self.ranking.pairs[k][0],
                "w2": self.ranking.pairs[k][1],
                "score": float(self.ranking.value[k]),
                "share": min(max(float(self.ranking.value[k]) / best, 0.0), 1.0),
                "together": int(self.ranking.together[k]),
            }
            for k in chosen
        ]

    async def lines(self, question: Json) -> list[Json]:
        """The sentences of a question."""
        if self.model is None:
            return []
        pair = question["w1"], question["w2"]
        return await self.workers.run(lines, self.model, self.file.label, pair, lane=PAGES, keep=True)

    def answer(self, pair: Pair, answer: str, label: str = "") -> str:
        """Take an answer: yes, no, skip, or another label. Returns the label a pair already had, or nothing."""
        if (known := self.file.label_of(pair)) is not None:
            return known  # from another tab
        if self.ranking is None or pair not in self.ranking.pairs:
            raise InputError(f"{' – '.join(pair)} was not asked about, so an answer to it is not taken")
        if answer == SKIP:
            if pair not in self.skipped:
                self.skipped.append(pair)
                self._done.append(SKIP)
            return ""
        given = {YES: self.file.label, NO: NO}.get(answer, label)
        if answer not in (YES, NO, "label"):
            raise InputError(f"{answer!r} is not an answer; it is yes, no, label or skip")
        self.file.add(pair, given)
        self._done.append("answer")
        self._stale = True
        self.train()
        return ""

    def undo(self) -> Pair:
        """Take back the last answer or skip of this session."""
        if not self._done:
            raise InputError("there is nothing to undo in this session; edit the file for older answers")
        if self._done[-1] == SKIP:
            self._done.pop()
            return self.skipped.pop()
        pair = self.file.undo().pair
        self._done.pop()
        self._stale = True
        self.train()
        return pair

    def to_dict(self, number: int) -> Json:
        """For JSON, without sentences."""
        answered = self.file.answered
        yes = sum(label == self.file.label for _, label in answered)
        return {
            "label": self.file.label,
            "labels": self.file.labels,
            "file": self.file.path.name,
            "annotator": self.file.annotator,
            "questions": self.questions(number),
            "answers": len(answered),
            "yes": yes,
            "skipped": len(self.skipped),
            "examples": list(self.ranking.examples) if self.ranking else [0, 0],
            "precision": self.precision(),
            "held_out": self.ranking.held_out if self.ranking else None,
            "kept": self.ranking.kept if self.ranking else False,
            "training": self.training,
            "undo": bool(self._done),
            "problem": self.problem,
            "notes": list(self.notes),
            "curve": [vars(point) for point in self.curve],
        }
