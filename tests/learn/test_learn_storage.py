import io

import numpy as np
import pytest
from tests.forging import assert_damage_is_found, data_of, forge
from tests.synthetic import make_counts

from bagpack.errors import BagpackError, StoreError
from bagpack.files import digest_file
from bagpack.info import damages
from bagpack.learn.features import Preset
from bagpack.learn.fitting import fit_counts
from bagpack.learn.model_io import load_model, model_card, save_model, verify_model
from bagpack.learn.targets import encode_targets

BASIS = b"kind\tterm\tcount\nunigram\tone\t1\n"


@pytest.fixture(scope="module")
def data():
    return make_counts(n_pairs=80, n_words=40, n_terms=12, n_labels=3, seed=5)


@pytest.fixture
def saved(data, tmp_path):
    counts, y = data
    model = fit_counts(counts, encode_targets(np.array(["a", "b", "ç"])[y]), preset="paper")
    return save_model(model, tmp_path / "m.model", manifest={"corpus": "made up"})


@pytest.mark.parametrize("preset", ["modern", Preset("modern", v12=2.0), "paper"])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "rating"])
def test_a_model_comes_back_whole(data, tmp_path, kind, preset):
    counts, y = data
    answers, of = y == 1 if kind == "binary" else y, "rating" if kind == "rating" else "labels"
    model = fit_counts(counts, encode_targets(answers, kind=of), preset=preset)
    path = save_model(model, tmp_path / "deep" / "m", manifest={"tokens": 5})
    again = load_model(path)
    np.testing.assert_array_equal(again.decisions(counts), model.decisions(counts))
    assert list(again.predict(counts)) == list(model.predict(counts))
    for name in ("kind", "classes", "condition", "preset", "settings"):
        assert getattr(again, name) == getattr(model, name)
    assert again.manifest == {"tokens": 5}
    assert [p.name for p in path.parent.iterdir()] == ["m"], "nothing else is left"
    # Decisions are sums of named features.
    assert again.feature_names() == model.feature_names()
    assert len(again.feature_names()) == sum(len(weights) for weights in again.weights.values())
    written_out = again.features(counts).matrix() @ again.weight_matrix().T + again.intercept
    np.testing.assert_allclose(written_out, model.decisions(counts), atol=1e-9)


def array(*values, dtype=float):
    """The content of a file with this array."""
    out = io.BytesIO()
    np.save(out, np.array(values, dtype))
    return out.getvalue()


def digest_of(path, name):
    return digest_file(data_of(path) / name)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda p: forge(p, format_version=99), "format version 99"),
        (lambda p: forge(p, kind="corpus"), "corpus, not a model"),
        (lambda p: (p / "manifest.json").write_text("{"), r"manifest\.json .*JSON"),
        (lambda p: forge(p, predicts="binary"), "3 labels and 3 outputs .* predicts 'binary'"),
        (lambda p: forge(p, labels=["a"]), "1 labels and 3 outputs"),
        (lambda p: forge(p, blocks=["v1", "v9"]), "wrong entries .*v9"),
        (lambda p: forge(p, preset="dream"), "unknown preset 'dream'"),
        (lambda p: forge(p, counting={"limit": 5}), "wrong entries"),
        (lambda p: forge(p, calibration={"kind": "multiclass", "curves": []}), "calibration curves"),
        (lambda p: (data_of(p) / "v1.weights.npy").unlink(), "v1.weights.npy is missing; .*train it again"),
        (lambda p: (data_of(p) / "v1.idf.npy").write_bytes(b""), "v1.idf.npy .*checksum"),
        (lambda p: forge(p, file="basis.tsv", content=BASIS), "v1.weights.npy has float64 of shape"),
        (lambda p: forge(p, file="intercept.npy", content=array(1, np.nan, 1)), "not finite"),
        (lambda p: forge(p, file="intercept.npy", content=array(1, 1, 1, dtype=int)), "has int64"),
        (lambda p: forge(p, file="intercept.npy", content=array(print, dtype=object)), "wrong entries"),
        (lambda p: forge(p, file="intercept.npy", content=b"\x93NUMPY\x01\x00\x02\x00{("), "wrong entries"),
        (lambda p: forge(p, file="v12.idf.npy", content=array(1, 1, 1)), r"has float64 of shape \(3"),
        (lambda p: forge(p, checksums={"basis.tsv": digest_of(p, "basis.tsv")}), "no checksum"),
    ],
)
def test_a_damaged_model_is_refused_in_one_sentence(saved, damage, words):
    damage(saved)
    with pytest.raises(StoreError, match=words):
        load_model(saved)


def test_overwriting_must_be_allowed(saved, data):
    counts, y = data
    model = fit_counts(counts, encode_targets(y == 1))
    with pytest.raises(StoreError, match=rf"{saved.name} exists"):
        save_model(model, saved)
    save_model(model, saved, overwrite=True)
    assert load_model(saved).kind == "binary"
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]
    with pytest.raises(StoreError, match="basis"):
        load_model(saved).decisions(make_counts(n_pairs=10, n_terms=14)[0])


def test_verify_finds_every_flipped_bit(saved):
    for _ in assert_damage_is_found(saved, damages):
        with pytest.raises(BagpackError):
            _ = load_model(saved).training


def test_the_card_shows_what_it_is_given(data, tmp_path):
    counts, y = data
    model = fit_counts(counts, encode_targets(y))
    scores = {
        "v12": {"auc": {"mean": 0.984, "low": 0.965, "high": 1.003}},
        "majority": {"accuracy": {"mean": 0.25, "low": None, "high": None}},
    }
    card = model_card(model, corpus={"name": "a|b", "tokens": 12345}, scores=scores, caps={"words": ["of"]})
    for shown in (
        "a\\|b", "12345", "v12: AUC % | 98.4 (96.5–100.0) |", "majority: Accuracy % | 25.0", "| words | of |"
    ):  # fmt: skip
        assert shown in card, shown
    path = save_model(model, tmp_path / "m", card=card)
    assert (path / "README.md").read_text(encoding="utf-8") == card
    assert "not evaluated" in model_card(model)


# The training pairs: a decision is the same sum over them, before and after saving --------------------------------


@pytest.mark.parametrize("gram_rows", [4000, 0])
@pytest.mark.parametrize("preset", ["modern", "paper"])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "rating"])
@pytest.mark.parametrize("condition", ["v1v2", "v12", "v1v2v12"])
def test_the_kernel_sum_is_the_decision(monkeypatch, gram_rows, preset, kind, condition, tmp_path):
    monkeypatch.setattr("bagpack.learn.svm.GRAM_ROWS", gram_rows)
    counts, y = make_counts(n_pairs=80, n_words=40, n_terms=12, n_labels=3, seed=5)
    of = "rating" if kind == "rating" else "labels"
    targets = encode_targets(y == 1 if kind == "binary" else y, kind=of)
    train, new = np.arange(60), np.arange(60, 80)
    model = fit_counts(counts[train], targets[train], condition, preset)
    for one in (model, load_model(save_model(model, tmp_path / "m"))):
        training = one.training
        names = [[training.names[word] for word in column] for column in (training.w1, training.w2)]
        assert list(zip(*names, strict=True)) == list(counts[train].pairs)
        np.testing.assert_allclose(training.coef.sum(axis=0), 0, atol=1e-9)
        features = one.features(counts[new])
        dense = {block: part.T for block, part in features.split(features.matrix().toarray().T).items()}
        total = one.intercept + sum(training.means[block] @ one.weights[block] for block in dense)
        total = np.tile(total, (len(new), 1))
        for block, rows in dense.items():
            if block in training.rows:
                total += [training.likeness(block, row) @ training.coefficients(block) for row in rows]
            else:
                total += (rows - training.means[block]) @ one.weights[block]
        np.testing.assert_allclose(total, one.decisions(counts[new]), atol=1e-6)


def test_damaged_training_pairs_are_reported_and_predictions_do_not_need_them(tmp_path):
    counts, y = make_counts(n_pairs=60, n_words=30, n_terms=12, n_labels=3, seed=5)
    path = save_model(fit_counts(counts, encode_targets(y)), tmp_path / "m")
    file = data_of(path) / "training.npz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    model = load_model(path)
    assert len(model.predict(counts)) == 60
    with pytest.raises(StoreError, match=r"training\.npz .*train "):
        _ = model.training
    assert any("training.npz" in problem for problem in verify_model(path))
