"""Teaching: the candidates stay, the ranking follows the answers, and a worse model is not used."""

from dataclasses import replace

import numpy as np
import pytest

from bagpack import find_pairs
from bagpack.errors import InputError
from bagpack.find.answers import Answers, answers_path, read_answers, with_answers
from bagpack.find.examples import Examples, read_examples
from bagpack.find.options import FindOptions
from bagpack.find.ranking import choose_pairs
from bagpack.find.teaching import LEAST, UNCERTAIN, Teaching, is_held_out
from tests.kills import killed_at

from .conftest import GIVEN, HELD_OUT

EXAMPLES = Examples("part", tuple(GIVEN))


@pytest.fixture
def teaching(source):
    return Teaching.start(source, EXAMPLES)


def test_the_first_ranking_is_that_of_find(teaching, source):
    ranking = teaching.rank()
    found = find_pairs(source, EXAMPLES, top=100, sentences=False)
    assert ranking.rows[:100] == list(found)
    assert teaching.trained.examples == EXAMPLES and not ranking.kept
    assert not {frozenset(row.pair) for row in ranking.rows} & {frozenset(pair) for pair in GIVEN}


def test_the_best_are_asked_about_and_after_answers_every_tenth_is_uncertain(teaching):
    ranking = teaching.rank()
    assert ranking.questions(20) == [(row, False) for row in ranking.rows[:20]]
    asked = replace(ranking, answered=1).questions(20)
    assert [unsure for _, unsure in asked] == [k % UNCERTAIN == UNCERTAIN - 1 for k in range(20)]
    assert [row for row, unsure in asked if not unsure] == ranking.rows[:18]
    assert abs(asked[9][0].model_score) == min(abs(row.model_score) for row in ranking.rows[20:80])
    assert [row for row, _ in ranking.questions(10**6)] == ranking.rows


def test_answers_change_the_ranking(teaching):
    """A rejected pair is gone, and its score falls more than most; nothing is drawn again."""
    before = teaching.rank()
    wrong = next(row.pair for row in before.rows if not is_held_out(row.pair))
    after = teaching.rank({wrong: False})
    assert teaching.trained.examples.negatives == (wrong,) and wrong not in [row.pair for row in after.rows]
    assert set(teaching.trained.drawn) <= set(teaching.first[0].trained.drawn)
    assert [row.pair for row in before.rows[:20]] != [row.pair for row in after.rows[:20]]


def test_the_first_ranking_has_the_share_that_no_has_among_the_answers_and_one_more(teaching):
    pairs = [row.pair for row in teaching.rank().rows if not is_held_out(row.pair)][:3]
    teaching.rank(dict(zip(pairs, (False, True, False), strict=True)))
    first, own = (
        teaching.pool.scored(places.trained.model, "part", places).values
        for places in (teaching.first[0], teaching.places)
    )
    assert np.allclose(teaching.last[1].values, (own / own.std() + first / first.std()) / 2)
    assert not np.allclose(own, first)


def test_a_fifth_of_the_answers_is_not_trained_on_and_their_words_may_be_recombined(teaching, monkeypatch):
    """Only pairs of two words of the examples are few in the list: with those of answers, right pairs would be lost."""
    limited, name = [], "bagpack.find.teaching.choose_pairs"
    monkeypatch.setattr(name, lambda *given: limited.append(given[-1]) or choose_pairs(*given))
    teaching.rank(dict.fromkeys(HELD_OUT, True))
    aside = sum(map(is_held_out, HELD_OUT))
    assert aside == sum(is_held_out(pair[::-1]) for pair in HELD_OUT)
    assert 0 < aside < len(HELD_OUT) / 2
    assert len(teaching.trained.examples.pairs) == len(GIVEN) + len(HELD_OUT) - aside
    assert limited == [EXAMPLES]


def test_a_model_that_is_worse_on_held_out_answers_is_not_used(teaching):
    """Right answers are held out, wrong ones are trained on: the model before them stays."""
    pairs = [row.pair for row in teaching.rank().rows]
    first = teaching.trained
    relation = set(HELD_OUT)
    aside = [(pair, pair in relation) for pair in pairs if is_held_out(pair)]
    yes, no = ([own for own in aside if own[1] == value] for value in (True, False))
    assert yes and len(no) >= LEAST
    assert teaching.rank(dict([yes[0], no[0]])).held_out is None  # too few to decide
    lies = [(pair, True) for pair in pairs if pair not in relation and not is_held_out(pair)]
    after = teaching.rank(dict([*yes, *no[:LEAST], *lies]))
    assert after.kept and after.held_out < after.before
    assert teaching.trained is first


def test_nothing_to_ask(source):
    with pytest.raises(InputError, match="no candidates"):
        Teaching.start(source, EXAMPLES, FindOptions(min_together=10_000))


def test_the_reasons_add_up_and_name_the_examples(teaching):
    pair = teaching.rank().rows[0].pair
    why = teaching.explain(pair).decisions[0]
    assert why.base + sum(part.value for part in why.parts) == pytest.approx(why.value, abs=1e-6)
    scored = teaching.last[1]
    at = list(scored.counts.pairs).index(pair)
    assert why.value == pytest.approx(scored.score[at], abs=1e-6)
    named = {like.name for part in why.parts for like in part.alike}
    assert named & {f"{a} – {b}" for a, b in GIVEN}


# Answers --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def path(write):
    return write("parts.tsv", "w1\tw2\tlabel\nwheel\tcar\tpart\nwing\tbird\tpart\nred\tcar\tno\n")


def test_an_answer_is_a_line_next_to_the_examples(path):
    file, before = Answers(path, annotator=" Ann  Lee "), path.read_text()
    assert not file.path.exists()  # nothing is written before the first answer
    file.add(("page", "book"), True)
    file.add(("sea", "book"), False)
    header, *rows = [line.split("\t") for line in file.path.read_text().splitlines()]
    assert file.path == path.with_name("parts.answers.tsv")
    assert header == ["w1", "w2", "label", "annotator", "time"]
    expected = [["page", "book", "part", "Ann Lee"], ["sea", "book", "no", "Ann Lee"]]
    assert [row[:4] for row in rows] == expected
    assert path.read_text() == before
    assert read_examples(file.path).positives == (("page", "book"),)  # a table as any other
    assert Answers(path).answered == [(("page", "book"), True), (("sea", "book"), False)]
    assert answers_path(file.path) == file.path


def test_undo_takes_back_what_this_session_wrote(path):
    file = Answers(path)
    file.add(("page", "book"), True)
    file.add(("page", "book"), False)  # changed one's mind
    assert file.answered == [(("page", "book"), False)]
    assert file.undo() == ("page", "book") and file.answered == [(("page", "book"), True)]
    other = Answers(path)
    with pytest.raises(InputError, match=r"undo; edit parts\.answers\.tsv"):
        other.undo()
    other.add(("sea", "book"), False)
    with pytest.raises(InputError, match=r"parts\.answers\.tsv .*changed"):  # not the last line any more
        file.undo()
    assert list(read_answers(file.path)) == [("page", "book"), ("sea", "book")]
    assert other.undo() == ("sea", "book") and file.undo() == ("page", "book")
    assert file.path.read_text() == "" and Answers(path).answered == []


def test_an_answer_counts_more_than_an_example(path):
    given = {("wing", "bird"): "no", ("red", "car"): "part", ("page", "book"): "part"}
    merged = with_answers(read_examples(path), given)
    assert merged.positives == (("wheel", "car"), ("red", "car"), ("page", "book"))
    assert merged.negatives == (("wing", "bird"),)
    assert with_answers(Examples("x", (("a", "b"),)), {}).positives == (("a", "b"),)


def test_a_last_line_without_its_end_is_completed(path):
    answers_path(path).write_text("w1\tw2\tlabel\tannotator\ttime\npage\tbook\tpart\tann\t")
    file = Answers(path)
    file.add(("sea", "book"), False)
    assert read_answers(file.path) == {("page", "book"): "part", ("sea", "book"): "no"}
    file.undo()
    assert read_answers(file.path) == {("page", "book"): "part"}


def test_a_killed_process_loses_no_answer(path):
    reported = path.with_name("reported")

    def answer():
        file = Answers(path, annotator="ann")
        for number in range(100):
            file.add((f"left{number}", "right"), number % 2 == 0)
            reported.write_text(str(number + 1))

    assert killed_at(50, answer)
    found, number = list(read_answers(answers_path(path))), int(reported.read_text())
    assert 10 < number <= len(found) and found[:number] == [(f"left{k}", "right") for k in range(number)]


def test_two_writers_lose_nothing(path):
    writers = Answers(path, annotator="a"), Answers(path, annotator="b")
    for number in range(20):
        writers[number % 2].add((f"w{number}", "x"), True)
    assert len(read_answers(writers[0].path)) == 20


def test_a_name_is_one_cell_and_a_missing_file_is_refused(path, tmp_path):
    assert Answers(path, annotator="Ann\t\nLee" + "x" * 200).annotator == "AnnLee" + "x" * 94
    with pytest.raises(InputError):
        Answers(tmp_path / "none.tsv")
