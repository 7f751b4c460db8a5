"""What a model keeps of its training pairs: a decision is the same sum over them, before and after saving."""

import numpy as np
import pytest
from tests.forging import data_of
from tests.synthetic import make_counts

from bagpack.errors import StoreError
from bagpack.learn.fitting import fit_counts
from bagpack.learn.model_io import load_model, save_model, verify_model
from bagpack.learn.targets import encode_targets


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
    model = fit_counts(counts[train], targets[train], condition, preset, keep_training=True)
    for one in (model, load_model(save_model(model, tmp_path / "m"))):
        training = one.training
        named = [
            (training.names[a], training.names[b]) for a, b in zip(training.w1, training.w2, strict=True)
        ]
        assert named == list(counts[train].pairs)
        np.testing.assert_allclose(training.coef.sum(axis=0), 0, atol=1e-9)
        features = one.features(counts[new])
        dense = {block: part.T for block, part in features.split(features.matrix().toarray().T).items()}
        total = one.intercept + sum(training.means[block] @ one.weights[block] for block in dense)
        total = np.tile(total, (len(new), 1))
        for block, rows in dense.items():
            if block in training.rows:
                shares = [training.likeness(block, row) @ training.coefficients(block) for row in rows]
            else:
                shares = (rows - training.means[block]) @ one.weights[block]
            total += shares
        np.testing.assert_allclose(total, one.decisions(counts[new]), atol=1e-6)


def test_damaged_training_pairs_are_reported_and_predictions_do_not_need_them(tmp_path):
    counts, y = make_counts(n_pairs=60, n_words=30, n_terms=12, n_labels=3, seed=5)
    path = save_model(fit_counts(counts, encode_targets(y), keep_training=True), tmp_path / "m")
    file = data_of(path) / "training.npz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    model = load_model(path)
    assert len(model.predict(counts)) == 60
    with pytest.raises(StoreError, match=r"training\.npz .*train it again"):
        _ = model.training
    assert any("training.npz" in problem for problem in verify_model(path))
