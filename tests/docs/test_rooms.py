"""Imports run one way through the rooms, as docs/architecture.md says."""

import ast
from pathlib import Path

import bagpack

SOURCES = Path(bagpack.__file__).parent
# Each may import what comes before it.
ORDER = (
    "_version", "errors", "jit", "files", "locks", "artefacts", "signals", "names", "wording", "console", "sheets",
    "notebook", "parallel", "backends", "corpus", "basis", "contexts", "tasks", "engines", "sources", "vectors",
    "learn", "evaluate", "report", "explain", "find", "experiments", "data", "demo", "info", "app", "cli",
)  # fmt: skip


def imports(path: Path):
    """Modules of all imports from the package but those for types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types or not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        if node.module == "bagpack":
            yield from (f"bagpack.{alias.name}" for alias in node.names)
        elif node.module.startswith("bagpack."):
            yield node.module


def room_of(module: str) -> str:
    return module.split(".")[1]


def test_imports_run_one_way():
    wrong = []
    for path in sorted(SOURCES.rglob("*.py")):
        place = path.relative_to(SOURCES)
        own = place.parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        assert own in ORDER, f"{own} has no place in the order of the rooms"
        for module in imports(path):
            room = room_of(module)
            if room in ORDER and ORDER.index(room) > ORDER.index(own):
                wrong.append(f"{place} imports {module}")
    assert wrong == []


def test_imports_run_one_way_inside_the_corpus():
    """A store can be opened without the code that builds it; text functions know of neither."""
    order = ("text", "options", "store", "readers", "build")
    below = {"text": ("text", "options")}  # the options name languages, and case folding follows the options
    wrong = []
    for path in sorted((SOURCES / "corpus").rglob("*.py")):
        own = path.relative_to(SOURCES / "corpus").parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        allowed = below.get(own, order[: order.index(own) + 1])
        wrong += [
            f"{path.name} imports {module}"
            for module in imports(path)
            if module.startswith("bagpack.corpus.") and module.split(".")[2] not in allowed
        ]
    assert wrong == []


def test_the_page_has_every_room():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.name for path in SOURCES.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert [room for room in sorted(rooms) if f"| `{room}/`" not in page] == []
