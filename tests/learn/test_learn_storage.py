import numpy as np
import pytest
from tests.forging import data_of, forge
from tests.synthetic import make_counts

from bagpack.errors import BagpackError, StoreError
from bagpack.learn import RelationClassifier, encode_targets, fit_counts, load_model, model_card, save_model
from bagpack.learn.model_io import verify_model


@pytest.fixture(scope="module")
def data():
    return make_counts(n_pairs=80, n_words=40, n_terms=12, n_labels=3, seed=5)


@pytest.fixture
def saved(data, tmp_path):
    counts, y = data
    model = fit_counts(counts, encode_targets(np.array(["a", "b", "ç"])[y]), preset="paper")
    return save_model(model, tmp_path / "m.model", manifest={"corpus": "made up"})


@pytest.mark.parametrize("kind", ["binary", "multiclass", "rating"])
def test_a_model_comes_back_whole(data, tmp_path, kind):
    counts, y = data
    targets = {
        "binary": lambda: encode_targets(y == 1),
        "multiclass": lambda: encode_targets(y),
        "rating": lambda: encode_targets(y.astype(float), kind="rating"),
    }[kind]()
    model = fit_counts(counts, targets, "v1v2v12")
    path = save_model(model, tmp_path / "deep" / "m", manifest={"tokens": 5})
    again = load_model(path)
    np.testing.assert_array_equal(again.decisions(counts), model.decisions(counts))
    assert list(again.predict(counts)) == list(model.predict(counts))
    assert again.feature_names() == model.feature_names()
    for name in ("kind", "classes", "condition", "preset", "settings"):
        assert getattr(again, name) == getattr(model, name)
    assert again.manifest == {"tokens": 5}
    assert [p.name for p in path.parent.iterdir()] == ["m"], "nothing else is left"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda p: forge(p, format_version=99), "format version 99"),
        (lambda p: forge(p, kind="corpus"), "is a BagPack corpus, not a model"),
        (lambda p: forge(p, predicts="oracle"), "predicts 'oracle'"),
        (lambda p: forge(p, labels=["a"]), "1 labels and 3 outputs"),
        (lambda p: forge(p, blocks=["v1", "v9"]), "over v1, v9, which this version does not have"),
        (lambda p: forge(p, preset="dream"), "which this version does not have: train the model again"),
        (lambda p: forge(p, blocks=[{}]), "wrong entries"),
        (lambda p: (data_of(p) / "v1.weights.npy").unlink(), "v1.weights.npy cannot be read"),
        (
            lambda p: (data_of(p) / "basis.tsv").write_text("kind\tterm\tcount\nunigram\tone\t1\n"),
            "do not belong together",
        ),
        (lambda p: (p / "manifest.json").write_text("{"), "not the JSON it should be"),
        (lambda p: forge(p, format_version=3), "format version 3, .* make it again with bagpack train"),
        (lambda p: forge(p, counting={"limit": 5}), "wrong entries"),
        (lambda p: forge(p, outputs="many"), "wrong entries"),
        (lambda p: np.save(data_of(p) / "intercept.npy", np.full(3, np.nan)), "not finite"),
        (lambda p: np.save(data_of(p) / "intercept.npy", np.array([print], dtype=object)), "cannot be read"),
        (lambda p: np.save(data_of(p) / "v12.idf.npy", np.ones(3)), "do not belong together"),
    ],
)
def test_a_damaged_model_is_refused_in_one_sentence(saved, damage, words):
    damage(saved)
    with pytest.raises(StoreError, match=words):
        load_model(saved)


def test_overwriting_must_be_allowed(saved, data):
    counts, y = data
    model = fit_counts(counts, encode_targets(y == 1))
    with pytest.raises(StoreError, match="exists already"):
        save_model(model, saved)
    save_model(model, saved, overwrite=True)
    assert load_model(saved).kind == "binary"
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_pairs_over_another_basis_are_refused(saved):
    counts, _ = make_counts(n_pairs=10, n_terms=14)
    with pytest.raises(StoreError, match="the basis that the model was trained with"):
        load_model(saved).decisions(counts)


def test_verify_finds_every_flipped_bit(saved):
    assert list(verify_model(saved)) == []
    rng = np.random.default_rng(0)
    for file in [saved / "manifest.json", *sorted(data_of(saved).iterdir())]:
        whole = file.read_bytes()
        for at in rng.integers(0, len(whole), 6).tolist():
            damaged = bytearray(whole)
            damaged[at] ^= 1 << int(rng.integers(8))
            file.write_bytes(bytes(damaged))
            try:
                found = list(verify_model(saved))
            except BagpackError as error:
                found = [str(error)]
            assert found, (file.name, at)
            with pytest.raises(BagpackError):
                load_model(saved)
        file.write_bytes(whole)
    assert list(verify_model(saved)) == []


def test_a_model_remembers_its_training_pairs(data, tmp_path):
    counts, y = data
    classifier = RelationClassifier().fit(counts[:60], y[:60])
    again = load_model(save_model(classifier.model_, tmp_path / "m"))
    known = set(counts.pairs[:60])
    assert again.trained_on(counts).tolist() == [pair in known for pair in counts.pairs]


def test_the_card_shows_what_it_is_given(data, tmp_path):
    counts, y = data
    model = fit_counts(counts, encode_targets(y))
    scores = {"v12": {"auc": {"mean": 0.984, "low": 0.965, "high": 1.003}}, "majority": {"accuracy": 0.25}}
    card = model_card(model, corpus={"name": "a|b", "tokens": 12345}, scores=scores, caps={"words": ["of"]})
    shown = (
        "a\\|b",
        "12345",
        "v12: AUC % | 98.4 (96.5–100.0) |",
        "majority: Accuracy % | 25.0",
        "| words | of |",
    )
    assert all(words in card for words in shown)
    path = save_model(model, tmp_path / "m", card=card)
    assert (path / "README.md").read_text(encoding="utf-8") == card
    assert "not evaluated" in model_card(model)
