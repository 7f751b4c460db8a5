"""A session of teaching without its web server: answers, skips, undo, another tab, and the precision of the last."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from bagpack.app.state import Library
from bagpack.app.teaching import LAST, TeachSession
from bagpack.errors import InputError
from bagpack.find.answers import AnswerFile
from bagpack.find.examples import Examples
from bagpack.find.pool import CandidateOptions
from bagpack.find.teaching import PER_WORD, Teaching

from .conftest import GIVEN


class Here:
    """Runs what workers would run, in this process."""

    def __init__(self, library):
        self.library = library
        self.trained_on = []

    async def run(self, work, examples, lane):
        self.trained_on.append((len(examples.positives), len(examples.negatives)))
        return work(self.library, examples)


@pytest.fixture(scope="module")
def library(source):
    library = Library(source)
    library.teaching = Teaching.start(
        source, Examples("part", tuple(GIVEN)), CandidateOptions(scored=100), b=50, n_jobs=1
    )
    return library


@pytest.fixture
def session(library, tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\tlabel\n" + "".join(f"{a}\t{b}\tpart\n" for a, b in GIVEN))
    return TeachSession(AnswerFile(path), "rank", Here(library), (True, True), ())


def next_pair(session):
    question = session.questions("rank", 1)[0]
    return question["w1"], question["w2"]


def test_skip_undo_and_another_tab(session):
    async def teach():
        await session.ready()
        first = next_pair(session)
        for _ in range(2):  # the second from another tab
            assert session.answer(first, "skip") == ""
        second = next_pair(session)
        assert second != first and session.skipped == [first]
        assert session.answer(second, "yes") == ""
        assert session.answer(second, "no") == "part"  # from another tab: the answer that is there
        await session._training
        assert session.workers.trained_on[-1] == (len(GIVEN) + 1, 0)
        assert [point.answers for point in session.curve] == [0, 1]
        assert next_pair(session) not in (first, second)
        answered = session.file.path.read_bytes()
        session.file.path.write_bytes(answered.replace(b"\tpart\t", b"\tPART\t"))  # by another program
        with pytest.raises(InputError, match="changed by another program"):
            session.undo()
        session.file.path.write_bytes(answered)
        assert session.undo() == second  # the answer was not forgotten
        await session._training
        assert session.workers.trained_on[-1] == (len(GIVEN), 0)
        assert next_pair(session) == second
        by_doubt = session.questions("uncertainty", 1)[0]
        assert session.questions("mix", 1)[0] == by_doubt  # the second question of a mix
        assert (by_doubt["w1"], by_doubt["w2"]) != second
        assert session.undo() == first and session.skipped == []
        assert next_pair(session) == first
        with pytest.raises(InputError, match="nothing to undo"):
            session.undo()
        assert session.file.path.read_bytes() == b"".join(answered.splitlines(keepends=True)[:-1])

    with ThreadPoolExecutor(1) as thread:  # browser tests leave an event loop in the main thread
        thread.submit(asyncio.run, teach()).result()


def test_a_word_that_is_fixed_may_be_asked_about_any_number_of_times(session):
    async def teach():
        await session.ready()
        second = next_pair(session)[1]
        for number in range(PER_WORD):
            session.file.add((f"a{number}", second), "no")
        for limited, asked in (((True, True), False), ((True, False), True), ((False, True), False)):
            session.limited = limited
            assert (second in {question["w2"] for question in session.questions("rank", 100)}) == asked

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, teach()).result()


def test_the_precision_of_the_last_answers(session):
    """Of this session and earlier ones: the rows that have a time."""
    file = session.file
    assert session.precision() is None
    for number in range(LAST + 4):
        file.add((f"a{number}", "b"), {1: "no", LAST + 2: "kind", LAST + 3: "no"}.get(number, "part"))
    assert session.precision() == 1 - 2 / LAST
    state = session.to_dict("rank", 1)
    assert (state["answers"], state["yes"]) == (LAST + 4, LAST + 1)
    file.close()
    session.file = AnswerFile(file.path)
    assert session.precision() == 1 - 2 / LAST
    assert LAST == 20
