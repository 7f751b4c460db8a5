"""The best sentence is the one that alone would give the highest decision."""

import numpy as np

from bagpack import find_pairs
from bagpack.contexts.windows import CountSettings
from bagpack.find import sentences
from bagpack.find.sentences import best_lines
from bagpack.sources import as_source
from bagpack.vectors.counts import count_pairs

from ..contexts.stores import make_store
from .conftest import HELD_OUT, SENTENCES


def alone(model, sentence, pair, tmp_path, number):
    """The model's v12 decision of a pair in a corpus of this sentence alone, with the whole corpus's basis."""
    source = as_source(make_store(tmp_path, [sentence], name=f"{number}.bp"))
    matrix = count_pairs(source, [pair], model.basis, CountSettings())
    output, sign = model.output_of("part")
    features = model.features(matrix)
    rows = features.split(features.matrix().toarray().T)["v12"].T
    trust = matrix.seen[0] / (matrix.seen[0] + 1)
    return sign * float((rows @ model.weights["v12"][:, output])[0]) / trust


def test_the_best_sentence_decides_most_alone(source, trained, tmp_path):
    pairs = HELD_OUT[:4]
    lines = best_lines(source, trained.model, pairs, "part", most=3)
    for pair, own in zip(pairs, lines, strict=True):
        holding = {" ".join(s): s for s in SENTENCES if pair[0] in s and pair[1] in s}
        scores = {
            text: alone(trained.model, sentence, pair, tmp_path / pair[0], number)
            for number, (text, sentence) in enumerate(holding.items())
            if not (tmp_path / pair[0]).mkdir(exist_ok=True)
        }
        best = max(scores.values())
        shown = [line.text.replace(" .", ".") for line in own]
        texts = {text.replace(" .", "."): score for text, score in scores.items()}
        assert texts[shown[0]] >= best - 0.1  # compared in steps of a tenth
        assert len(shown) == len(set(shown)) == min(3, len(holding))
        order = np.array([texts[text] for text in shown])
        assert (np.diff(order) <= 0.1).all()


def test_the_best_is_kept_where_not_all_are(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(sentences, "SHOWN", 0)
    source = as_source(make_store(tmp_path, SENTENCES))  # one segment
    pairs = HELD_OUT[:3]
    for pair, (line,) in zip(pairs, best_lines(source, trained.model, pairs, "part", most=1), strict=True):
        (tmp_path / pair[0]).mkdir()
        scores = {
            " ".join(own).replace(" .", "."): alone(trained.model, own, pair, tmp_path / pair[0], number)
            for number, own in enumerate(SENTENCES)
            if pair[0] in own and pair[1] in own
        }
        assert scores[line.text.lower().replace(" .", ".")] == max(scores.values()) > min(scores.values())


def test_found_pairs_have_their_sentences(source, trained):
    found = find_pairs(source, trained, top=12)
    assert len(found) == 12
    for row in found:
        line = row.line
        words = row.sentence.replace(".", " .").split()
        assert {row.w1, row.w2} <= set(words) and line.text == row.sentence
        assert row.document == "all"
    unknown = best_lines(source, trained.model, [("unicorn", "parta00"), ("kinda00", "toola00")], "part")
    assert unknown[0] == []


def test_of_equal_sentences_the_shortest_is_shown(trained, tmp_path):
    near = ["x1", "x2", "cat", "x3", "lion", "x4", "x5"]
    source = as_source(make_store(tmp_path, [["far", "off", *near, "and", "more"], near, [*near, "too"]]))
    ((line, *_),) = best_lines(source, trained.model, [("cat", "lion")], "part")
    assert line.text.lower() == " ".join(near)
