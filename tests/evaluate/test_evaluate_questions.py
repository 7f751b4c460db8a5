import json

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import t
from sklearn.svm import SVC

from bagpack.errors import InputError
from bagpack.evaluate import questions as own
from bagpack.evaluate.questions import question_rows, solve_analogies, solve_synonyms
from bagpack.evaluate.reproduce import relation_rounds
from bagpack.learn.features import get_preset, modern_features
from bagpack.learn.fitting import condition_grams
from tests.learn.learn_oracle import without_counts
from tests.synthetic import make_counts


@pytest.fixture(scope="module")
def analogies():
    counts, y = make_counts(n_pairs=400, n_words=60, n_terms=60, n_labels=5, unseen=0.02, signal=2.0, seed=8)
    rng = np.random.default_rng(0)
    order, shapes = [], []
    for _ in range(40):
        labels = rng.permutation(5)[:4]
        rows = [rng.choice(np.flatnonzero(y == label)) for label in labels]
        answer = int(rng.integers(4))
        stem = rng.choice(np.flatnonzero(y == labels[answer]))
        order += [stem, *rows]
        shapes.append((4, answer))
    return counts[order], question_rows(shapes, "analogies")


@pytest.mark.parametrize("C", [0.001, 1.0, 50.0])
def test_two_points_in_closed_form_are_the_svm(C):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(7, 5))
    model = SVC(kernel="linear", C=C, tol=1e-10).fit(X[[0, 1]], [1, 0])
    found = own.two_point_decisions(X @ X.T, 0, 1, range(2, 7), C)
    np.testing.assert_allclose(found, model.decision_function(X[2:]), atol=1e-6)
    assert not own.two_point_decisions(np.ones((3, 3)), 0, 1, [2], C).any(), "equal rows say nothing"


def test_an_election_is_by_rounds_then_by_sum():
    assert own.elect(np.array([[1.0, 0, 0], [1, 0, 0], [0, 9, 0]])).tolist() == [0]
    assert own.elect(np.array([[1.0, 0, 0], [0, 9, 0]])).tolist() == [1]
    assert own.elect(np.zeros((3, 4))).tolist() == [0, 1, 2, 3]
    assert own.elect(np.array([[9.0, 9, 0], [0, 0, 1]])).tolist() == [2], "a tied round is shared"
    assert own.best_choices(np.array([1.0, 1.0 - 1e-14, 0.5])).tolist() == [0, 1]


def test_analogies_by_brute_force(analogies):
    counts, questions = analogies
    found = solve_analogies(counts, questions, ("v12",), "paper", rounds=3, seed=5)
    preset = get_preset("paper")
    learned = preset.learn(counts, "v12")
    gram = condition_grams({"v12": preset.features(learned, counts, "v12")}, ["v12"])["v12"]
    # Less the image of zero, which is the same for all.
    X = preset.features(learned, counts, "v12").matrix().toarray()
    np.testing.assert_allclose(gram, X @ X.T, atol=1e-9)
    rng = np.random.default_rng(5)
    for i, question in enumerate(questions):
        others = [q for k, q in enumerate(questions) if k != i]
        negatives = [others[k].stem for k in rng.choice(39, size=3, replace=False)]
        wins = np.zeros(4)
        for negative in negatives:
            direction = X[question.stem] - X[negative]
            values = X[list(question.choices)] @ direction
            winners = values > values.max() - 1e-9
            wins += winners / winners.sum()
        assert wins[found["v12"].picked[i]] == pytest.approx(wins.max())


@pytest.fixture
def few_analogies():
    counts, _ = make_counts(n_pairs=24, n_words=20, unseen=0.3, seed=9)
    return counts, question_rows([(5, 1)] * 4, "analogies")


def _plain(counts, name):
    features = modern_features(counts)
    blocks = features.split(features.matrix().toarray().T)
    blocks[own.DIFFERENCE] = unit((blocks["v1"] - blocks["v2"]).T).T
    return centred_cosines(blocks[name].T)


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None]


def centred(rows):
    """Rows of length 1 less their mean, of length 1 again; all-zero rows stay."""
    return unit(rows - rows.mean(axis=0)) * rows.any(axis=1)[:, None]


def centred_cosines(rows):
    return centred(rows) @ centred(rows).T


def test_values_are_sums_of_centred_cosines(few_analogies):
    counts, questions = few_analogies
    weights = {"v1": 0.5, "v2": 0.5, own.DIFFERENCE: 1.0}
    words = sum(weight * _plain(counts, name) for name, weight in weights.items())
    pair = 2 * _plain(counts, "v12")
    totals = {"v1v2": words, "v12": pair, "v1v2v12": words + pair}
    scores = own.analogy_scores(counts, tuple(totals))
    found = solve_analogies(counts, questions, preset="modern")
    for name, total in totals.items():
        np.testing.assert_allclose(scores[name], total, atol=1e-9)
        picks = [total[question.stem, list(question.choices)].argmax() for question in questions]
        assert found[name].picked.tolist() == picks
    assert found.settings["transductive"] and "trained" in found.notes[0]


def test_the_difference_of_wide_vectors_is_one_more_cosine(few_analogies):
    counts, _ = few_analogies
    rng = np.random.default_rng(2)
    wide = rng.random((len(counts.targets), 7)) * (rng.random((len(counts.targets), 7)) < 0.7)
    cosines = centred_cosines(unit(wide[counts.rows[:, 0]] - wide[counts.rows[:, 1]]))
    plain = own.analogy_scores(counts, ("v1v2", "v12"))
    more = own.analogy_scores(counts, ("v1v2", "v12"), sparse.csr_array(wide))
    np.testing.assert_allclose(more["v1v2"], plain["v1v2"] + cosines, atol=1e-9)
    np.testing.assert_array_equal(more["v12"], plain["v12"])


def test_worst_case_scoring(analogies):
    counts, questions = analogies
    found = solve_analogies(counts, questions, ("v12", "v1v2"))
    zero = counts.zero_rows(("v12",))
    complete = np.array([not zero[[q.stem, *q.choices]].any() for q in questions])
    result = found["v12"]
    assert 0 < complete.mean() < 1 and found["random"].metrics["score"].mean == 0.25
    assert result.metrics["accuracy"].mean > 0.5, "the planted relation is found"
    assert result.metrics["coverage"].mean == pytest.approx(complete.mean())
    right = result.picked == [q.answer for q in questions]
    assert result.metrics["complete_accuracy"].mean == pytest.approx(right[complete].mean())
    assert result.metrics["score"].mean == pytest.approx(np.where(complete, right, 0.25).mean())
    assert found["v1v2"].metrics["coverage"].mean == 1


def test_synonyms_keep_a_question_in_one_fold():
    counts, y = make_counts(n_pairs=400, n_words=80, n_terms=40, unseen=0.05, signal=1.5, seed=9)
    rng = np.random.default_rng(1)
    order, shapes = [], []
    for i in range(30):
        size = 4 if i % 2 else 3
        answer = int(rng.integers(size))
        rows = rng.choice(np.flatnonzero(y == 0), size)
        rows[answer] = rng.choice(np.flatnonzero(y == 1))
        order += rows.tolist()
        shapes.append((size, answer))
    questions = question_rows(shapes, "synonyms")
    found = solve_synonyms(counts[order], questions, folds=5)
    assert len(found["v12"].metrics["score"].folds) == 5
    assert found["v1v2v12"].metrics["accuracy"].mean > found["random"].metrics["score"].mean
    assert found["words-only"].metrics["coverage"].mean == 1
    with pytest.raises(InputError, match=r"4 .* 10 folds"):
        solve_synonyms(counts, questions[:4])


def test_the_cosine_of_wide_vectors_decides_about_synonyms(monkeypatch):
    """Of `modern`, where a condition has the words; nearly equal cosines leave the decision to the SVM."""
    counts, _ = make_counts(n_pairs=160, n_words=80, n_terms=40, seed=9)
    questions = question_rows([(4, k % 4) for k in range(40)], "synonyms")
    vectors = np.random.default_rng(1).random((len(counts.targets), 5))
    vectors[3] = 0  # a word without contexts
    wide = sparse.csr_array(unit(vectors))
    monkeypatch.setattr("bagpack.evaluate.questions.wide_rows", lambda corpus, targets: wide)
    rows = centred(wide.toarray())
    first, second = counts.rows.T
    cosines = (rows[first] * rows[second]).sum(axis=1)
    np.testing.assert_allclose(own.word_cosines(wide, first, second), cosines, atol=1e-12)
    plain, found, paper = (
        solve_synonyms(counts, questions, preset=preset, corpus=corpus)
        for preset, corpus in (("modern", None), ("modern", object()), ("paper", object()))
    )
    best = cosines.reshape(-1, 4).argmax(axis=1)
    assert (found["v1v2"].picked == best).mean() > 0.8 > (plain["v1v2"].picked == best).mean()
    np.testing.assert_array_equal(found["v12"].picked, plain["v12"].picked)
    alone = solve_synonyms(counts, questions, preset="paper")
    np.testing.assert_array_equal(paper["v1v2"].picked, alone["v1v2"].picked)


def test_questions_that_cannot_be(few_analogies):
    counts, questions = few_analogies
    assert len(solve_analogies(counts[:6], questions[:1])["v1v2"].picked) == 1, "one is enough"
    for message, given in (
        ("--preset modern", (counts, questions[:1], ("v12",), "paper")),
        ("analogy question", (counts, [])),
        ("no stem", (counts, question_rows([(4, 0), (4, 1)], "synonyms"))),
        ("bagpack check", (without_counts(counts), questions)),
    ):
        with pytest.raises(InputError, match=message):
            solve_analogies(*given)


def test_relations_in_balanced_rounds():
    counts, y = make_counts(n_pairs=150, n_words=60, n_terms=40, n_labels=3, unseen=0.3, seed=13)
    labels = np.array(["IsA", "PartOf", "UsedFor"])[y]
    found = relation_rounds(counts, labels, ["IsA", "PartOf"], rounds=2, folds=3)
    assert found.groups["rows"][0]["n"] == (y == 0).sum()
    score = found["v12"].metrics["auc"]
    assert score.mean == pytest.approx(np.mean([row["scores"]["v12"] for row in found.groups["rows"]]))
    values = np.array(score.folds)
    half = t.ppf(0.975, 5) * values.std(ddof=1) * np.sqrt(1 / 6 + 1 / 2)  # 3 folds: n_test / n_train is 1/2
    assert (score.low, score.high) == pytest.approx((score.mean - half, score.mean + half))
    assert found["v1v2v12"].metrics["auc"].mean > 0.5
    # The score without all-zero rows, as the paper had it: the same as if no fold had tested them.
    empty, rest = counts.zero_rows(("v12",)), found["v12"].nonzero["auc"].mean
    assert 0 < empty.sum() == found["v12"].zero_rows and rest > score.mean
    (note,) = [note for note in found.notes if "all-zero in v12;" in note]
    assert note == f"{empty.sum()} of 150 rows are all-zero in v12; without them, AUC is {100 * rest:.1f} %."
    assert found["v1v2"].nonzero == {}
    out = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [row["name"] for row in out["groups"]["rows"]] == ["IsA", "PartOf"]
    with pytest.raises(InputError, match="100 folds"):
        relation_rounds(counts, labels, folds=100)
