"""Models on disk: arrays and JSON, no pickle. Opening a stranger's model runs none of their code.

manifest.json       what made the model: predicts, labels, preset, condition, blocks, settings, …; names the files
basis.tsv           the basis terms with their counts; with the blocks they give every feature's name
intercept.npy       one per output
BLOCK.weights.npy   columns × outputs
BLOCK.ARRAY.npy     what preset `paper` learned about the block's columns: idf, low, width, zero
trained.npy         hashes of the training pairs
training.npz        the training pairs with features and dual coefficients, for explanations; read when first needed
README.md           the model card, where one was written; it may be edited
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bagpack._version import __version__
from bagpack.artefacts import MANIFEST, Artefact, Kind, check_place, new_artefact, open_artefact
from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.files import save_npy, write_bytes, write_text
from bagpack.learn.calibration import Calibration, Curve, Threshold
from bagpack.learn.features import PRESETS, Modern, Scaling
from bagpack.learn.model import LinearModel, TrainingPairs
from bagpack.names import SEGMENTS, block_width, blocks_of
from bagpack.numbers import metric_label, show_interval, show_score, show_value

MODEL = Kind("bagpack-model", "model", 4, "bagpack train")
CURE = "the model is damaged: restore it from a copy, or train it again"
SCALING = tuple(field.name for field in fields(Scaling))
TRAINING = "training.npz"
TABLES = ("v1", "v2", "v12")  # blocks whose training rows are kept
STRONGEST = 8  # contexts of each label on a card
ABOUT_CARD = """A linear model over named contexts of two words. Scores are means over folds of the labelled pairs, with
95 % intervals. A search through a corpus (`bagpack find`) ranks many pairs that are in no relation, so its precision is
lower."""
KINDS = ("binary", "multiclass", "rating")


def check_model_place(path: Path, overwrite: bool) -> None:
    """Whether a model can be written here: asked before the training, not after it."""
    check_place(path, MODEL, overwrite=overwrite)


def save_model(
    model: LinearModel, path: str | Path, *, manifest: Mapping[str, Any] | None = None, card: str | None = None,
    overwrite: bool = False,
) -> Path:  # fmt: skip
    """Write ``model``, with its probabilities, as the directory ``path``, which gets its name when it is complete.

    ``manifest`` says what made the model (data, parameters, scores); it comes back as ``LinearModel.manifest``.
    ``card`` is Markdown, see `model_card`.
    """
    path, model = Path(path), model.calibrated
    for label in model.classes:
        if not isinstance(label, (str, int, float, bool)):
            raise UsageError(f"the label {label!r} cannot be stored: labels must be text or numbers")
    description = {
        "bagpack": __version__,
        "predicts": model.kind,
        "labels": list(model.classes),
        "preset": model.preset.name,
        "v12_factor": getattr(model.preset, "v12", 1.0),
        "condition": model.condition,
        "blocks": list(model.weights),
        "features": sum(len(weights) for weights in model.weights.values()),
        "outputs": len(model.intercept),
        "counting": model.counting.to_dict(),
        "source": {"path": model.source_path, "content_hash": model.source_hash},
        "calibration": None if model.calibration is None else asdict(model.calibration),
        "threshold": None if model.threshold is None else asdict(model.threshold),
        "settings": dict(model.settings),
        "manifest": dict(manifest if manifest is not None else model.manifest),
    }
    with new_artefact(path, MODEL, overwrite=overwrite) as draft:
        work = draft.directory
        write_bytes(work / "basis.tsv", model.basis.to_tsv().encode())
        _save(work / "intercept.npy", model.intercept)
        trained = np.empty(0, np.uint64) if model.trained is None else model.trained
        _save(work / "trained.npy", trained)
        if model.training is not None:
            _save_training(model.training, work / TRAINING)
        for block, weights in model.weights.items():
            _save(work / f"{block}.weights.npy", weights)
        for block, scaling in model.learned.items():
            for name in SCALING:
                _save(work / f"{block}.{name}.npy", getattr(scaling, name))
        draft.manifest = description
    if card is not None:
        write_text(path / "README.md", card)
    return path


def _save(path: Path, array: np.ndarray) -> None:
    with open(path, "wb") as out:
        save_npy(out, array)


def _save_training(training: TrainingPairs, path: Path) -> None:
    arrays: dict[str, Any] = {f"mean {block}": mean for block, mean in training.means.items()}
    for block, table in training.rows.items():
        if block == "v2" and table is training.rows.get("v1"):
            continue
        for part in ("indptr", "indices", "data"):
            arrays[f"{block} {part}"] = getattr(table, part)
        arrays[f"{block} shape"] = np.array(table.shape)
    names = np.frombuffer("\n".join(training.names).encode(), np.uint8)
    with open(path, "wb") as out:
        np.savez(out, names=names, w1=training.w1, w2=training.w2, coef=training.coef, **arrays)


def _read_training(stored: Artefact, widths: Mapping[str, int], outputs: int) -> TrainingPairs:
    for problem in stored.damages([TRAINING]):
        raise StoreError(f"{problem}; {CURE}")
    rows: dict[str, Any] = {}
    try:
        with np.load(stored.file(TRAINING), allow_pickle=False) as file:
            names = tuple(file["names"].tobytes().decode().split("\n"))
            w1, w2, coef = (
                file["w1"].astype(np.int64),
                file["w2"].astype(np.int64),
                file["coef"].astype(np.float64),
            )
            means = {block: file[f"mean {block}"].astype(np.float64) for block in widths}
            for block in TABLES:
                if f"{block} data" in file:
                    parts: Any = tuple(file[f"{block} {part}"] for part in ("data", "indices", "indptr"))
                    lines = len(w1) if block == "v12" else len(names)
                    rows[block] = sparse.csr_array(parts, shape=(lines, widths[block]))
                    rows[block].check_format(full_check=True)
        if "v1" in rows:
            rows.setdefault("v2", rows["v1"])
        fits = rows.keys() == set(TABLES) & widths.keys() and coef.shape == (len(w1), outputs)
        fits &= (
            all(means[block].shape == (width,) for block, width in widths.items()) and w1.shape == w2.shape
        )
        used = np.concatenate([w1, w2, [0]])
        if not fits or used.min() < 0 or used.max() >= len(names) or not np.isfinite(coef).all():
            raise ValueError("training pairs that do not belong to the model")
    except (KeyError, TypeError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise StoreError(f"{stored.file(TRAINING)} has wrong entries ({error!r}); {CURE}") from None
    return TrainingPairs(names, w1, w2, coef, rows, means)


def load_model(path: str | Path) -> LinearModel:
    """Read a model that `save_model` wrote, checking version, seal, shapes and checksums."""
    stored = open_artefact(Path(path), MODEL)
    document, described = stored.manifest, stored.path / MANIFEST
    try:
        basis = Basis.open(stored.file("basis.tsv"))
        outputs = int(document["outputs"])
        kind, labels = document["predicts"], tuple(document["labels"])
        if kind not in KINDS:
            raise StoreError(
                f"{described} says that it predicts {kind!r}: this version knows {', '.join(KINDS)}"
            )
        if outputs != (len(labels) if kind == "multiclass" else 1) or (kind == "binary" and len(labels) != 2):
            raise StoreError(f"{described} has {len(labels)} labels and {outputs} outputs; {CURE}")
        if document["preset"] not in PRESETS or not set(document["blocks"]) <= SEGMENTS.keys():
            raise StoreError(
                f"{path} has the preset {document['preset']!r} over {', '.join(document['blocks'])}, which this "
                f"version does not have: train the model again, or use the version that wrote it"
            )
        preset = PRESETS[document["preset"]]
        if isinstance(preset, Modern):
            preset = Modern(v12=float(document["v12_factor"]))
        calibration = None
        if fitted := document["calibration"]:
            curves = tuple(Curve(float(one["slope"]), float(one["intercept"])) for one in fitted["curves"])
            calibration = Calibration(fitted["kind"], curves)
            if calibration.kind != kind or len(curves) != outputs:
                raise ValueError(f"{len(curves)} calibration curves for {outputs} outputs")
        widths = {block: block_width(block, len(basis)) for block in document["blocks"]}
        weights = {
            block: _read_array(stored, f"{block}.weights.npy", (width, outputs))
            for block, width in widths.items()
        }
        learned = {
            block: Scaling(
                *(_read_array(stored, f"{block}.{name}.npy", (widths[block],)) for name in SCALING)
            )
            for block in (blocks_of(document["condition"]) if preset.learns else ())
        }
        kept = partial(_read_training, stored, widths, outputs) if TRAINING in document["checksums"] else None
        model = LinearModel(
            kind=kind, classes=labels, condition=str(document["condition"]), preset=preset, weights=weights,
            learned=learned, intercept=_read_array(stored, "intercept.npy", (outputs,)), basis=basis,
            counting=CountSettings.from_dict(document["counting"]), source_path=str(document["source"]["path"]),
            source_hash=str(document["source"]["content_hash"]), settings=dict(document["settings"]),
            manifest=dict(document["manifest"]), calibration=calibration,
            threshold=None if document["threshold"] is None else Threshold(**document["threshold"]),
            trained=_read_array(stored, "trained.npy", None, np.uint64), kept=kept, place=stored.path,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, BagpackError):
            raise
        raise StoreError(f"{described} has wrong entries ({error!r}); {CURE}") from None
    for problem in stored.damages(name for name in document["checksums"] if name != TRAINING):
        raise StoreError(f"{problem}; {CURE}")
    return model


load = load_model


def verify_model(path: Path) -> Sequence[str]:
    """One message per damaged file; right checksums with wrong content are found by opening the model."""
    found = open_artefact(path, MODEL).damages()
    if not found:
        _ = load_model(path).training
    return found


def _read_array(
    stored: Artefact, name: str, shape: tuple[int, ...] | None, dtype: Any = np.float64
) -> np.ndarray:
    path = stored.file(name)
    if name not in stored.manifest["checksums"]:
        raise StoreError(f"{stored.path / MANIFEST} has no checksum of {name}; {CURE}")
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # numpy evaluates the header, so a damaged one may be a SyntaxError too
        raise StoreError(f"{path} cannot be read ({error}); {CURE}") from None
    if array.shape != (array.shape[:1] if shape is None else shape) or array.dtype != dtype:
        raise StoreError(
            f"{path} holds {array.dtype} of shape {array.shape}, not {np.dtype(dtype)} of shape {shape}: the files of "
            f"this model do not belong together"
        )
    if dtype == np.float64 and not np.isfinite(array).all():
        raise StoreError(f"{path} holds values that are not finite numbers; {CURE}")
    return np.asarray(array)


# The model card: what a model was made from and how well it did, in Markdown ------------------------------------


def _card_score(value: Any, metric: str) -> str:
    """``81.2 (79.0–83.4)`` from a mapping with mean, low and high; a bare number has the same form."""
    if not isinstance(value, Mapping):
        return show_score(value, metric)
    interval = show_interval(value.get("low"), value.get("high"), metric)
    return show_score(value.get("mean"), metric) + (f" ({interval})" if interval else "")


def model_card(
    model: LinearModel, *, title: str = "A BagPack model", scores: Mapping[str, Mapping[str, Any]] | None = None,
    **sections: Mapping[str, Any],
) -> str:  # fmt: skip
    """A Markdown card; each section becomes a table.

    ``scores`` has, per row (a condition, a baseline) and metric, a number or a mapping with ``mean``, ``low`` and
    ``high``.
    """
    about: dict[str, Any] = {
        "predicts": model.kind,
        "labels": list(model.classes),
        "condition": model.condition,
    }
    about |= {
        "preset": model.preset.name,
        "features": sum(map(len, model.weights.values())),
        **model.settings,
    }
    strongest = {
        str(label): ", ".join(f"`{name}` {weight:+.3f}" for name, weight in model.strongest(label, STRONGEST))
        for label in model.classes or (None,)
    }
    shown = {
        f"{name}: {metric_label(metric)}": _card_score(value, metric)
        for name, row in (scores or {}).items()
        for metric, value in row.items()
    }
    tables: dict[str, Mapping[str, Any]] = {"model": about, "scores": shown or {"scores": "not evaluated"}}
    tables |= {**sections, "strongest contexts": strongest}
    lines = [f"# {title}", "", ABOUT_CARD, ""]
    for name, values in tables.items():
        lines += [f"## {name.capitalize()}", "", "| | |", "|---|---|"]
        for key, value in values.items():
            cells = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in (key, show_value(value)))
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)
