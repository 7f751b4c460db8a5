"""Weighting, scaling and linear support vector machines over blocks of pair counts."""

from bagpack.learn.card import model_card
from bagpack.learn.estimators import RatingRegressor, RelationClassifier
from bagpack.learn.fitting import fit_conditions, fit_counts
from bagpack.learn.model import LinearModel
from bagpack.learn.model_io import load_model, save_model
from bagpack.learn.presets import Preset, get_preset
from bagpack.learn.targets import Targets, encode_targets
from bagpack.learn.weighting import TfidfWeighter, TwoSigmaScaler

__all__ = [
    "LinearModel",
    "Preset",
    "RatingRegressor",
    "RelationClassifier",
    "Targets",
    "TfidfWeighter",
    "TwoSigmaScaler",
    "encode_targets",
    "fit_conditions",
    "fit_counts",
    "get_preset",
    "load_model",
    "model_card",
    "save_model",
]
