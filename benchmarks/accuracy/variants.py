"""Variants of preset `modern`, each with one thing changed: the rows of the ablation."""

from __future__ import annotations

from dataclasses import dataclass

from bagpack.learn.association import LogCounts, Ppmi
from bagpack.learn.presets import Preset, get_preset, modern


@dataclass(frozen=True)
class Variant:
    """One row of the table: what is changed, and the preset or the counting that has it changed."""

    name: str
    preset: Preset
    b: int | None = None
    windows: str | None = None


BASE = Variant("modern", get_preset("modern"))
VARIANTS = (
    Variant("paper", get_preset("paper")),
    Variant("words: log counts", modern(words=LogCounts)),
    Variant("words: PPMI", modern(words=Ppmi)),
    Variant("words: plain counts", modern(words=None)),
    Variant("pairs: log counts", modern(pairs=LogCounts)),
    Variant("pairs: PPMI", modern(pairs=Ppmi)),
    Variant("no unit length", modern(unit=False)),
    Variant("no trust in n", modern(trust=0)),
    Variant("trust with k = 10", modern(trust=10)),
    Variant("v12 weighs half", modern(v12=0.7)),
    Variant("v12 weighs double", modern(v12=1.4)),
    Variant("no product", modern(product=False)),
    Variant("no cosine", modern(cosine=0)),
    Variant("no statistics", modern(statistics=False)),
    Variant("with difference", modern(difference=True)),
    Variant("C = 10", modern(C=10)),
    Variant("10 words around a word", get_preset("modern"), windows="10/2-5-2"),
    Variant("b = 500", get_preset("modern"), b=500),
    Variant("b = 6000", get_preset("modern"), b=6000),
)
