"""Write docs/reference/cli.md from the commands themselves. `make docs` runs it, and a test says when it is stale."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from command_tree import Parameter, command_pages, program_help, program_options

SHARED = 3  # commands with the same option from which on it is described once
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
HEAD = """# Commands

{help} This page is generated from the commands (`python scripts/make_reference.py`).

Exit codes: 0 success, 1 failure, 2 wrong usage. An error is one sentence on standard error that says what was wrong and
how to fix it. Progress and summaries go to standard error, results to standard output; `--json` writes results for
programs. `BAGPACK_TRACEBACK=1` shows where an unexpected error came from.
`bagpack --install-completion` makes bash, zsh, fish and PowerShell complete commands and options; a wheel installs the
man page.
"""


def render() -> str:
    """The page."""
    pages = list(command_pages())
    uses = Counter(option for page in pages for option in page.options)
    shared = [option for option, number in uses.items() if number >= SHARED]
    parts = [HEAD.format(help=program_help()), _table("option", program_options())]
    parts.append(
        f"Several commands have these options, which are not repeated below:\n\n{_table('option', shared)}"
    )
    for page in pages:
        parts.append(f"## {page.name}\n\n{page.summary}\n")
        if page.more:
            parts.append(f"{page.more}\n")
        parts.append(f"```text\n{page.usage}\n```\n")
        if page.arguments:
            parts.append(_table("argument", page.arguments))
        if own := [option for option in page.options if option not in shared]:
            parts.append(_table("option", own))
        if also := [
            f"`{option.names.split(' ')[0].rstrip(',')}`" for option in page.options if option in shared
        ]:
            parts.append(f"Also {', '.join(also)}.\n")
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
