"""`bagpack forms`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bagpack import console
from bagpack.cli.options import Forms, Json, WordLanguage
from bagpack.cli.words import check_words

if TYPE_CHECKING:
    from bagpack.engines.inflect import Inflector


def inflector_of(forms: Path | None, lang: str) -> Inflector:
    """The user's own forms, or ours."""
    from bagpack.engines.inflect import Inflector, read_forms

    return Inflector(lang, read_forms(forms) if forms else None)


def forms(
    words: Annotated[list[str], typer.Argument(help="Words; quote those of several words.")],
    forms: Forms = None,
    lang: WordLanguage = "en",
    json: Json = False,
) -> None:
    """Show the inflected forms of words that search queries use."""
    check_words(*words)
    inflector = inflector_of(forms, lang)
    found = {word: list(inflector.forms(word)) for word in words}
    if json:
        console.print_json(found)
        return
    for word, inflected in found.items():
        console.write(f"{word}\t{', '.join(inflected)}\n")
    if lang != "en" and forms is None:
        console.print_message(f"only English words are inflected, not {lang}; --forms FILE gives their forms")
