import json

import numpy as np
import pytest
from tests.kills import killed_at

from bagpack.artefacts import recover_replaced, seal_of
from bagpack.errors import BagpackError, StoreError
from bagpack.learn import RelationClassifier, encode_targets, fit_counts, load_model, model_card, save_model
from bagpack.learn.model_io import verify_model
from bagpack.learn.synthetic import make_counts


@pytest.fixture(scope="module")
def data():
    return make_counts(n_pairs=80, n_words=40, n_terms=12, n_labels=3, seed=5)


@pytest.fixture
def saved(data, tmp_path):
    counts, y = data
    model = fit_counts(counts, encode_targets(np.array(["a", "b", "ç"])[y]), preset="paper")
    return save_model(model, tmp_path / "m.model", manifest={"corpus": "made up"})


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel", "rating"])
def test_a_model_comes_back_whole(data, tmp_path, kind):
    counts, y = data
    targets = {
        "binary": lambda: encode_targets(y == 1),
        "multiclass": lambda: encode_targets(y),
        "multilabel": lambda: encode_targets([{"x"} if label else {"x", "y"} for label in y]),
        "rating": lambda: encode_targets(y.astype(float), kind="rating"),
    }[kind]()
    model = fit_counts(counts, targets, "v1v2v12")
    path = save_model(model, tmp_path / "deep" / "m", manifest={"tokens": 5})
    again = load_model(path)
    np.testing.assert_array_equal(again.decisions(counts), model.decisions(counts))
    assert list(again.predict(counts)) == list(model.predict(counts))
    assert again.feature_names() == model.feature_names()
    assert (again.kind, again.classes, again.condition, again.preset) == (
        model.kind,
        model.classes,
        model.condition,
        model.preset,
    )
    assert again.settings == model.settings
    assert again.manifest == {"tokens": 5}
    assert [p.name for p in path.parent.iterdir()] == ["m"], "nothing else is left"


def test_no_pickle_anywhere(saved):
    suffixes = {p.suffix for p in saved.iterdir()}
    assert suffixes == {".npy", ".json", ".tsv"}
    for array in saved.glob("*.npy"):
        np.load(array, allow_pickle=False)


def test_a_pickled_array_is_not_opened(saved):
    np.save(saved / "intercept.npy", np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(StoreError, match="cannot be read"):
        load_model(saved)


def _edit(path, **changes):
    document = {**json.loads((path / "model.json").read_text()), **changes}
    (path / "model.json").write_text(json.dumps({**document, "seal": seal_of(document)}))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda p: _edit(p, version=99), "model format 99"),
        (lambda p: _edit(p, format="other"), "does not describe"),
        (lambda p: _edit(p, kind="oracle"), "kind 'oracle'"),
        (lambda p: _edit(p, labels=["a"]), "1 labels and 3 outputs"),
        (lambda p: _edit(p, blocks=[{"name": "v9", "factor": 1, "steps": []}]), "block 'v9'"),
        (lambda p: _edit(p, blocks=[{"name": "v1", "factor": 1, "steps": ["x"]}]), "step 'x'"),
        (lambda p: _edit(p, blocks=[{}]), "wrong entries"),
        (lambda p: (p / "v1.weights.npy").unlink(), "lacks v1.weights.npy"),
        (
            lambda p: (p / "basis.tsv").write_text("kind\tterm\tcount\nunigram\tone\t1\n"),
            "do not belong together",
        ),
        (lambda p: (p / "model.json").write_text("{"), "not the JSON it should be"),
        (lambda p: (p / "model.json").write_text("[]"), "does not describe"),
        (lambda p: _edit(p, version=1), "model format 1 .* train the model again"),
        (lambda p: _edit(p, counting={"limit": 5}), "wrong entries"),
        (lambda p: _edit(p, outputs="many"), "wrong entries"),
        (lambda p: np.save(p / "intercept.npy", np.full(3, np.nan)), "not finite"),
        (lambda p: (p / "intercept.npy").write_bytes(b"\x93NUMPY"), "cannot be read"),
        (lambda p: np.save(p / "v12.0.idf.npy", np.ones(3)), "do not belong together"),
    ],
)
def test_a_damaged_model_is_refused_in_one_sentence(saved, damage, words):
    damage(saved)
    with pytest.raises(StoreError, match=words):
        load_model(saved)


def test_what_is_no_model(tmp_path):
    with pytest.raises(StoreError, match="is not a model"):
        load_model(tmp_path)


def test_overwriting_must_be_allowed(saved, data):
    counts, y = data
    model = fit_counts(counts, encode_targets(y == 1))
    with pytest.raises(StoreError, match="exists already"):
        save_model(model, saved)
    save_model(model, saved, overwrite=True)
    assert load_model(saved).kind == "binary"
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]
    other = saved.parent / "notes"
    other.mkdir()
    (other / "mine.txt").write_text("kept")
    with pytest.raises(StoreError, match="is not a BagPack model"):
        save_model(model, other, overwrite=True)
    assert (other / "mine.txt").read_text() == "kept"


@pytest.mark.costly
@pytest.mark.parametrize("can_exchange", [True, False])
def test_an_overwrite_that_is_killed_at_any_step(saved, data, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr("bagpack.artefacts.exchange", lambda first, second: False)
    counts, y = data
    old, new = load_model(saved), fit_counts(counts, encode_targets(y == 1))
    seen = set()
    for step in range(1, 200):
        save_model(old, saved, overwrite=True)
        died = killed_at(step, lambda: save_model(new, saved, card="# A card\n", overwrite=True))
        recover_replaced(saved)
        assert verify_model(saved) == []
        seen.add(load_model(saved).kind)
        if not died:
            break
    assert step > 8
    assert seen == {"multiclass", "binary"}
    assert [entry.name for entry in saved.parent.iterdir()] == [saved.name]


def test_a_file_of_someone_else_in_a_model(saved):
    (saved / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"notes\.txt is not a file of the model .*; move it elsewhere"):
        save_model(load_model(saved), saved, overwrite=True)
    assert (saved / "notes.txt").read_text() == "mine"


def test_pairs_over_another_basis_are_refused(saved):
    counts, _ = make_counts(n_pairs=10, n_terms=14)
    with pytest.raises(StoreError, match="the basis that the model was trained with"):
        load_model(saved).decisions(counts)


def test_verify_finds_every_flipped_bit(saved):
    assert list(verify_model(saved)) == []
    rng = np.random.default_rng(0)
    for file in sorted(saved.iterdir()):
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


def test_a_card_may_be_edited(saved):
    save_model(load_model(saved), saved, card="# A card\n", overwrite=True)
    (saved / "README.md").write_text("# My card\n")
    assert load_model(saved).kind == "multiclass"


def test_a_model_remembers_its_training_pairs(data, tmp_path):
    counts, y = data
    classifier = RelationClassifier().fit(counts[:60], y[:60])
    again = load_model(save_model(classifier.model_, tmp_path / "m"))
    known = set(counts.pairs[:60])
    assert again.trained_on(counts.pairs).tolist() == [pair in known for pair in counts.pairs]
    assert again.trained_on([("w1", "never")]).tolist() == [False]


def test_the_card_shows_what_it_is_given(data, tmp_path):
    counts, y = data
    model = fit_counts(counts, encode_targets(y))
    card = model_card(
        model,
        corpus={"name": "a|b", "tokens": 12345},
        data={"pairs": 80, "labels": {"0": 20, "1": 30}},
        scores={
            "v12": {
                "accuracy": {"mean": 0.5, "low": 0.4, "high": 0.6},
                "auc": {"mean": 0.984, "low": 0.965, "high": 1.003},
            },
            "majority": {"accuracy": 0.25},
        },
        coverage={"never seen together": 24},
        caps={"words": ["of"]},
        versions={"numpy": "2"},
    )
    for words in (
        "a\\|b",
        "12345",
        "| Accuracy % | AUC % |",
        "50.0 (40.0–60.0)",
        "98.4 (96.5–100.0)",
        "25.0",
        "never seen together",
        "| words | of |",
        "`v",
    ):
        assert words in card
    path = save_model(model, tmp_path / "m", card=card)
    assert (path / "README.md").read_text(encoding="utf-8") == card
    assert "Not evaluated" in model_card(model)


def test_a_file_that_may_not_grow_is_named(tmp_path):
    resource = pytest.importorskip("resource")
    counts, y = make_counts(n_pairs=40, n_words=20, n_terms=200, seed=4)
    model = fit_counts(counts, encode_targets(y))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, before[1]))
    try:
        with pytest.raises(StoreError, match="larger than the file size limit"):
            save_model(model, tmp_path / "other.model")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.glob("other.model*"))


def test_a_place_that_cannot_be_written_is_reported(tmp_path):
    counts, y = make_counts(n_pairs=40, n_words=20, seed=4)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot be written: .*; choose another place"):
        save_model(fit_counts(counts, encode_targets(y)), tmp_path / "file" / "m.model")
