"""Models on disk: arrays and JSON, no pickle. Opening a stranger's model runs none of their code.

manifest.json       what made the model: predicts, labels, preset, condition, blocks, settings, …; names the files
basis.tsv           the basis terms with their counts; with the blocks they give every feature's name
intercept.npy       one per output
BLOCK.weights.npy   columns × outputs
BLOCK.ARRAY.npy     what preset `paper` learned about the block's columns: idf, low, width, zero
trained.npy         hashes of the training pairs
training.npz        the training pairs with features and dual coefficients, for explanations; read when first needed
README.md           the model card, where one was written; `info --verify` reports that it was edited
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bagpack._version import __version__
from bagpack.artefacts import MANIFEST, Artefact, Kind, new_artefact, open_artefact
from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError, UsageError
from bagpack.files import digest, digest_file, save_npy, write_bytes, write_text
from bagpack.learn.calibration import Threshold
from bagpack.learn.features import Scaling, get_preset
from bagpack.learn.model import LinearModel, TrainingPairs
from bagpack.learn.targets import kind_of
from bagpack.names import block_width, blocks_of
from bagpack.numbers import metric_label, show_interval, show_score, show_value

MODEL = Kind("bagpack-model", "model", 4, "bagpack train")
CURE = "the model is damaged: restore it from a copy, or train it again"
TRAINING, CARD = "training.npz", "README.md"
CURVE = ("slope", "intercept")
TABLES = ("v1", "v2", "v12")  # blocks whose training rows are kept
STRONGEST = 8  # contexts of each label on a card
ABOUT_CARD = """A linear model over named contexts of two words. Scores are means over folds of the labelled pairs, with
95 % intervals. A search through a corpus (`bagpack find`) ranks many pairs that are in no relation, so its precision is
lower."""


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
        "v12_factor": model.preset.v12,
        "condition": model.condition,
        "blocks": list(model.weights),
        "features": sum(map(len, model.weights.values())),
        "outputs": len(model.intercept),
        "counting": asdict(model.counting),
        "source": {"path": model.source_path, "content_hash": model.source_hash},
        "calibration": None,
        "threshold": model.threshold and asdict(model.threshold),
        "card": None if card is None else digest(card.encode()),
        "settings": dict(model.settings),
        "manifest": dict(manifest if manifest is not None else model.manifest),
    }
    if model.calibration is not None:
        curves = [dict(zip(CURVE, curve, strict=True)) for curve in model.calibration.tolist()]
        description["calibration"] = {"kind": model.kind, "curves": curves}
    arrays = {"intercept": model.intercept, "trained": model.trained}
    arrays |= {f"{block}.weights": weights for block, weights in model.weights.items()}
    for block, scaling in model.learned.items():
        arrays |= {f"{block}.{name}": array for name, array in scaling._asdict().items()}
    with new_artefact(path, MODEL, overwrite=overwrite) as draft:
        write_bytes(draft.directory / "basis.tsv", model.basis.to_tsv().encode())
        for name, array in arrays.items():
            with open(draft.directory / f"{name}.npy", "wb") as out:
                save_npy(out, array)
        _save_training(model.training, draft.directory / TRAINING)
        draft.manifest = description
    if card is not None:
        write_text(path / CARD, card)
    return path


def _save_training(training: TrainingPairs, path: Path) -> None:
    arrays: dict[str, Any] = {f"mean {block}": mean for block, mean in training.means.items()}
    for block, table in training.rows.items():
        if block == "v2" and table is training.rows.get("v1"):
            continue
        arrays |= {f"{block} {part}": getattr(table, part) for part in ("indptr", "indices", "data")}
        arrays[f"{block} shape"] = np.array(table.shape)
    names = np.frombuffer("\n".join(training.names).encode(), np.uint8)
    with open(path, "wb") as out:
        np.savez(out, names=names, w1=training.w1, w2=training.w2, coef=training.coef, **arrays)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Report content that the checksums allow and no model has; a stranger's files may raise any error."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        raise StoreError(f"{path} has wrong entries ({error!r}); {CURE}") from None


def _check(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(what)


def load_model(path: str | Path) -> LinearModel:
    """Read a model that `save_model` wrote, checking version, seal, checksums and shapes."""
    stored = open_artefact(Path(path), MODEL)
    document, files = stored.manifest, stored.manifest["checksums"]
    for problem in stored.damages(name for name in files if name != TRAINING):
        raise StoreError(f"{problem}; {CURE}")

    def read(name: str, *shape: int, dtype: Any = np.float64) -> Any:
        _check(name in files, f"no checksum of {name}")
        array = np.load(stored.file(name), allow_pickle=False)
        fits = array.shape == (shape or array.shape[:1]) and array.dtype == dtype and np.isfinite(array).all()
        _check(fits, f"{name} has {array.dtype} of shape {array.shape}, or numbers that are not finite")
        return array

    with _reading(stored.path / MANIFEST):
        basis = Basis.open(stored.file("basis.tsv"))
        kind, labels, outputs = document["predicts"], tuple(document["labels"]), int(document["outputs"])
        fits = kind == kind_of(labels) and outputs == (len(labels) if kind == "multiclass" else 1)
        _check(fits, f"{len(labels)} labels and {outputs} outputs of a model that predicts {kind!r}")
        preset = replace(get_preset(document["preset"]), v12=float(document["v12_factor"]))
        curves = None
        if fitted := document["calibration"]:
            curves = np.array([[curve[name] for name in CURVE] for curve in fitted["curves"]], float)
            _check(len(curves) == outputs, f"{len(curves)} calibration curves for {outputs} outputs")
        widths = {block: block_width(block, len(basis)) for block in document["blocks"]}
        learned = blocks_of(document["condition"]) if preset.learns else ()
        return LinearModel(
            classes=labels, condition=str(document["condition"]), preset=preset,
            weights={block: read(f"{block}.weights.npy", width, outputs) for block, width in widths.items()},
            learned={
                block: Scaling(*(read(f"{block}.{name}.npy", widths[block]) for name in Scaling._fields))
                for block in learned
            },
            intercept=read("intercept.npy", outputs), basis=basis,
            counting=CountSettings.from_dict(document["counting"]), source_path=str(document["source"]["path"]),
            source_hash=str(document["source"]["content_hash"]), settings=dict(document["settings"]),
            manifest=dict(document["manifest"]), calibration=curves,
            threshold=document["threshold"] and Threshold(**document["threshold"]),
            trained=read("trained.npy", dtype=np.uint64), place=stored.path,
            kept=partial(_read_training, stored, widths, outputs),
        )  # fmt: skip


load = load_model


def _read_training(stored: Artefact, widths: Mapping[str, int], outputs: int) -> TrainingPairs:
    for problem in stored.damages([TRAINING]):
        raise StoreError(f"{problem}; {CURE}")
    path = stored.file(TRAINING)
    with _reading(path), np.load(path, allow_pickle=False) as file:
        names = tuple(file["names"].tobytes().decode().split("\n"))
        w1, w2 = (file[name].astype(np.int64) for name in ("w1", "w2"))
        coef = file["coef"].astype(np.float64)
        means = {block: file[f"mean {block}"].astype(np.float64) for block in widths}
        rows: dict[str, Any] = {}
        for block in TABLES:
            if f"{block} data" in file:
                parts: Any = tuple(file[f"{block} {part}"] for part in ("data", "indices", "indptr"))
                lines = len(w1) if block == "v12" else len(names)
                rows[block] = sparse.csr_array(parts, shape=(lines, widths[block]))
                rows[block].check_format(full_check=True)
        if "v1" in rows:
            rows.setdefault("v2", rows["v1"])
        used = np.concatenate([w1, w2, [0]])
        fits = rows.keys() == set(TABLES) & widths.keys() and coef.shape == (len(w1), outputs)
        fits &= w1.shape == w2.shape and all(means[block].shape == (widths[block],) for block in widths)
        fits &= used.min() >= 0 and used.max() < len(names) and bool(np.isfinite(coef).all())
        _check(fits, "training pairs that do not belong to the model")
    return TrainingPairs(names, w1, w2, coef, rows, means)


def verify_model(path: Path) -> Sequence[str]:
    """One message per damaged file; right checksums with wrong content are found by opening the model."""
    stored = open_artefact(path, MODEL)
    found, card = stored.damages(), stored.manifest.get("card")
    if isinstance(card, str) and (path / CARD).exists() and digest_file(path / CARD) != card:
        found.append(f"{path / CARD} does not match its checksum; it was damaged or edited")
    if not found:
        _ = load_model(path).training
    return found


# The model card: what a model was made from and how well it did, in Markdown ------------------------------------


def model_card(
    model: LinearModel, *, title: str = "A BagPack model", scores: Mapping[str, Mapping[str, Any]] | None = None,
    **sections: Mapping[str, Any],
) -> str:  # fmt: skip
    """A Markdown card; each section becomes a table.

    ``scores`` has, per row (a condition, a baseline) and metric, a mapping with ``mean``, ``low`` and ``high``.
    """
    shown = {}  # 81.2 (79.0–83.4)
    for name, row in (scores or {}).items():
        for metric, score in row.items():
            interval = show_interval(score["low"], score["high"], metric)
            between = f" ({interval})" if interval else ""
            shown[f"{name}: {metric_label(metric)}"] = show_score(score["mean"], metric) + between
    strongest = {
        str(label): ", ".join(f"`{name}` {weight:+.3f}" for name, weight in model.strongest(label, STRONGEST))
        for label in model.classes or (None,)
    }
    tables: dict[str, Mapping[str, Any]] = {
        "model": {
            "predicts": model.kind, "labels": list(model.classes), "condition": model.condition,
            "preset": model.preset.name, "features": sum(map(len, model.weights.values())), **model.settings,
        },
        "scores": shown or {"scores": "not evaluated"},
        **sections,
        "strongest contexts": strongest,
    }  # fmt: skip
    lines = [f"# {title}", "", ABOUT_CARD, ""]
    for name, values in tables.items():
        lines += [f"## {name.capitalize()}", "", "| | |", "|---|---|"]
        for key, value in values.items():
            cells = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in (key, show_value(value)))
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)
