"""From counts of word pairs to features, and linear support vector machines over them.

The names below load on first use: a model that is applied needs no scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.learn.estimators import RatingRegressor as RatingRegressor
    from bagpack.learn.estimators import RelationClassifier as RelationClassifier
    from bagpack.learn.features import get_preset as get_preset
    from bagpack.learn.fitting import fit_counts as fit_counts
    from bagpack.learn.model import LinearModel as LinearModel
    from bagpack.learn.model_io import load_model as load_model
    from bagpack.learn.model_io import model_card as model_card
    from bagpack.learn.model_io import save_model as save_model
    from bagpack.learn.targets import Targets as Targets
    from bagpack.learn.targets import encode_targets as encode_targets

_NAMES = {
    "bagpack.learn.estimators": ("RatingRegressor", "RelationClassifier"),
    "bagpack.learn.features": ("get_preset",),
    "bagpack.learn.fitting": ("fit_counts",),
    "bagpack.learn.model": ("LinearModel",),
    "bagpack.learn.model_io": ("load_model", "model_card", "save_model"),
    "bagpack.learn.targets": ("Targets", "encode_targets"),
}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
