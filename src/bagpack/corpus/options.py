"""What a user can choose when a corpus is indexed; recorded in the store."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from bagpack.corpus.text.languages import language
from bagpack.errors import UsageError

MAX_LINE = 32 << 20
CHOICES = {
    "level": ("lemma", "form"),
    "case": ("auto", "fold", "keep"),
    "punctuation": ("keep", "drop"),
    "encoding_errors": ("strict", "replace", "skip"),
    "bad_lines": ("error", "skip"),
    "paragraphs": ("auto", "line", "blank"),
}


@dataclass(frozen=True)
class TextOptions:
    """How input becomes tokens. Every option affects the content of a store and is recorded in its manifest."""

    format: str = "auto"
    level: str = "lemma"
    case: str = "auto"  # becomes what is usual in the language, keep or fold
    punctuation: str = "keep"
    annotator: str = "auto"  # likewise; with --lang auto, chosen for each file
    lang: str = "en"
    encoding: str = "utf-8"
    encoding_errors: str = "strict"
    bad_lines: str = "error"
    paragraphs: str = "auto"
    columns: str = "auto"
    tagset: str = "auto"
    tag: bool = False
    text_field: str = "text"
    id_field: str = "id"
    metadata: str = ""
    max_sentence: int = 100_000
    max_line: int = MAX_LINE

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} {value} is unknown; choose one of {', '.join(allowed)}")
        profile = language(self.lang)
        if self.case == "auto":
            object.__setattr__(self, "case", profile.case)
        if self.annotator == "auto" and self.lang != "auto":
            object.__setattr__(self, "annotator", profile.annotator)
        if self.annotator == "none" and self.level == "lemma":
            raise UsageError(
                "--annotator none gives no lemmas; add --level form, or choose another annotator"
            )
        if self.tag and self.lang != "en":
            raise UsageError(
                f"--tag finds parts of speech in English text, not with --lang {self.lang}; remove it"
            )
        if self.max_sentence < 1:
            raise UsageError(f"--max-sentence {self.max_sentence} is too small; give at least 1")
        if self.max_line < 1:
            raise UsageError(f"max_line = {self.max_line} is too small; give at least 1")

    def to_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TextOptions:
        """Back from a manifest."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})
