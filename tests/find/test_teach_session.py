"""A session of teaching without its web server: answers, skips, undo, another tab, and the precision of the last."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from bagpack.app.state import Library
from bagpack.app.teaching import LAST, TeachSession
from bagpack.errors import InputError
from bagpack.find.answers import AnswerFile
from bagpack.find.examples import Examples
from bagpack.find.teaching import Teaching

from .conftest import GIVEN


class Here:
    """Runs what workers would run, in this process."""

    def __init__(self, library):
        self.library = library
        self.trained_on = []

    async def run(self, work, examples, answered, lane):
        self.trained_on.append((len(examples.positives), len(examples.negatives)))
        return work(self.library, examples, answered)


@pytest.fixture(scope="module")
def library(source):
    library = Library(source)
    library.teaching = Teaching.start(source, Examples("part", tuple(GIVEN)))
    return library


@pytest.fixture
def session(library, tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("w1\tw2\tlabel\n" + "".join(f"{a}\t{b}\tpart\n" for a, b in GIVEN))
    return TeachSession(AnswerFile(path), Here(library), ())


def next_pair(session):
    question = session.questions(1)[0]
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
        assert session.undo() == first and session.skipped == []
        assert next_pair(session) == first
        with pytest.raises(InputError, match="nothing to undo"):
            session.undo()
        assert session.file.path.read_bytes() == b"".join(answered.splitlines(keepends=True)[:-1])

    with ThreadPoolExecutor(1) as thread:  # browser tests leave an event loop in the main thread
        thread.submit(asyncio.run, teach()).result()


def test_only_what_was_asked_about_is_answered(session):
    """An answer to anything else would be written to the user's file."""

    async def teach():
        await session.ready()
        before = session.file.path.read_bytes()
        for pair in (("", ""), ("a\0b", "c"), ("parta00", "nothing")):
            with pytest.raises(InputError):
                session.answer(pair, "yes")
        assert session.file.path.read_bytes() == before

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, teach()).result()


def test_the_precision_of_the_last_answers(session):
    """Of this session and earlier ones: the rows that have a time."""
    file = session.file
    assert session.precision() is None
    for number in range(LAST + 4):
        file.add((f"a{number}", "b"), {1: "no", LAST + 2: "kind", LAST + 3: "no"}.get(number, "part"))
    assert session.precision() == 1 - 2 / LAST
    state = session.to_dict(1)
    assert (state["answers"], state["yes"]) == (LAST + 4, LAST + 1)
    file.close()
    session.file = AnswerFile(file.path)
    assert session.precision() == 1 - 2 / LAST
    assert LAST == 20
