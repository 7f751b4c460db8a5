"""The examples in docstrings, run as written."""

import doctest
import importlib
from pathlib import Path

import pytest

import bagpack

SOURCES = Path(bagpack.__file__).parent
WITH_EXAMPLES = sorted(path for path in SOURCES.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", [module_name(path) for path in WITH_EXAMPLES])
def test_examples_give_what_they_show(name):
    tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not tried.failed


def test_there_are_examples():
    assert len(WITH_EXAMPLES) > 10
