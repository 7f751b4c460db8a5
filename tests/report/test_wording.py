import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import samples

from bagpack import wording
from bagpack.report.charts import make_axis


@pytest.mark.parametrize(("name", "place", "pattern"), samples("report/features.jsonl"))
def test_features_in_words(name, place, pattern):
    assert wording.say_feature(name) == (pattern, place)
    assert wording.say_feature("v12:+betw:of", "leaf", "tree") == ("leaf … of … tree", "between, leaf first")


@pytest.mark.parametrize(
    ("name", "count", "said"),
    [("v12:+betw:of", 1200, "1,200×"), ("v1·v2:pre:cause", 11, "11× with both"), ("pair:together", 5, "5×"),
     ("pair:order", -2, "2× more with lion first"), ("pair:order", 0, "as often either way")],
)  # fmt: skip
def test_what_a_count_means(name, count, said):
    assert wording.say_evidence(name, count, "cat", "lion") == said


def test_a_word_with_itself_has_two_places():
    described = [wording.describe_block(block, "smith", "smith") for block in ("v1", "v2", "v12")]
    assert described == ["smith alone, as the first", "smith alone, as the second", "together"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.sampled_from(["spearman", "mae"]))
def test_an_axis_holds_its_values_with_few_distinct_ticks(values, metric):
    axis = make_axis(values, metric)
    assert axis.low <= min(values) and axis.high >= max(values)
    assert 2 <= len({tick.text for tick in axis.ticks}) == len(axis.ticks) <= 9
    assert (axis.ticks[0].at, axis.ticks[-1].at) == (0, 100)


@pytest.mark.parametrize(
    ("values", "metric", "ticks"),
    [([-0.4, 0.5], "spearman", "−0.50 −0.25 0.00 0.25 0.50 0.75"),
     ([0.0, 1.0], "accuracy", "0 25 50 75 100"),
     ([0.95], "accuracy", "87.5 90.0 92.5 95.0 97.5 100.0")],
)  # fmt: skip
def test_ticks_are_written_with_the_decimals_they_need(values, metric, ticks):
    assert [tick.text for tick in make_axis(values, metric).ticks] == ticks.split()


@given(st.lists(st.floats(-0.2, 1.2), max_size=20) | st.sampled_from([[-0.3, 0.2], [0.9, 1.4], [-1.0, 2.0]]))
def test_a_percentage_axis_stays_between_0_and_100(values):
    """An interval may reach beyond 1; the axis does not, and its marks are at its ends."""
    axis = make_axis(values, "accuracy")
    assert 0 <= axis.low < axis.high <= 1 + 1e-9
    assert all(0 <= axis.at(value) <= 100 for value in values)
    assert len({tick.text for tick in axis.ticks}) == len(axis.ticks)
    inside = [min(1.0, max(0.0, value)) for value in values]
    assert make_axis(inside, "accuracy") == axis, "values beyond 0 and 100 do not widen the axis"
