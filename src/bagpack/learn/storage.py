"""Models on disk: arrays and JSON, no pickle. Opening a stranger's model runs none of their code.

model.json          format, version, kind, labels, preset, condition, blocks, settings, manifest
terms.json          the basis terms; with the blocks they give every feature's name
intercept.npy       one per output
BLOCK.weights.npy   columns × outputs
BLOCK.N.ARRAY.npy   what the block's Nth step learned
README.md           the model card, where one was written
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bagpack._version import __version__
from bagpack.errors import StoreError, UsageError
from bagpack.files import disk_errors
from bagpack.learn.blocks import BLOCKS, feature_names
from bagpack.learn.interactions import JOINED, Joining
from bagpack.learn.model import BlockWeighting, LinearModel
from bagpack.learn.weighting import STEPS, Step

if TYPE_CHECKING:
    from bagpack.learn.types import Floats, Json

FORMAT = "bagpack-model"
VERSION = 1
# Newer, or one of the features that were measured and removed again (docs/accuracy.md).
UNKNOWN = "which this version does not have: train the model again, or use the version that wrote it"
KINDS = ("binary", "multiclass", "multilabel", "rating")


def save_model(
    model: LinearModel,
    path: str | Path,
    *,
    manifest: Mapping[str, Any] | None = None,
    card: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write ``model`` as the directory ``path``: beside it, then renamed, so that what stands there is whole.

    ``manifest`` says what made the model (corpus, data, parameters, hashes); it comes back as
    ``LinearModel.manifest``. ``card`` is Markdown, see `bagpack.learn.card.model_card`.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists already: name another directory, or allow overwriting")
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
        "settings": dict(model.settings),
        "manifest": dict(manifest if manifest is not None else model.manifest),
    }
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        with disk_errors(path):
            _write_json(beside / "model.json", document)
            _write_json(beside / "terms.json", list(model.terms))
            np.save(beside / "intercept.npy", model.intercept, allow_pickle=False)
            for weighting, weights in zip(model.weightings, model.weights, strict=True):
                np.save(beside / f"{weighting.name}.weights.npy", weights, allow_pickle=False)
                for n, step in enumerate(weighting.steps):
                    for name in step.learned:
                        np.save(
                            beside / _step_file(weighting.name, n, name),
                            getattr(step, name),
                            allow_pickle=False,
                        )
            if card is not None:
                (beside / "README.md").write_text(card, encoding="utf-8")
            beside.chmod(0o755)
            _rename_into_place(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return path


def load_model(path: str | Path) -> LinearModel:
    """Read a model that `save_model` wrote, checking version and shapes."""
    path = Path(path)
    document = _read_document(path)
    terms = _read_terms(path, "terms.json")
    try:
        outputs = int(document["outputs"])
        weightings, weights = [], []
        for entry in document["blocks"]:
            weighting, block_weights = _read_block(path, entry, terms, outputs)
            weightings.append(weighting)
            weights.append(block_weights)
        kind, labels = document["kind"], tuple(document["labels"])
        if kind not in KINDS:
            raise StoreError(
                f"{path}/model.json has the kind {kind!r}: this version knows {', '.join(KINDS)}"
            )
        expected = 1 if kind in ("binary", "rating") else len(labels)
        if outputs != expected or (kind == "binary" and len(labels) != 2):
            raise StoreError(
                f"{path}/model.json has {len(labels)} labels and {outputs} outputs: it is damaged"
            )
        return LinearModel(
            kind=kind,
            classes=labels,
            condition=str(document["condition"]),
            preset=str(document["preset"]),
            terms=terms,
            weightings=tuple(weightings),
            weights=tuple(weights),
            intercept=_read_array(path, "intercept.npy", (outputs,)),
            settings=document["settings"],
            manifest=document["manifest"],
            as_sets=bool(document["label_sets"]),
            place=path,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}/model.json is damaged ({error!r}): train the model again") from None


def _read_document(path: Path) -> dict[str, Any]:
    if not path.is_dir() or not (path / "model.json").is_file():
        raise StoreError(
            f"{path} is not a model (a directory with a model.json); check the path, or train one with bagpack train"
        )
    document = _read_json(path, "model.json")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise StoreError(f"{path}/model.json does not describe a BagPack model")
    if document.get("version") != VERSION:
        raise StoreError(
            f"{path} has model format {document.get('version')!r} (written by BagPack "
            f"{document.get('bagpack', 'unknown')}) and this BagPack, {__version__}, reads format {VERSION}: "
            "train the model again or use the version that wrote it"
        )
    return document


def _read_terms(path: Path, name: str) -> tuple[str, ...]:
    terms = _read_json(path, name)
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        raise StoreError(f"{path / name} is not a list of terms: the model is damaged; train it again")
    return tuple(terms)


def _read_block(
    path: Path,
    entry: Mapping[str, Any],
    terms: tuple[str, ...],
    outputs: int,
) -> tuple[BlockWeighting, Floats]:
    name = entry["name"]
    if name not in BLOCKS:
        raise StoreError(f"{path} uses the block {name!r}, {UNKNOWN}")
    width = len(feature_names(name, terms))
    # Until a step joins them, a block of two words has the columns of a word.
    before = 2 * len(terms) if name in JOINED else width
    steps: list[Step] = []
    for n, step_entry in enumerate(entry["steps"]):
        step_name, settings = (
            (step_entry, {})
            if isinstance(step_entry, str)
            else (
                step_entry["name"],
                {key: float(value) for key, value in step_entry.items() if key != "name"},
            )
        )
        if step_name not in STEPS:
            raise StoreError(f"{path} uses the step {step_name!r}, {UNKNOWN}")
        step = STEPS[step_name](**settings)
        for array in step.learned:
            setattr(step, array, _read_array(path, _step_file(name, n, array), (before,)))
        step.n_features_in_ = before
        if isinstance(step, Joining):
            before = width
        steps.append(step)
    if name in JOINED and not any(isinstance(step, Joining) for step in steps):
        raise StoreError(f"{path} was trained with an earlier form of preset modern: train it again")
    weights = _read_array(path, f"{name}.weights.npy", (width, outputs))
    return BlockWeighting(name, tuple(steps), float(entry["factor"])), weights


def _step_entry(step: Step) -> str | dict[str, Any]:
    settings = step.get_params()
    return {"name": step.step_name, **settings} if settings else step.step_name


def _step_file(block: str, n: int, array: str) -> str:
    return f"{block}.{n}.{array.rstrip('_')}.npy"


def _read_array(path: Path, name: str, shape: tuple[int, ...]) -> Floats:
    try:
        array = np.load(path / name, allow_pickle=False)
    except FileNotFoundError:
        raise StoreError(
            f"{path} lacks {name}: the model is damaged; train it again or copy it anew"
        ) from None
    except (OSError, ValueError, EOFError) as error:
        raise StoreError(f"{path / name} cannot be read ({error}): train the model again") from None
    if array.shape != shape or array.dtype != np.float64:
        raise StoreError(
            f"{path / name} holds {array.dtype} of shape {array.shape}, not float64 of shape {shape}: "
            "the files of this model do not belong together"
        )
    return np.asarray(array)


def _read_json(path: Path, name: str) -> Json:
    try:
        return json.loads((path / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StoreError(
            f"{path} lacks {name}: the model is damaged; train it again or copy it anew"
        ) from None
    except ValueError as error:
        raise StoreError(
            f"{path / name} is not JSON ({error}): the model is damaged; train it again"
        ) from None


def _write_json(path: Path, value: Json) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _rename_into_place(beside: Path, path: Path) -> None:
    if not path.exists():
        os.replace(beside, path)
        return
    if not (path / "model.json").is_file():
        raise UsageError(f"{path} is no model, so it is not overwritten")
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
    os.replace(path, old / "model")
    os.replace(beside, path)
    shutil.rmtree(old)
