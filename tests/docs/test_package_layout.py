"""Packages import in one direction, and docs/architecture.md lists them all."""

import ast
import re
from pathlib import Path

import bagpack

SOURCES = Path(bagpack.__file__).parent
# Each may import what comes before it.
ORDER = (
    "_version", "lazy", "errors", "kernels", "files", "artefacts", "signals", "names", "numbers",
    "wording",
    "console", "sheets", "parallel", "backends", "corpus", "basis", "contexts", "tasks",
    "engines", "sources", "vectors", "learn", "evaluate", "report", "explain", "find", "data", "demo",
    "info", "app", "cli",
)  # fmt: skip


def imports(path: Path, shortcuts: bool = True):
    """Modules of all imports from the package but those for types and, if not wanted, those in `corpus.contexts()` etc.

    The methods of a corpus that count in it call the package that counts, once they are called.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ignored = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == "Corpus" and not shortcuts:
            ignored |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in ignored or not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        if node.module == "bagpack":
            yield from (f"bagpack.{alias.name}" for alias in node.names)
        elif node.module.startswith("bagpack."):
            yield node.module


def test_imports_follow_the_order():
    wrong = []
    for path in sorted(SOURCES.rglob("*.py")):
        place = path.relative_to(SOURCES)
        own = place.parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        assert own in ORDER, f"{own} is missing from ORDER"
        for module in imports(path, shortcuts=False):
            package = module.split(".")[1]
            if package in ORDER and ORDER.index(package) > ORDER.index(own):
                wrong.append(f"{place} imports {module}")
    assert wrong == []


def test_imports_follow_the_order_inside_the_corpus():
    """A store can be opened without the code that builds it; text functions depend on neither."""
    order = (
        "text", "options", "strings", "format", "segment", "where", "corpus", "subcorpus", "words", "readers", "build",
    )  # fmt: skip
    below = {"text": ("text", "options")}  # the options name languages, and case folding follows the options
    wrong = []
    for path in sorted((SOURCES / "corpus").rglob("*.py")):
        own = path.relative_to(SOURCES / "corpus").parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        allowed = below.get(own, order[: order.index(own) + 1])
        wrong += [
            f"{path.name} imports {module}"
            for module in imports(path, shortcuts=False)
            if module.startswith("bagpack.corpus.") and module.split(".")[2] not in allowed
        ]
    assert wrong == []


def test_the_architecture_page_lists_every_package():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = sorted(path.parent.name for path in SOURCES.glob("*/__init__.py"))
    assert [name for name in packages if f"| `{name}/`" not in page] == []


def test_the_architecture_page_names_modules_that_exist():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+)/?`", page))
    missing = [
        name for name in named if not (SOURCES / name).exists() and not (SOURCES / f"{name}.py").exists()
    ]
    assert len(named) > 20 and sorted(missing) == []
