"""Copy the accuracy and performance tables of the documentation into the README.

    python scripts/readme_tables.py            # `make docs` does it

`docs/accuracy.md` and `docs/performance.md` mark what the README shows with `<!-- readme:begin -->` and
`<!-- readme:end -->`. Where a page or its marks are missing, the README keeps what it has.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TITLES = {"accuracy": "How well", "performance": "How fast"}
MARKED = re.compile(r"<!-- readme:begin -->\n(.*?)<!-- readme:end -->", re.DOTALL)


def with_tables(readme: str, docs: Path) -> str:
    """The README with its tables as the pages have them now."""
    for name, title in TITLES.items():
        page = docs / f"{name}.md"
        parts = MARKED.findall(page.read_text(encoding="utf-8")) if page.exists() else []
        if parts:
            table = "\n".join(part.strip() + "\n" for part in parts)
            shown = f"## {title}\n\n{table}\nMore in [docs/{name}.md](docs/{name}.md).\n"
            place = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
            readme = place.sub(lambda marks, shown=shown: marks[1] + shown + marks[2], readme)
    return readme


if __name__ == "__main__":
    path = ROOT / "README.md"
    path.write_text(with_tables(path.read_text(encoding="utf-8"), ROOT / "docs"), encoding="utf-8")
