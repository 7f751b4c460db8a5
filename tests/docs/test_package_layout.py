"""Packages import in one direction, and docs/architecture.md lists them all."""

import ast
import re
from pathlib import Path

import bagpack

SOURCES = Path(bagpack.__file__).parent
# Each may import what comes before it.
ORDER = (
    "_version", "arrays", "errors", "kernels", "files", "artefacts", "signals", "names", "numbers", "wording",
    "console", "sheets", "parallel", "corpus", "basis", "contexts", "tasks", "engines", "sources", "vectors", "learn",
    "evaluate", "report", "explain", "find", "data", "demo", "info", "app", "cli",
)  # fmt: skip
IN_CORPUS = ("text", "options", "strings", "format", "segment", "where", "corpus", "subcorpus", "words",
             "readers", "build")  # fmt: skip


def imports(path: Path, shortcuts: bool = True):
    """Modules of imports from the package, except those for types and, if not wanted, those in methods of Corpus.

    The methods of a corpus that count in it call the package that counts, once they are called.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ignored = set()
    for node in ast.walk(tree):
        for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if for_types or (isinstance(node, ast.ClassDef) and node.name == "Corpus" and not shortcuts):
            ignored |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in ignored or not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        if node.module == "bagpack":
            yield from (f"bagpack.{alias.name}" for alias in node.names)
        elif node.module.startswith("bagpack."):
            yield node.module


def wrong_imports(root: Path, order: tuple[str, ...], prefix: str, below=None):
    """Imports of parts of a package that come later in the order, or are not among those `below` it."""
    for path in sorted(root.rglob("*.py")):
        own = path.relative_to(root).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        assert own in order, f"{own} is missing from the order"
        allowed = (below or {}).get(own, order[: order.index(own) + 1])
        for module in imports(path, shortcuts=False):
            part = module.removeprefix(prefix).split(".")[0]
            if module.startswith(prefix) and part in order and part not in allowed:
                yield f"{path.relative_to(SOURCES)} imports {module}"


def test_imports_follow_the_order():
    """A store can be opened without the code that builds it; text functions depend on neither."""
    tables = "corpus/readers/attributes.py imports bagpack.tasks.files"  # once one is given; read as all tables are
    assert list(wrong_imports(SOURCES, ORDER, "bagpack.")) == [tables]
    below = {"text": ("text", "options")}  # the options name languages, and case folding follows the options
    assert list(wrong_imports(SOURCES / "corpus", IN_CORPUS, "bagpack.corpus.", below)) == []


def test_the_architecture_page_lists_every_package_and_modules_that_exist():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = sorted(path.parent.name for path in SOURCES.glob("*/__init__.py"))
    assert [name for name in packages if f"| `{name}/`" not in page] == []
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+)/?`", page))
    places = {name: (SOURCES / name, SOURCES / f"{name}.py") for name in named}
    assert len(named) > 20
    assert [name for name, either in places.items() if not any(path.exists() for path in either)] == []
