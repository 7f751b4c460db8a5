"""Write man/bagpack.1 from the commands themselves. `make docs` runs it, and a test says when it is stale."""

from __future__ import annotations

from pathlib import Path

from command_tree import Parameter, command_pages, program_help, program_options

from bagpack import __version__

DATE = "2026-11-15"  # of the page's last great change: one of today would make it stale every day
PAGE = Path(__file__).parents[1] / "man" / "bagpack.1"

FILES = (
    (
        "$XDG_CACHE_HOME/bagpack/",
        "Answers of search engines, and the demo's corpus. ~/.cache where the variable is unset.",
    ),
)
ENVIRONMENT = (
    ("BAGPACK_ENGINE", "The URL of a search engine, with its credentials."),
    ("BAGPACK_ENGINE_USER, BAGPACK_ENGINE_PASSWORD", "Credentials for OpenSearch and Elasticsearch."),
    ("BAGPACK_ENGINE_API_KEY", "An API key for Elasticsearch."),
    ("BAGPACK_SCRATCH", "Where workers of a cluster hand their results over."),
    ("BAGPACK_TRACEBACK", "Show where an unexpected error came from."),
    ("NO_COLOR, COLUMNS", "No colours; the width of the terminal."),
)
EXAMPLES = (
    ("Index a directory of text, and show the sentences with two words:",
     ("bagpack index texts --out my.bp", "bagpack contexts my.bp cat lion")),
    ("Train on labelled pairs, and ask why:",
     ("bagpack train my.bp relations.tsv --out my.model", "bagpack explain my.model leaf tree")),
)  # fmt: skip


def render() -> str:
    """The page, in the man macros."""
    parts = [
        f'.TH BAGPACK 1 {DATE} "bagpack {__version__}" "User Commands"',
        ".SH NAME",
        "bagpack \\- the relation between two words in a corpus, and the sentences that say so",
        ".SH SYNOPSIS",
        ".B bagpack",
        ".I COMMAND",
        "[\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        escape(program_help()),
        "Text becomes an indexed corpus, pairs of words become vectors of named contexts, and a linear model over them "
        "learns relations, rates plausibility and solves analogies. Every answer leads back to lines of the corpus.",
        ".SH OPTIONS",
        *_parameters(program_options()),
        ".SH COMMANDS",
    ]
    for page in command_pages():
        parts += [
            f".SS {escape(page.name.removeprefix('bagpack '))}",
            ".B " + escape(page.usage),
            ".PP",
            escape(page.summary),
        ]
        if page.more:
            parts += [".PP", escape(page.more)]
        parts += _parameters([*page.arguments, *page.options])
    parts += [
        ".SH EXIT STATUS",
        "0 when the work was done, 2 when the command was called wrongly, 1 when something failed, 130 when it was "
        "interrupted. One sentence on standard error says what was wrong.",
        ".SH ENVIRONMENT",
        *_listed(ENVIRONMENT),
        ".SH FILES",
        *_listed(FILES),
        ".SH EXAMPLES",
        "Both begin in a directory with texts.",
    ]
    for words, commands in EXAMPLES:
        parts += [".PP", escape(words), ".PP", ".nf", ".RS", *map(escape, commands), ".RE", ".fi"]
    parts += [
        ".SH SEE ALSO",
        "A. Herda\\[u011F]delen and M. Baroni, "
        "\\fIBagPack: A general framework to represent semantic relations\\fR, 2009.",
    ]
    return "\n".join(parts) + "\n"


def _parameters(listed: list[Parameter]) -> list[str]:
    rows = []
    for row in listed:
        rows += [
            ".TP",
            ".B " + escape(row.names),
            escape(row.help) + (f" Default: {escape(row.default)}." if row.default else ""),
        ]
    return rows


def _listed(rows: tuple[tuple[str, str], ...]) -> list[str]:
    return [line for name, words in rows for line in (".TP", ".B " + escape(name), escape(words))]


def escape(text: str) -> str:
    """Plain text for roff: a backslash, a hyphen and a leading point mean something there."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(render(), encoding="utf-8")
