"""Examples and the negatives that are drawn for them."""

import numpy as np
import pytest

from bagpack import find_pairs, parallel
from bagpack.errors import InputError, UsageError
from bagpack.find import training
from bagpack.find.examples import Examples, read_examples
from bagpack.find.negatives import draw_negatives, number_to_draw
from bagpack.find.training import train_on_examples
from bagpack.learn.fitting import fit_counts
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import encode_targets
from bagpack.vectors.counts import forget

from ..contexts import oracle
from .conftest import GIVEN, HELD_OUT, SENTENCES

EXAMPLES = Examples("part", tuple(GIVEN))


def test_negatives_co_occur_and_are_no_examples(source):
    drawn = draw_negatives(source, EXAMPLES, 80)
    assert 75 <= len(drawn) == len(set(drawn)) <= 80
    assert not {frozenset(pair) for pair in drawn} & {frozenset(pair) for pair in GIVEN}
    for one, two in drawn:
        assert list(oracle.pair_contexts(SENTENCES, (one,), (two,)))
    firsts, seconds = ({pair[side] for pair in GIVEN} for side in (0, 1))
    near = [pair for pair in drawn if pair[0] in firsts or pair[1] in seconds]
    assert len(near) >= 0.4 * len(drawn)
    with parallel.settings(n_jobs=2):
        assert drawn == draw_negatives(source, EXAMPLES, 80) != draw_negatives(source, EXAMPLES, 80, seed=1)


def test_a_symmetric_relation_has_no_reversed_negatives(source):
    turned = {pair[::-1] for pair in GIVEN}
    assert turned <= set(train_on_examples(source, EXAMPLES, b=100).drawn)
    symmetric = Examples("part", (*GIVEN, GIVEN[0][::-1]))
    assert not turned & set(train_on_examples(source, symmetric, b=100).drawn)


def test_the_number_of_negatives_grows_with_the_examples():
    assert [number_to_draw(n) for n in (1, 20, 50, 10_000)] == [200, 200, 500, 4000]


def test_what_was_trained_on_is_said(source):
    lost = ("unicorn", "horn")
    examples = Examples("part", (*GIVEN, lost), (("kinda01", "kindb01"),))
    trained = train_on_examples(source, examples, seed=3)
    assert "10 examples of part and 1 of" in trained.notes[0]
    assert f"{len(trained.drawn)} other pairs" in trained.notes[0]
    assert trained.notes[1].endswith("unicorn, horn")


def test_the_model_is_the_mean_of_one_per_hand(source):
    """The drawn pairs are dealt; each hand has all examples and their reverses."""
    trained = train_on_examples(source, EXAMPLES, b=100)
    given, reversed_ = len(GIVEN), {pair[::-1] for pair in GIVEN}
    hands = training._deal(len(trained.drawn), given, len(reversed_), number_to_draw(given))
    assert set(trained.drawn[: len(reversed_)]) == reversed_
    pairs = [*GIVEN, *trained.drawn]
    common = {*GIVEN, *reversed_}
    rest = [{pairs[row] for row in hand} - common for hand in hands]
    assert all(common <= {pairs[row] for row in hand} for hand in hands)
    assert set().union(*rest) == set(pairs) - common and sum(map(len, rest)) == len(set(pairs) - common)
    counts, preset = trained.counts, trained.model.preset
    models = []
    for hand in hands:
        targets = encode_targets(["part" if row < given else "no" for row in hand.tolist()])
        own = fit_counts(counts[hand], targets, preset=preset, svm=SvmSettings())
        models.append(own)
    expected = np.mean([model.decisions(HELD_OUT) for model in models], axis=0)
    np.testing.assert_allclose(trained.model.decisions(HELD_OUT), expected, atol=1e-9)
    own = trained.model.scores_of(trained.model.decisions(GIVEN))[:, 1]
    assert trained.held_out.shape == (given,) and (trained.held_out < own).mean() > 0.5


def test_examples_with_and_without_labels(write):
    def read(rows, label=None, header="w1 w2 label"):
        lines = [header, *rows.split("|")]
        return read_examples(write("e.tsv", "".join(f"{line}\n" for line in lines).replace(" ", "\t")), label)

    plain = read("leaf tree|leaf tree", header="w1 w2")
    assert plain == Examples("yes", (("leaf", "tree"),), (), plain.path)
    found = read("leaf tree 0.9 12", header="w1 w2 score together")  # as `find` writes it
    assert found.positives == (("leaf", "tree"),)
    answered = read("leaf tree part|sea tree no|sea sky none")
    assert (answered.label, answered.positives) == ("part", (("leaf", "tree"),))
    assert answered.negatives == (("sea", "tree"), ("sea", "sky"))
    several = "leaf tree part|leaf tree piece|oak tree kind"
    chosen = read(several, "part")
    assert (chosen.positives, chosen.negatives) == ((("leaf", "tree"),), (("oak", "tree"),))
    case = "leaf tree part|oak tree Part|sea tree no"
    assert read(case, "part").negatives == (("oak", "tree"), ("sea", "tree"))
    for rows, label, error, message in (
        (several, None, UsageError, "3 labels; .* --label: kind, part, piece"),
        (several, "parts", UsageError, "'parts'.* part.* piece"), (case, None, UsageError, "2 labels"),
        ("sea tree no", None, InputError, "positive"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            read(rows, label)
    with pytest.raises(InputError, match=r"e\.tsv has ratings .*column rating.* add a column label"):
        read("leaf tree 5", header="w1 w2 Rating")


def test_one_positive_is_enough(source):
    trained = train_on_examples(source, Examples("part", tuple(GIVEN[:1])))
    assert trained.model.decisions(GIVEN[:1])[0, 0] > 0
    assert len(find_pairs(source, trained, top=3, sentences=False)) == 3


def test_scores_do_not_depend_on_what_was_counted_before(source):
    """Counts are remembered in a process, and words that were counted earlier have the lower numbers."""
    forget()
    alone = train_on_examples(source, Examples("part", tuple(GIVEN[4:])), b=100).model
    forget()
    train_on_examples(source, Examples("part", tuple(HELD_OUT)), b=100, seed=1)
    after = train_on_examples(source, Examples("part", tuple(GIVEN[4:])), b=100).model
    np.testing.assert_array_equal(after.decisions(HELD_OUT), alone.decisions(HELD_OUT))
