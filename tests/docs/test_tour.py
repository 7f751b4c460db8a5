"""The guided tour and the decision records name functions and pages that exist."""

import importlib
import re

import pytest

from tests.docs.markdown import ROOT

NAMES = sorted(
    set(re.findall(r"`(bagpack(?:\.\w+)+)`", (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")))
)


@pytest.mark.parametrize("name", NAMES)
def test_the_tour_names_what_exists(name):
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            found = getattr(found, attribute)
        return


def test_every_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    records = sorted(folder.glob("[0-9]*.md"))
    assert len(records) >= 10
    assert [record.name for record in records if f"({record.name})" not in index] == []
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert all(f"**{part}.**" in text for part in ("Context", "Decision", "Consequences", "Alternatives"))


@pytest.mark.parametrize(
    "term",
    [
        "v1, v2, v12", "decision value", "basis term", "lexical split", "logDice", "keyness", "PPMI", "G²", "TF-IDF",
        "calibrated probability", "coverage", "abstention", "contribution", "reason", "together", "words only",
        "q-value", "κ", "subcorpus", "worst-case score", "transductive", "word sketch difference", "CountVectorizer",
    ],
)  # fmt: skip
def test_the_glossary_explains_what_outputs_and_pages_use(term):
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert term.lower() in page.lower()
