"""Pairs found equal brute force: the same candidates, the model's own scores, and the cheap ranking's best."""

import threading
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from bagpack.contexts import candidates as candidates_module
from bagpack.contexts import count as count_module
from bagpack.errors import InputError, UsageError
from bagpack.find import CandidateOptions, collect_pool, find_pairs, iter_pairs, rank_pool
from bagpack.find.examples import Examples
from bagpack.find.ranking import KnownPairs
from bagpack.find.training import train_on_examples
from bagpack.find.vocabulary import corpus_vocabulary, listed_vocabulary
from bagpack.names import COSINE, PRODUCT

from ..contexts import oracle
from .conftest import GIVEN, HELD_OUT, PARTS, SENTENCES

EVERYTHING = {"top": 10**6, "per_word": None, "mark_known": True, "sentences": False}


def brute_force(min_together, min_count):
    words = sorted({word for sentence in SENTENCES for word in sentence if any(map(str.isalpha, word))})
    words = [word for word in words if sum(s.count(word) for s in SENTENCES) >= min_count]
    found = {}
    holding = {word: {n for n, sentence in enumerate(SENTENCES) if word in sentence} for word in words}
    for one, two in combinations(words, 2):
        both = [SENTENCES[n] for n in sorted(holding[one] & holding[two])]
        together = len(list(oracle.pair_contexts(both, (one,), (two,))))
        if together >= min_together:
            found[frozenset((one, two))] = together
    return found


@pytest.fixture(scope="module")
def everything(source, trained):
    return find_pairs(source, trained.model, "part", min_together=2, min_count=5, **EVERYTHING)


def test_all_candidates_are_found_and_no_others(everything):
    expected = brute_force(min_together=2, min_count=5)
    assert len(expected) > 200
    assert {frozenset((row.w1, row.w2)): row.together for row in everything} == expected
    assert everything.candidates == len(expected) == len(everything)


def test_scores_are_those_of_predict_in_the_better_order(everything, trained):
    model = trained.model
    pairs = [(row.w1, row.w2) for row in everything]
    label = model.classes.index("part")
    decisions, turned = (
        model.label_scores(own)[:, label] for own in (pairs, [(two, one) for one, two in pairs])
    )
    np.testing.assert_allclose([row.score for row in everything], decisions, atol=1e-6)
    assert (decisions >= turned).all() and (decisions > turned).any()
    np.testing.assert_allclose(
        [row.probability for row in everything], model.predict_proba(pairs)[:, label], atol=1e-6
    )
    assert list(decisions) == sorted(decisions, reverse=True)
    assert [row.rank for row in everything] == list(range(1, len(everything) + 1))
    assert [(row.n_w1, row.n_w2) for row in everything[:3]] == [
        tuple(sum(s.count(word) for s in SENTENCES) for word in pair) for pair in pairs[:3]
    ]


def test_the_relation_is_found(source, trained):
    found = find_pairs(source, trained.model, "part", top=len(HELD_OUT), per_word=None)
    assert len({(row.w1, row.w2) for row in found} & set(HELD_OUT)) >= 0.7 * len(HELD_OUT)
    assert not {(row.w1, row.w2) for row in found} & set(GIVEN)


def test_any_number_of_workers_gives_the_same(everything, source, trained, monkeypatch):
    monkeypatch.setattr(candidates_module, "PARTNERS_PER_TASK", 500)
    monkeypatch.setattr("bagpack.contexts.distribute.POSTINGS_PER_TASK", 100)
    again = find_pairs(source, trained.model, "part", n_jobs=2, min_count=5, **EVERYTHING)
    assert again.rows == everything.rows
    few = [find_pairs(source, trained.model, "part", scored=60, n_jobs=n, top=40) for n in (1, 2)]
    assert few[0] == few[1]
    assert few[0].scored == 60 < few[0].candidates


def test_equal_scores_are_in_the_order_of_the_words(source, trained, monkeypatch):
    """The first ranking keeps those of the more frequent words, however the work is divided."""
    flat = replace(trained.model, weights=tuple(weights * 0 for weights in trained.model.weights))
    pool = collect_pool(source, flat, "part", CandidateOptions())
    found = rank_pool(pool, flat, "part", top=10**6, per_word=None, mark_known=True)
    pairs = [(row.w1, row.w2) for row in found]
    assert len({row.score for row in found}) == 1
    assert pairs == sorted(pairs) != list(pool.matrix.pairs)
    monkeypatch.setattr(candidates_module, "PARTNERS_PER_TASK", 500)
    monkeypatch.setattr("bagpack.contexts.distribute.POSTINGS_PER_TASK", 100)
    for n_jobs in (1, 2):
        some = collect_pool(source, flat, "part", CandidateOptions(scored=40), n_jobs=n_jobs)
        assert list(some.matrix.pairs) == list(pool.matrix.pairs)[:40]


def test_a_fixed_word_is_looked_for_in_threads(source, trained, monkeypatch):
    """Worker processes would take longer to start than the work; the numbers are the same."""
    monkeypatch.setattr("bagpack.contexts.count.CHUNK_WORDS", 3)
    alone = find_pairs(source, trained.model, "part", w2="partb03", never_meeting=5)
    pids = set()
    take = count_module._words_task
    monkeypatch.setattr(
        count_module, "_words_task", lambda *task: (pids.add(threading.get_ident()), take(*task))[1]
    )
    assert find_pairs(source, trained.model, "part", w2="partb03", never_meeting=5, n_jobs=2) == alone
    assert len(pids) > 1


def test_the_cheap_ranking_is_the_decision_without_what_only_pairs_contexts_tell(everything, source, trained):
    model = trained.model
    cheap = replace(
        model,
        weights=tuple(
            weights * 0 if name in ("v12", PRODUCT, COSINE) else weights
            for name, weights in zip(model.block_names, model.weights, strict=True)
        ),
    )
    label = model.classes.index("part")
    pairs = [(row.w1, row.w2) for row in everything]
    scores = np.maximum(
        cheap.label_scores(pairs)[:, label], cheap.label_scores([(b, a) for a, b in pairs])[:, label]
    )
    least = np.sort(scores)[-50]
    expected = {frozenset(pair) for pair, score in zip(pairs, scores, strict=True) if score >= least - 1e-9}
    pool = collect_pool(source, model, "part", CandidateOptions(scored=50))
    assert {frozenset(pair) for pair in pool.matrix.pairs} <= expected
    assert len(pool) == 50


def test_candidates_of_a_fixed_word_are_ranked_by_their_first_observations(source, trained, monkeypatch):
    """The best of them are then counted in full, and have the same numbers as without a first ranking."""
    monkeypatch.setattr("bagpack.find.pool.FIRST", 2)
    model = trained.model
    full = find_pairs(source, model, "part", w2="partb03", **EVERYTHING)
    few = replace(model, counting=replace(model.counting, limit=2))
    scores = few.label_scores([(row.w1, row.w2) for row in full])[:, model.classes.index("part")]
    expected = [full[k] for k in sorted(np.argsort(-scores)[:8].tolist())]
    assert expected != list(full[:8])
    for n_jobs, more in ((1, {}), (2, {}), (1, {"never_meeting": 3})):
        found = find_pairs(source, model, "part", w2="partb03", scored=8, n_jobs=n_jobs, **more, **EVERYTHING)
        seen = [row for row in found if row.together]
        assert [replace(row, rank=0) for row in seen] == [replace(row, rank=0) for row in expected]
        assert found.candidates == len(full) and any("the best" in note for note in found.notes)


def test_how_many_candidates_of_a_fixed_word_are_counted_in_full(source, trained, monkeypatch):
    asked = {"top": 1, "sentences": False}
    assert find_pairs(source, trained.model, "part", w2="partb03", scored=3, **asked).scored == 3
    for fewest, scored in ((12, 12), (4, 10)):
        monkeypatch.setattr("bagpack.find.ranking.FEWEST_SCORED", fewest)
        assert find_pairs(source, trained.model, "part", w2="partb03", **asked).scored == scored
    assert find_pairs(source, trained.model, "part", **asked).scored > 100


@pytest.mark.parametrize(
    "options", [{"preset": "paper"}, {"condition": "v12"}, {"preset": "paper", "condition": "v1v2"}]
)
def test_models_of_every_kind_can_be_asked(source, options):
    trained = train_on_examples(source, Examples("part", tuple(GIVEN)), b=300, **options)
    found = find_pairs(source, trained.model, top=30, scored=200)
    pairs = [(row.w1, row.w2) for row in found]
    label = trained.model.classes.index("part")
    np.testing.assert_allclose(
        [r.score for r in found], trained.model.label_scores(pairs)[:, label], atol=1e-6
    )


def test_a_fixed_word_keeps_its_place(source, trained):
    found = find_pairs(source, trained.model, "part", w2="partb03", sentences=False)
    assert {row.w2 for row in found} == {"partb03"} and len(found) > 5
    assert found[0].w1 in {one for one, two in PARTS if two == "partb03"} - {one for one, _ in GIVEN}
    first = find_pairs(source, trained.model, "part", w1="parta15", sentences=False)
    assert {row.w1 for row in first} == {"parta15"} and first[0].w2 == "partb03"
    both = find_pairs(source, trained.model, "part", w1="parta15", w2="partb03", sentences=False)
    assert [(row.w1, row.w2) for row in both] == [("parta15", "partb03")]
    pairs = [(row.w1, row.w2) for row in found]
    label = trained.model.classes.index("part")
    np.testing.assert_allclose(
        [r.score for r in found], trained.model.label_scores(pairs)[:, label], atol=1e-6
    )
    with pytest.raises(InputError, match="does not contain 'unicorn'"):
        find_pairs(source, trained.model, "part", w1="unicorn")
    with pytest.raises(UsageError, match="same word"):
        find_pairs(source, trained.model, "part", w1="partb03", w2="partb03")


def test_no_word_fills_the_list(source, trained):
    free = find_pairs(source, trained.model, "part", top=60, per_word=None, sentences=False)
    for per_word in (1, 2):
        found = find_pairs(source, trained.model, "part", top=60, per_word=per_word, sentences=False)
        for side in ("w1", "w2"):
            words = [getattr(row, side) for row in found]
            assert max(map(words.count, words)) == per_word
        assert any("skipped" in note for note in found.notes)
        assert found[0].w1 == free[0].w1
    fixed = find_pairs(source, trained.model, "part", w2="partb03", per_word=1, sentences=False)
    assert len(fixed) > 5  # the fixed word is exempt


def test_known_pairs_are_left_out_or_marked_in_either_order(source, trained):
    plain = find_pairs(source, trained.model, "part", top=5, sentences=False)
    best = (plain[0].w1, plain[0].w2)
    for known in (best, best[::-1]):
        others = find_pairs(source, trained.model, "part", top=5, known=[known], sentences=False)
        assert others[0] == replace(plain[1], rank=1)
        marked = find_pairs(
            source, trained.model, "part", top=5000, known=[known], mark_known=True, per_word=None
        )
        listed = {frozenset((row.w1, row.w2)): row.known for row in marked}
        assert all(listed.get(frozenset(pair), True) for pair in (best, *GIVEN))
        assert 8 <= sum(listed.values()) < len(listed) / 4
    assert any("known pairs excluded" in note for note in plain.notes)


def test_training_pairs_are_known_in_either_order(source, trained):
    turned = trained.model.count([(two, one) for one, two in GIVEN], source)
    assert KnownPairs(source, []).mark(turned, trained.model).all()
    assert not KnownPairs(source, []).mark(trained.model.count(HELD_OUT, source), trained.model).any()


def test_a_term_list_with_terms_of_several_words(source, trained):
    terms = ["red_wheel", "old engine", "parta15", "partb03", "unicorn"]
    found = find_pairs(source, trained.model, "part", among=terms, min_count=1, mark_known=True)
    assert {frozenset((row.w1, row.w2)) for row in found} == {
        frozenset(("red_wheel", "old engine")), frozenset(("parta15", "partb03"))
    }  # fmt: skip
    wheel = next(row for row in found if "red_wheel" in (row.w1, row.w2))
    assert (wheel.together, wheel.n_w1, wheel.n_w2) == (4, 4, 4)
    assert "red wheel" in wheel.sentence
    assert any("1 term of the list not in the corpus: unicorn" in note for note in found.notes)


def test_pairs_that_never_meet_are_added_on_request(source, trained):
    plain = find_pairs(source, trained.model, "part", **EVERYTHING)
    more = find_pairs(source, trained.model, "part", never_meeting=30, **EVERYTHING)
    new = {(row.w1, row.w2): row for row in more if not row.together}
    assert len(new) == 30 and all(row.together for row in plain)
    assert [row for row in more if row.together] == [
        replace(row, rank=rank) for row, rank in zip(plain, (r.rank for r in more if r.together), strict=True)
    ]
    fixed = find_pairs(source, trained.model, "part", w2="partb03", never_meeting=10, sentences=False)
    apart = [row for row in fixed if not row.together]
    assert len(apart) == 10 and {row.w2 for row in apart} == {"partb03"}


def test_pairs_that_never_meet_have_the_best_words(everything, source, trained):
    """Of all pairs that never co-occur, those are added whose two words add most to the decision."""
    model = trained.model
    words = replace(
        model,
        weights=tuple(
            weights if name in ("v1", "v2") else weights * 0
            for name, weights in zip(model.block_names, model.weights, strict=True)
        ),
    )
    found = find_pairs(source, model, "part", w2="partb03", never_meeting=12, sentences=False, top=1000)
    added = {row.w1 for row in found if not row.together}
    met = {word for pair in brute_force(1, 1) if "partb03" in pair for word in pair}
    listed = [str(target) for target in corpus_vocabulary(source, min_count=5).targets]
    apart = [word for word in listed if word not in met]
    label = model.classes.index("part")
    scores = words.label_scores([(word, "partb03") for word in apart])[:, label]
    assert added == {apart[k] for k in np.argsort(-scores)[:12].tolist()}


def test_the_iterator_gives_all_above_a_probability(everything, source, trained, monkeypatch):
    expected = {(row.w1, row.w2, row.score) for row in everything if row.probability >= 0.3 and not row.known}
    found = list(iter_pairs(source, trained.model, "part", min_probability=0.3))
    assert {(row.w1, row.w2, row.score) for row in found} == expected and len(found) == len(expected) > 5
    # In many parts, by two workers: the same rows in the same order.
    monkeypatch.setattr(candidates_module, "PARTNERS_PER_TASK", 500)
    monkeypatch.setattr("bagpack.contexts.distribute.POSTINGS_PER_TASK", 100)
    monkeypatch.setattr("bagpack.find.ranking.SCORED", 70)
    parts = list(iter_pairs(source, trained.model, "part", min_probability=0.3, n_jobs=2))
    assert {(row.w1, row.w2, row.score) for row in parts} == expected and len(parts) == len(expected)


def test_a_pool_is_ranked_again_by_another_model(source, trained):
    pool = collect_pool(source, trained.model, "part", CandidateOptions(scored=150))
    other = train_on_examples(
        source, Examples("part", tuple(GIVEN), negatives=(HELD_OUT[0],)), drawn=trained.drawn
    )
    assert other.drawn == trained.drawn
    again = rank_pool(pool, other.model, "part", top=10**4, per_word=None)
    label = other.model.classes.index("part")
    scores = other.model.label_scores([(row.w1, row.w2) for row in again])[:, label]
    np.testing.assert_allclose([row.score for row in again], scores, atol=1e-6)
    assert HELD_OUT[0] not in {(row.w1, row.w2) for row in again}


def test_rows_make_a_data_frame(source, trained):
    pandas = pytest.importorskip("pandas")
    found = find_pairs(source, trained.model, "part", top=3)
    frame = pandas.DataFrame(found.to_dicts())
    assert list(frame.columns) == found.table()[0]
    assert frame["w1"].tolist() == [row.w1 for row in found]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"top": 0}, "--top must be at least 1, not 0"), ({"per_word": 0}, "--per-word must be at least 1, or none"),
        ({"min_together": 0}, "--min-together must"),
        ({"scored": 0}, "--scored must"), ({"label": "whole"}, "no label 'whole'"),
    ],
)  # fmt: skip
def test_wrong_options_are_named(source, trained, options, words):
    with pytest.raises(UsageError, match=words):
        find_pairs(source, trained.model, **options)


def test_a_vocabulary_keeps_the_first_name_of_a_target(source):
    found = listed_vocabulary(source, ["red_wheel", "red wheel", "nothing"])
    assert [found.name(target) for target in found.targets] == ["red_wheel"]
    assert found.unknown == ("nothing",)
