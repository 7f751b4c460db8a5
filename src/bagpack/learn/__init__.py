"""Weighting, scaling and linear support vector machines over blocks of pair counts.

The names below load on first use: importing one of them does not import scikit-learn before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bagpack.learn.card import model_card as model_card
    from bagpack.learn.estimators import RatingRegressor as RatingRegressor
    from bagpack.learn.estimators import RelationClassifier as RelationClassifier
    from bagpack.learn.fitting import fit_conditions as fit_conditions
    from bagpack.learn.fitting import fit_counts as fit_counts
    from bagpack.learn.model import LinearModel as LinearModel
    from bagpack.learn.model_io import load_model as load_model
    from bagpack.learn.model_io import save_model as save_model
    from bagpack.learn.presets import Preset as Preset
    from bagpack.learn.presets import get_preset as get_preset
    from bagpack.learn.targets import Targets as Targets
    from bagpack.learn.targets import encode_targets as encode_targets
    from bagpack.learn.weighting import TfidfWeighter as TfidfWeighter
    from bagpack.learn.weighting import TwoSigmaScaler as TwoSigmaScaler

_HOMES = {
    "model_card": "card",
    "RatingRegressor": "estimators",
    "RelationClassifier": "estimators",
    "fit_conditions": "fitting",
    "fit_counts": "fitting",
    "LinearModel": "model",
    "load_model": "model_io",
    "save_model": "model_io",
    "Preset": "presets",
    "get_preset": "presets",
    "Targets": "targets",
    "encode_targets": "targets",
    "TfidfWeighter": "weighting",
    "TwoSigmaScaler": "weighting",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
