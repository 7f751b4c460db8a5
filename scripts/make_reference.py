"""Write docs/reference/cli.md from the commands themselves. `make docs` runs it, and a test says when it is stale."""

from __future__ import annotations

from pathlib import Path

from command_tree import Parameter, command_pages, program_help, program_options

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
HEAD = """# Commands

{help} This page is generated from the commands (`python scripts/make_reference.py`).

Exit codes: 0 success, 1 failure, 2 wrong usage. An error is one sentence on standard error that says what was wrong and
how to fix it. Progress and summaries go to standard error, results to standard output; `--json` writes results for
programs. `BAGPACK_TRACEBACK=1` shows where an unexpected error came from. See also
[shell completion and the man page](../shell.md).
"""


def render() -> str:
    """The page."""
    parts = [HEAD.format(help=program_help()), _table("option", program_options())]
    for page in command_pages():
        parts.append(f"## {page.name}\n\n{page.summary}\n")
        if page.more:
            parts.append(f"{page.more}\n")
        parts.append(f"```text\n{page.usage}\n```\n")
        if page.arguments:
            parts.append(_table("argument", page.arguments))
        parts.append(_table("option", page.options))
    return "\n".join(parts)


def _table(title: str, rows: list[Parameter]) -> str:
    lines = [f"| {title} | |", "|---|---|"]
    for row in rows:
        more = f" Default: `{row.default}`." if row.default else " Required." if row.required else ""
        lines.append(f"| `{_cell(row.names)}` | {_cell(row.help)}{more} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(), encoding="utf-8")
