"""Models on disk: arrays and JSON, no pickle. Opening a stranger's model runs none of their code.

model.json          format, version, kind, labels, preset, condition, blocks, settings, manifest, checksums, seal
basis.tsv           the basis terms with their counts; with the blocks they give every feature's name
intercept.npy       one per output
BLOCK.weights.npy   columns × outputs
BLOCK.N.ARRAY.npy   what the block's Nth step learned
trained.npy         hashes of the training pairs
README.md           the model card, where one was written
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bagpack._version import __version__
from bagpack.artefacts import (
    check_replaceable,
    check_writable,
    damaged_files,
    member,
    new_directory,
    read_sealed,
    read_unreplaced,
    write_sealed,
)
from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.files import read_json, save_npy, write_bytes
from bagpack.learn.association import Joining
from bagpack.learn.block_weighting import BlockWeighting
from bagpack.learn.calibration import Calibration, Threshold
from bagpack.learn.model import LinearModel
from bagpack.learn.weighting import STEPS, Step
from bagpack.names import JOINED, SEGMENTS, block_width, counted_width

if TYPE_CHECKING:
    from bagpack.learn.types import Floats

FORMAT = "bagpack-model"
VERSION = 2
CURE = "the model is damaged: restore it from a copy, or train it again"
# Newer, or one of the features that were measured and removed again (docs/accuracy.md).
UNKNOWN = "which this version does not have: train the model again, or use the version that wrote it"
KINDS = ("binary", "multiclass", "multilabel", "rating")


def is_model(path: Path) -> bool:
    """Whether a model, intact or damaged, is at a path."""
    return (path / "model.json").is_file()


def check_model_place(path: Path, overwrite: bool) -> None:
    """Whether a model can be written here: asked before the training, not after it."""
    check_replaceable(path, is_ours=is_model, what="model", overwrite=overwrite)
    check_writable(path)


def save_model(
    model: LinearModel,
    path: str | Path,
    *,
    manifest: Mapping[str, Any] | None = None,
    card: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write ``model``, with its probabilities, as the directory ``path``, which gets its name when it is complete.

    ``manifest`` says what made the model (data, parameters, scores); it comes back as ``LinearModel.manifest``.
    ``card`` is Markdown, see `bagpack.learn.card.model_card`.
    """
    path, model = Path(path), model.calibrated
    if model.basis is None or model.counting is None or not set(model.block_names) <= SEGMENTS.keys():
        raise UsageError(
            "the model was trained without the counts of a corpus, so it could not answer for new pairs; "
            "it is not saved"
        )
    for label in model.classes:
        if not isinstance(label, (str, int, float, bool)):
            raise UsageError(f"the label {label!r} cannot be stored: labels must be text or numbers")
    document = {
        "format": FORMAT,
        "version": VERSION,
        "bagpack": __version__,
        "kind": model.kind,
        "labels": list(model.classes),
        "label_sets": model.as_sets,
        "preset": model.preset,
        "condition": model.condition,
        "blocks": [
            {"name": w.name, "factor": w.factor, "steps": [_step_entry(step) for step in w.steps]}
            for w in model.weightings
        ],
        "features": sum(len(weights) for weights in model.weights),
        "outputs": len(model.intercept),
        "counting": model.counting.to_dict(),
        "source": {"path": model.source_path, "content_hash": model.source_hash},
        "calibration": None if model.calibration is None else model.calibration.to_json(),
        "threshold": None if model.threshold is None else asdict(model.threshold),
        "settings": dict(model.settings),
        "manifest": dict(manifest if manifest is not None else model.manifest),
    }
    with new_directory(path, is_ours=is_model, what="model", overwrite=overwrite) as work:
        write_bytes(work / "basis.tsv", model.basis.to_tsv().encode())
        _save(work / "intercept.npy", model.intercept)
        trained = np.empty(0, np.uint64) if model.trained is None else model.trained
        _save(work / "trained.npy", trained)
        for weighting, weights in zip(model.weightings, model.weights, strict=True):
            _save(work / f"{weighting.name}.weights.npy", weights)
            for n, step in enumerate(weighting.steps):
                for name in step.learned:
                    _save(work / _step_file(weighting.name, n, name), getattr(step, name))
        if card is not None:
            (work / "README.md").write_text(card, encoding="utf-8")
        write_sealed(work / "model.json", document)
    return path


def _save(path: Path, array: np.ndarray) -> None:
    with open(path, "wb") as out:
        save_npy(out, array)


def load_model(path: str | Path) -> LinearModel:
    """Read a model that `save_model` wrote, checking version, seal, shapes and checksums."""
    place = Path(path)
    return read_unreplaced(place / "model.json", lambda: _read_model(place))


def _read_model(path: Path) -> LinearModel:
    document = read_model_document(path)
    try:
        basis = Basis.open(member(path, "basis.tsv"))
        outputs = int(document["outputs"])
        kind, labels = document["kind"], tuple(document["labels"])
        if kind not in KINDS:
            raise StoreError(
                f"{path}/model.json has the kind {kind!r}: this version knows {', '.join(KINDS)}"
            )
        expected = 1 if kind in ("binary", "rating") else len(labels)
        if outputs != expected or (kind == "binary" and len(labels) != 2):
            raise StoreError(f"{path}/model.json has {len(labels)} labels and {outputs} outputs; {CURE}")
        blocks = [_read_block(path, entry, len(basis), outputs) for entry in document["blocks"]]
        model = LinearModel(
            kind=kind,
            classes=labels,
            condition=str(document["condition"]),
            preset=str(document["preset"]),
            weightings=tuple(weighting for weighting, _ in blocks),
            weights=tuple(weights for _, weights in blocks),
            intercept=_read_array(path, "intercept.npy", (outputs,)),
            basis=basis,
            counting=CountSettings.from_dict(document["counting"]),
            source_path=str(document["source"]["path"]),
            source_hash=str(document["source"]["content_hash"]),
            settings=dict(document["settings"]),
            manifest=dict(document["manifest"]),
            as_sets=bool(document["label_sets"]),
            calibration=_read_calibration(document["calibration"], kind, outputs),
            threshold=None if document["threshold"] is None else Threshold(**document["threshold"]),
            trained=_read_array(path, "trained.npy", None, np.uint64),
            place=path,
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, BagpackError):
            raise
        raise StoreError(f"{path}/model.json has wrong entries ({error!r}); {CURE}") from None
    # All that is computed with; the card may be edited.
    used = {name: own for name, own in document["checksums"].items() if name.endswith((".npy", ".tsv"))}
    for problem in damaged_files(path, used):
        raise StoreError(f"{problem}; {CURE}")
    return model


load = load_model


def _read_calibration(stored: Any, kind: str, outputs: int) -> Calibration | None:
    if stored is None:
        return None
    found = Calibration.from_json(stored)
    if found.kind != kind or len(found.curves) != outputs:
        raise ValueError(f"{len(found.curves)} calibration curves for {outputs} outputs")
    return found


def read_model_document(path: Path) -> dict[str, Any]:
    """`model.json`, checked for format, version and seal."""
    if not path.is_dir() or not is_model(path):
        raise StoreError(
            f"{path} is not a model (a directory with a model.json); check the path, or train one with bagpack train"
        )
    document = read_json(member(path, "model.json"))
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise StoreError(f"{path}/model.json does not describe a BagPack model")
    if document.get("version") != VERSION:
        raise StoreError(
            f"{path} has model format {document.get('version')!r} (written by BagPack "
            f"{document.get('bagpack', 'unknown')}) and this BagPack, {__version__}, reads format {VERSION}: "
            "train the model again or use the version that wrote it"
        )
    document = read_sealed(path / "model.json")
    if "seal" not in document or not isinstance(document.get("checksums"), dict):
        raise StoreError(f"{path}/model.json has no checksums; {CURE}")
    return document


def verify_model(path: Path) -> Sequence[str]:
    """One message per damaged file; right checksums with wrong content are found by opening the model."""
    return read_unreplaced(path / "model.json", lambda: _model_problems(path))


def _model_problems(path: Path) -> Sequence[str]:
    document = read_model_document(path)
    found = damaged_files(path, document["checksums"])
    if not found:
        unlisted = [
            file.name for file in path.iterdir() if file.name not in (*document["checksums"], "model.json")
        ]
        found = [
            f"{path / name} has no checksum" for name in sorted(unlisted) if name.endswith((".npy", ".tsv"))
        ]
    if not found:
        load_model(path)
    return found


def _read_block(
    path: Path, entry: Mapping[str, Any], terms: int, outputs: int
) -> tuple[BlockWeighting, Floats]:
    name = entry["name"]
    if name not in SEGMENTS:
        raise StoreError(f"{path} uses the block {name!r}, {UNKNOWN}")
    width, before = block_width(name, terms), counted_width(name, terms)
    steps: list[Step] = []
    for n, step_entry in enumerate(entry["steps"]):
        settings = dict(step_entry) if isinstance(step_entry, Mapping) else {"name": step_entry}
        step_name = settings.pop("name")
        if step_name not in STEPS:
            raise StoreError(f"{path} uses the step {step_name!r}, {UNKNOWN}")
        step = STEPS[step_name](**{key: float(value) for key, value in settings.items()})
        for array in step.learned:
            setattr(step, array, _read_array(path, _step_file(name, n, array), (before,)))
        step.n_features_in_ = before
        steps.append(step)
    if (name in JOINED) != any(isinstance(step, Joining) for step in steps):
        raise StoreError(f"{path} weighs the block {name} by steps that do not fit it; {CURE}")
    weights = _read_array(path, f"{name}.weights.npy", (width, outputs))
    return BlockWeighting(name, tuple(steps), float(entry["factor"])), weights


def _step_entry(step: Step) -> str | dict[str, Any]:
    settings = step.settings
    return {"name": step.step_name, **settings} if settings else step.step_name


def _step_file(block: str, n: int, array: str) -> str:
    return f"{block}.{n}.{array.rstrip('_')}.npy"


def _read_array(path: Path, name: str, shape: tuple[int, ...] | None, dtype: Any = np.float64) -> np.ndarray:
    try:
        array = np.load(member(path, name), allow_pickle=False)
    except FileNotFoundError:
        raise StoreError(f"{path} lacks {name}; {CURE}") from None
    except Exception as error:  # numpy evaluates the header, so a damaged one may be a SyntaxError too
        if isinstance(error, BagpackError):
            raise
        raise StoreError(f"{path / name} cannot be read ({error}); {CURE}") from None
    fits = array.ndim == 1 if shape is None else array.shape == shape
    if not fits or array.dtype != dtype:
        raise StoreError(
            f"{path / name} holds {array.dtype} of shape {array.shape}, not {np.dtype(dtype)}"
            f"{f' of shape {shape}' if shape else ''}: the files of this model do not belong together"
        )
    if dtype == np.float64 and not np.isfinite(array).all():
        raise StoreError(f"{path / name} holds values that are not finite numbers; {CURE}")
    return np.asarray(array)
