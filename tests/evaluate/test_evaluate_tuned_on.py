"""Reports say so where a preset was chosen on the data set."""

import json
from importlib import resources

from bagpack.evaluate import tuned_on as module
from bagpack.evaluate.tuned_on import checksum, tuned_on, tuned_on_note

# Pairs that Padó (2007) and Ferretti et al. (2001) have.
PADO = [("banker", "advise"), ("biologist", "advise")]
FERRETTI = [("serve", "plate"), ("serve", "restaurant")]


def test_the_data_sets_are_recognised_by_their_pairs():
    assert tuned_on("modern", PADO) == "Padó 2007"
    assert tuned_on("modern", [pair[::-1] for pair in FERRETTI]) == "Ferretti et al. 2001"
    assert tuned_on("modern", [*PADO, ("cat", "animal"), ("oak", "tree")]) == "Padó 2007"  # half of them
    assert tuned_on("modern", [*PADO, *[(f"a{i}", "b") for i in range(5)]]) is None
    assert tuned_on("paper", PADO) is None
    assert tuned_on("modern", []) is None
    (note,) = tuned_on_note("modern", PADO)
    assert "chosen on Padó 2007" in note
    assert "optimistic" in note


def test_checksums_ignore_order_and_case():
    assert checksum("Lion", "cat") == checksum("CAT", "lion") != checksum("lion", "cats")
    text = resources.files("bagpack.evaluate").joinpath("tuned_on.json").read_text(encoding="utf-8")
    sizes = {name: len(digits) for name, digits in json.loads(text)["modern"].items()}
    assert sizes == {"Padó 2007": 8 * 207, "Ferretti et al. 2001": 8 * 525}
    assert {
        len(digits) for sets in module._known().values() for known in sets.values() for digits in known
    } == {8}
