"""Rewrite the outputs shown in the documentation with what the commands print now.

    python scripts/refresh_examples.py docs/finding.md ...       # all pages, if none is named

Outputs that are shown with an ellipsis (`...`) and still match are left as they are. Look at the difference before
committing it: a changed number is either meant or a bug.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.docs.kit import Kit  # noqa: E402
from tests.docs.markdown import blocks, commands, matches, pages  # noqa: E402
from tests.docs.running import run_page  # noqa: E402


def refresh(page: Path, kit: Kit, directory: Path) -> bool:
    """Run a page and rewrite it; returns whether anything changed."""
    printed: dict[int, list[str]] = {}
    run_page(page, kit, directory, printed)
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in reversed(blocks(page)):
        if block.reason is not None:
            continue
        if block.language == "console":
            for command in reversed(commands(block)):
                if command.output and not matches(command.output, printed[command.line]):
                    start = command.line + command.text.count("\n")
                    lines[start : start + len(command.output)] = _shown(printed[command.line])
        elif block.language == "output" and not matches(block.text.splitlines(), printed[block.line]):
            lines[block.line - 1 : block.line - 1 + len(block.text.splitlines())] = _shown(
                printed[block.line]
            )
    text = "\n".join(lines) + "\n"
    changed = text != page.read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    return changed


def _shown(lines: list[str]) -> list[str]:
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def main() -> None:
    """Refresh the pages that are named, or all."""
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or pages()
    with tempfile.TemporaryDirectory() as place:
        kit = Kit(Path(place) / "kit")
        for number, page in enumerate(chosen):
            changed = refresh(page, kit, Path(place) / str(number))
            print(f"{page.relative_to(ROOT)}: {'changed' if changed else 'as it was'}")


if __name__ == "__main__":
    main()
