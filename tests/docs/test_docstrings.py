"""The examples in docstrings, run as written."""

import doctest
import importlib
from pathlib import Path

import pytest

import bagpack

SOURCES = Path(bagpack.__file__).parent.parent
PATHS = (path for path in SOURCES.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
NAMES = sorted(".".join(path.relative_to(SOURCES).with_suffix("").parts) for path in PATHS)


@pytest.mark.parametrize("name", [name.removesuffix(".__init__") for name in NAMES])
def test_examples_give_what_they_show(name):
    tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not tried.failed and len(NAMES) > 10
