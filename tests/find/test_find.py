"""Pairs found equal brute force: the same candidates, the model's own scores, and the first ranking's best."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from bagpack import PairVectorizer, RelationClassifier, find_pairs, index_corpus, parallel
from bagpack.contexts.windows import CountSettings
from bagpack.errors import InputError, UsageError
from bagpack.find import sentences
from bagpack.find.candidates import collect_pool
from bagpack.find.examples import Examples, as_examples
from bagpack.find.options import FindOptions
from bagpack.find.ranking import known_pairs
from bagpack.find.sentences import best_lines
from bagpack.find.slots import Places
from bagpack.find.training import train_on_examples
from bagpack.learn.features import Preset, modern_features
from bagpack.names import COSINE, PRODUCT
from bagpack.sources import as_source
from bagpack.vectors.counts import count_pairs

from ..contexts import oracle
from ..contexts.stores import make_store
from ..made_up import ROWS
from .conftest import GIVEN, HELD_OUT, PARTS, SENTENCES

LIST = {"top": 10**6, "per_word": None, "sentences": False}
KINDS = [row[:2] for row in ROWS if row[2] == "kind"]


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
    """All candidates under the model alone, which knows of no training pairs."""
    model = replace(trained.model, trained=trained.model.trained[:0])
    return find_pairs(source, model=model, label="part", **LIST)


def pairs_of(found):
    return [(row.w1, row.w2) for row in found]


def test_all_candidates_are_found_and_no_others(everything):
    expected = brute_force(min_together=2, min_count=5)
    assert len(expected) > 200
    assert {frozenset((row.w1, row.w2)): row.together for row in everything} == expected
    assert everything.candidates == len(expected) == len(everything)


def test_scores_of_a_model_are_those_of_predict_in_the_better_order(everything, trained):
    model, pairs = trained.model, pairs_of(everything)
    label = model.classes.index("part")
    both_orders = pairs, [(two, one) for one, two in pairs]
    decisions, turned = (model.scores_of(model.decisions(own))[:, label] for own in both_orders)
    np.testing.assert_allclose([row.score for row in everything], decisions, atol=1e-6)
    assert (decisions >= turned).all() and (decisions > turned).any()
    assert list(decisions) == sorted(decisions, reverse=True)
    assert "PMI" not in " ".join(everything.notes)  # as for several labels, which compete
    assert [row.rank for row in everything] == list(range(1, len(everything) + 1))
    counts = [tuple(sum(s.count(word) for s in SENTENCES) for word in pair) for pair in pairs[:3]]
    assert [(row.n_w1, row.n_w2) for row in everything[:3]] == counts


@pytest.mark.parametrize(
    ("preset", "condition"),
    [("modern", "v1v2v12"), ("modern", "v1v2"), ("modern", "v12"), ("paper", "v1v2v12")],
)
def test_both_orders_have_the_decisions_of_their_own_features(source, preset, condition):
    made = RelationClassifier(PairVectorizer(source, b=100), preset=preset, condition=condition)
    model = made.fit([*PARTS[:12], *KINDS[:12]], ["part"] * 12 + ["kind"] * 12).model_
    pool = collect_pool(source, model, "part", FindOptions())
    for found, pairs in zip(pool._decisions(model), (pool.counts, pool.counts.reversed()), strict=True):
        np.testing.assert_allclose(found, model.decisions(pairs), atol=1e-9)


def test_the_relation_is_found_from_any_kind_of_examples(source, store, examples):
    pandas = pytest.importorskip("pandas")
    options = FindOptions(top=len(HELD_OUT), per_word=None)
    found = find_pairs(source, GIVEN, options=options)
    assert len(set(pairs_of(found)) & set(HELD_OUT)) >= 0.7 * len(HELD_OUT)
    assert not set(pairs_of(found)) & set(GIVEN) and all(row.sentence for row in found)
    frame = pandas.DataFrame(GIVEN, columns=["w1", "w2"])
    for given, columns in ((str(examples), None), (frame.rename(columns={"w1": "a"}), {"w1": "a"})):
        assert find_pairs(str(store), given, columns=columns, options=options).rows == found.rows
    assert list(pandas.DataFrame(found.to_dicts()).columns) == found.table()[0]
    for wrong in (5, ["cat"], [("cat", "dog", "cow")], pandas.DataFrame({"x": ["a"]})):
        with pytest.raises((UsageError, InputError)):
            as_examples(wrong)


def test_any_number_of_workers_and_of_parts_gives_the_same(source, trained, monkeypatch):
    """Equal scores are in the order of the words' numbers, however the work is divided."""
    flat = replace(trained.model, weights={name: own * 0 for name, own in trained.model.weights.items()})
    whole = find_pairs(source, trained, **LIST).rows
    every = list(collect_pool(source, flat, "part", FindOptions()).counts.pairs)
    sizes = ("contexts.candidates.PARTNERS_PER_TASK", "contexts.count.POSTINGS_PER_TASK")
    for name in (*sizes, "find.candidates.RANKED", "find.candidates.WEIGHED"):
        monkeypatch.setattr(f"bagpack.{name}", 70)
    for n_jobs in (1, 2):
        with parallel.settings(n_jobs=n_jobs):
            assert find_pairs(source, trained, **LIST).rows == whole
            some = collect_pool(source, flat, "part", FindOptions(scored=40))
        assert list(some.counts.pairs) == every[:40]


def test_the_first_ranking_is_the_decision_without_what_only_pairs_contexts_show(everything, source, trained):
    model = trained.model
    left_out = ("v12", PRODUCT, COSINE)
    weights = {name: own * (name not in left_out) for name, own in model.weights.items()}
    cheap = replace(model, weights=weights)
    label, pairs = model.classes.index("part"), pairs_of(everything)
    both_orders = pairs, [(b, a) for a, b in pairs]
    scores = np.maximum(*(cheap.scores_of(cheap.decisions(own))[:, label] for own in both_orders))
    least = np.sort(scores)[-50]
    expected = {frozenset(pair) for pair, score in zip(pairs, scores, strict=True) if score >= least - 1e-9}
    pool = collect_pool(source, model, "part", FindOptions(scored=50))
    assert {frozenset(pair) for pair in pool.counts.pairs} <= expected and len(pool) == 50
    options = FindOptions(scored=50)
    both = collect_pool(source, model, "part", options, Places.of(source, trained, options))
    assert {frozenset(pair) for pair in both.counts.pairs} > {frozenset(pair) for pair in pool.counts.pairs}


def test_what_is_kept_between_searches_changes_nothing(source, monkeypatch):
    monkeypatch.setattr("bagpack.find.candidates.AT_ONCE", 100)
    models = [train_on_examples(source, Examples("part", tuple(GIVEN)), b=b).model for b in (100, 200)]
    asked = FindOptions(scored=40)
    plain, kept = [], []
    for k in (0, 1, 1, 0):
        for keep, found in ((False, plain), (True, kept)):
            found.append(list(collect_pool(source, models[k], "part", asked, keep=keep).counts.pairs))
    assert plain == kept and [len(pairs) for pairs in kept] == [40] * 4


def test_a_fixed_word_keeps_its_place(source, trained):
    def find(**options):
        return find_pairs(source, trained, sentences=False, **options)

    found = find(w2="partb03")
    assert {row.w2 for row in found} == {"partb03"} and len(found) > 5
    assert found[0].w1 in {one for one, two in PARTS if two == "partb03"} - {one for one, _ in GIVEN}
    first = find(w1="parta15")
    assert {row.w1 for row in first} == {"parta15"} and first[0].w2 == "partb03"
    assert pairs_of(find(w1="parta15", w2="partb03")) == [("parta15", "partb03")]
    assert len(find(w2="partb03", per_word=1)) > 5  # the fixed word is exempt
    examples = sorted({word for pair in GIVEN for word in pair})
    assert len(find(w2="partb03", among=examples)) > 1  # of their words alone, which then are not few
    with pytest.raises(InputError, match="unicorn"):
        find(w1="unicorn")
    with pytest.raises(UsageError, match="partb03"):
        find(w1="partb03", w2="partb03")


def test_no_word_fills_the_list(source, trained):
    for per_word in (1, 2):
        found = find_pairs(source, trained, top=60, per_word=per_word, sentences=False)
        for side in ("w1", "w2"):
            words = [getattr(row, side) for row in found]
            assert max(map(words.count, words)) == per_word


def test_most_pairs_have_a_word_that_no_example_has(source):
    given = [(f"parta{i:02d}", f"partb{i % 12:02d}") for i in (0, 1, 2, 3, 12, 13, 14, 15)]
    words = {word for pair in given for word in pair}
    every = find_pairs(source, given, among=sorted(words | {"partb05", "parta05", "parta17"}), **LIST)
    both = [row.w1 in words and row.w2 in words for row in every]
    assert 0 < sum(both) <= 0.25 * len(both) + 1


def test_known_pairs_are_left_out_in_either_order(source, trained):
    plain = find_pairs(source, trained, top=5, sentences=False)
    best = pairs_of(plain)[0]
    for known in (best, best[::-1]):
        others = find_pairs(source, trained, top=5, known=[known], sentences=False)
        assert pairs_of(others)[0] == pairs_of(plain)[1]
    listed = {frozenset(pair) for pair in pairs_of(find_pairs(source, trained, **LIST))}
    assert not any(frozenset(pair) in listed for pair in GIVEN)
    assert any("known pairs excluded" in note for note in plain.notes)


def test_training_pairs_are_known_in_another_form_case_or_tag(tmp_path):
    lines = "cats/NNS/cat are/VBP/be animals/NNS/animal", "A/DT/a dog/NN/dog chases/VBZ/chase cats/NNS/cat"
    rows = [line.replace(" ", "\n").replace("/", "\t") for line in lines * 3]
    (tmp_path / "a.vert").write_text("".join(f"<s>\n{row}\n</s>\n" for row in rows))
    source = index_corpus([str(tmp_path / "a.vert")], tmp_path / "a.bp").corpus
    classifier = RelationClassifier(PairVectorizer(source, b=5))
    model = classifier.fit([("cat/N", "animals"), ("dog", "cat")], ["a", "b"]).model_
    forms = [("cat", "animal"), ("cats", "animals"), ("animals", "cat"), ("dog", "animal")]
    counts = model.count(forms, source)
    assert known_pairs(source, [], counts, model).tolist() == [True, True, True, False]
    for known in (("Cat/N", "animal"), ("animals", "cats/N")):
        assert known_pairs(source, [known], counts).tolist() == [True, True, True, False]


def test_a_term_list_with_terms_of_several_words(source, trained, tmp_path):
    terms = ["red_wheel", "red wheel", "old engine", "parta15", "partb03", "unicorn"]
    found = find_pairs(source, trained, among=terms, min_count=1, pos1="any", pos2="any")
    pairs = [{"red_wheel", "old engine"}, {"parta15", "partb03"}]
    assert {frozenset(pair) for pair in pairs_of(found)} == set(map(frozenset, pairs))
    wheel = next(row for row in found if "red_wheel" in (row.w1, row.w2))
    assert (wheel.together, wheel.n_w1, wheel.n_w2) == (4, 4, 4)
    assert "red wheel" in wheel.sentence
    assert any("unicorn" in note for note in found.notes)
    (tmp_path / "terms.txt").write_text("\n".join(terms))
    again = find_pairs(source, trained, among=tmp_path / "terms.txt", min_count=1, pos1="any", pos2="any")
    assert again.rows == found.rows


@pytest.mark.parametrize("option", ["top 0", "per_word 0", "min_together 0", "label whole", "pos1 noum"])
def test_wrong_options_are_refused(source, trained, option):
    name, value = option.split()
    with pytest.raises(UsageError, match=value):
        find_pairs(source, model=trained.model, **{name: int(value) if value.isdigit() else value})
    with pytest.raises(UsageError):
        find_pairs(source, GIVEN, model=trained.model)


def test_with_few_examples_v12_counts_twice(source):
    trained = train_on_examples(source, Examples("part", tuple(GIVEN)), b=100)
    assert trained.model.preset == Preset("modern", v12=2.0)
    one = trained.model.count(HELD_OUT[:1], source)
    twice, once = trained.model.features(one), modern_features(one)
    blocks, plain = (own.split(own.matrix().toarray().T) for own in (twice, once))
    assert plain["v12"].any()
    for name, rows in plain.items():
        np.testing.assert_allclose(blocks[name], (2 if name == "v12" else 1) * rows)


# The best sentence is the one that alone would give the highest decision ----------------------------------------------


def alone(model, pair, folder):
    """The model's v12 decision of a pair in each sentence, as a corpus of its own, with the whole corpus's basis."""
    output, sign = model.output_of("part")
    holding = {shown(" ".join(own)): own for own in SENTENCES if pair[0] in own and pair[1] in own}
    scores = {}
    for text, sentence in holding.items():
        (folder / f"{pair[0]}{len(scores)}").mkdir()
        source = as_source(make_store(folder / f"{pair[0]}{len(scores)}", [sentence]))
        matrix = count_pairs(source, [pair], model.basis, CountSettings())
        features = model.features(matrix)
        rows = features.split(features.matrix().toarray().T)["v12"].T
        trust = matrix.seen[0] / (matrix.seen[0] + 1)
        scores[text] = sign * float((rows @ model.weights["v12"][:, output])[0]) / trust
    return scores


def shown(text):
    return text.lower().replace(" .", ".")


def test_the_best_sentence_decides_most_alone(source, trained, tmp_path, monkeypatch):
    pairs = HELD_OUT[:3]
    scores = [alone(trained.model, pair, tmp_path) for pair in pairs]
    for own, lines in zip(scores, best_lines(source, trained.model, pairs, "part", most=3), strict=True):
        texts = [shown(line.text) for line in lines]
        assert own[texts[0]] >= max(own.values()) - 0.1  # compared in steps of a tenth
        assert len(texts) == len(set(texts)) == min(3, len(own))
        assert (np.diff([own[text] for text in texts]) <= 0.1).all()
    monkeypatch.setattr(sentences, "SHOWN", 0)  # not all are kept
    source = as_source(make_store(tmp_path, SENTENCES))  # one segment
    for own, (line,) in zip(scores, best_lines(source, trained.model, pairs, "part", most=1), strict=True):
        assert own[shown(line.text)] == max(own.values()) > min(own.values())


def test_of_equal_sentences_the_shortest_is_shown(trained, tmp_path):
    near = ["x1", "x2", "cat", "x3", "lion", "x4", "x5"]
    source = as_source(make_store(tmp_path, [["far", "off", *near, "and", "more"], near, [*near, "too"]]))
    ((line, *_),) = best_lines(source, trained.model, [("cat", "lion")], "part")
    assert line.text.lower() == " ".join(near)
