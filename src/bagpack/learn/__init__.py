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

_NAMES = {
    "bagpack.learn.card": ("model_card",),
    "bagpack.learn.estimators": ("RatingRegressor", "RelationClassifier"),
    "bagpack.learn.fitting": ("fit_conditions", "fit_counts"),
    "bagpack.learn.model": ("LinearModel",),
    "bagpack.learn.model_io": ("load_model", "save_model"),
    "bagpack.learn.presets": ("Preset", "get_preset"),
    "bagpack.learn.targets": ("Targets", "encode_targets"),
    "bagpack.learn.transformers": ("TfidfWeighter", "TwoSigmaScaler"),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
