"""Which language a text is in, by py3langid's model: offline, milliseconds per guess after a second of loading."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from bagpack.files import disk_errors

SAMPLE = 1 << 13  # characters that a guess is made from
CERTAIN = 0.9

# Languages with a dictionary in simplemma, and those with tokenizers of their own.
LANGUAGES = (
    "ar bg ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is it ja ka ko la lt lv mk ms nl nn no "
    "pl pt ro ru sk sl sq sr sv sw th tl tr uk vi zh"
)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    with disk_errors(Path(tempfile.gettempdir())):  # it unpacks its model there
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(LANGUAGES.split())
    return identifier


def identify(text: str) -> tuple[str, float]:
    """The most likely language of a text and its probability.

    >>> identify("The lion is the only cat that lives in large groups.")[0]
    'en'
    """
    code, probability = _identifier().classify(text[:SAMPLE])
    return "nb" if code == "no" else str(code), float(probability)
