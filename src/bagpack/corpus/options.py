"""What a user can choose when a corpus is indexed; recorded in the store."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from bagpack.corpus.text.languages import language
from bagpack.errors import StoreError, UsageError
from bagpack.files import damaged

MAX_LINE = 32 << 20
MOST = (1 << 31) - 1  # kernels count in 32 bits
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
    annotator: str = "auto"  # becomes that of the language
    lang: str = "en"
    encoding: str = "utf-8"
    encoding_errors: str = "strict"
    bad_lines: str = "error"
    paragraphs: str = "auto"
    columns: str = "auto"
    tagset: str = "auto"
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
        if self.annotator == "auto":
            object.__setattr__(self, "annotator", profile.annotator)
        object.__setattr__(self, "lang", profile.code)  # en-GB is en
        if self.annotator == "none" and self.level == "lemma":
            raise UsageError("--annotator none gives no lemmas; add --level form, or choose another")
        for name in ("max_sentence", "max_line"):
            value = getattr(self, name)
            if not 1 <= value <= MOST:
                raise UsageError(f"--{name.replace('_', '-')} {value} is not between 1 and {MOST:,}")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TextOptions:
        """Back from a manifest, in which another program may have written anything."""
        known = {field.name: type(field.default) for field in fields(cls)}
        chosen = {name: value for name, value in values.items() if name in known}
        for name, value in chosen.items():
            if type(value) is not known[name]:
                raise damaged("the manifest", f"has {value!r} as options.{name}")
        try:
            return cls(**chosen)
        except UsageError as error:
            raise StoreError(f"the store's manifest has options that cannot be: {error}") from error
