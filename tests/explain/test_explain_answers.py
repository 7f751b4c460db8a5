"""What an explanation says of the answer itself."""

from bagpack.explain import explain_pair
from bagpack.learn import load_model
from tests.experiments.conftest import made_up_pairs, relations, store  # noqa: F401 (fixtures)
from tests.explain.models import train


def test_training_pairs_and_missing_answers_are_noted(store, relations, tmp_path):  # noqa: F811
    model = load_model(train(store, relations, tmp_path / "m.model", "modern"))
    w1, w2, _ = made_up_pairs()[0]
    assert "the model was trained on this pair" in explain_pair(model, model.source, w1, w2).notes
    turned = explain_pair(model, model.source, w2, w1)
    assert not any("trained on" in note or "none of these" in note for note in turned.notes)
    unknown = explain_pair(model, model.source, w1, "nosuchword")
    assert "the model answers none of these: the corpus does not have a word" in unknown.notes
