"""Weighting, scaling and linear support vector machines over blocks of pair counts.

The names below load on first use: a model that is applied needs no scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

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
    from bagpack.learn.transformers import TfidfWeighter as TfidfWeighter
    from bagpack.learn.transformers import TwoSigmaScaler as TwoSigmaScaler

_MODULES = {
    "LinearModel": "bagpack.learn.model",
    "Preset": "bagpack.learn.presets",
    "RatingRegressor": "bagpack.learn.estimators",
    "RelationClassifier": "bagpack.learn.estimators",
    "Targets": "bagpack.learn.targets",
    "TfidfWeighter": "bagpack.learn.transformers",
    "TwoSigmaScaler": "bagpack.learn.transformers",
    "encode_targets": "bagpack.learn.targets",
    "fit_conditions": "bagpack.learn.fitting",
    "fit_counts": "bagpack.learn.fitting",
    "get_preset": "bagpack.learn.presets",
    "load_model": "bagpack.learn.model_io",
    "model_card": "bagpack.learn.card",
    "save_model": "bagpack.learn.model_io",
}
__all__ = sorted(_MODULES)  # noqa: PLE0605
__getattr__ = lazy_names(__name__, _MODULES)
