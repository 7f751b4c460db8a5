"""The examples of a Markdown page, in order: what is run, what is data, and what is not run, and why."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
COMMANDS = ("console", "sh")
PYTHON = ("python", "pycon")
DATA = ("text", "tsv", "csv", "json", "jsonl", "toml", "yaml", "xml", "html", "output")
_REASON = re.compile(r"<!--\s*not run:\s*(.*?)\s*-->", re.DOTALL)
_GIVEN = re.compile(r"<!--\s*given:\s*(.*?)\s*-->", re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass
class Block:
    """A fenced or indented block."""

    page: Path
    line: int  # of its first line of content, from 1
    language: str  # "" for an indented block, or a fence without one
    title: str | None
    text: str
    reason: str | None  # why it is not run, if a comment before it says so
    indented: bool

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass
class Command:
    """A command line and the output that is shown below it."""

    line: int
    text: str
    output: list[str] = field(default_factory=list)


def pages() -> list[Path]:
    """Every page whose examples must hold; those of CONTRIBUTING.md are worked examples, followed literally."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page."""
    found, reason = [], None
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            told = _REASON.search(token.content)
            reason = told[1] if told else reason
            continue
        if token.type in ("fence", "code_block"):
            fence = token.type == "fence"
            language, _, more = token.info.strip().partition(" ")
            title = _TITLE.search(more)
            line = token.map[0] + 1 + fence
            found.append(Block(page, line, language, title and title[1], token.content, reason, not fence))
        if token.type.endswith(("_open", "fence", "code_block")):
            reason = None
    return found


def given(page: Path) -> list[str]:
    """What a page takes for granted, by the names that `kit.py` knows: `<!-- given: ukwac.bp -->`."""
    listed = _GIVEN.findall(page.read_text(encoding="utf-8"))
    return [name for names in listed for name in re.split(r"[,\s]+", names) if name]


def commands(block: Block) -> list[Command]:
    """The command lines of a block: all lines (`sh`), or those after `$ `, with what they print (`console`)."""
    found: list[Command] = []
    open_line = False
    for number, line in enumerate(block.text.splitlines(), block.line):
        if open_line:
            found[-1].text += "\n" + line
        elif block.language == "sh":
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            found.append(Command(number, line))
        elif line.startswith("$ "):
            found.append(Command(number, line[2:]))
        elif found:
            found[-1].output.append(line)
            continue
        else:
            raise AssertionError(f"{block.place}: a console block begins with `$ `, not with {line!r}")
        open_line = found[-1].text.endswith("\\")
    return found


def matches(shown: list[str], got: list[str]) -> bool:
    """Whether an output is as shown; `...` stands for the rest of a line, or, alone, for any lines."""
    pattern = ""
    for line in _trimmed(shown).splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*".join(map(re.escape, line.split("..."))) + r"\n"
    return re.fullmatch(pattern, _trimmed(got)) is not None


def _trimmed(lines: list[str]) -> str:
    text = "\n".join(map(str.rstrip, lines)).rstrip("\n")
    return text and text + "\n"
