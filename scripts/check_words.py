"""Report words that are not the terms of the field in documentation, messages, docstrings and comments: `make lint`.

Readers must be able to search for every term.
"""

import ast
import io
import json
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A pattern, and what to write instead.
INSTEAD = {
    r"told|tells?|telling": "reported, shows, says; distinguish",
    r"stands?|standing|stood": "is, occurs",
    r"lies|lives": "is, is stored in",
    r"mend(?:s|ed|ing)?|put right": "fix, correct, repair",
    r"beside": "next to, in addition to",
    r"(?:linear|same|one|a|each|two|several) machines? (?:per|each|against|with|over)": "SVM, classifier, model",
    r"for machines": "for programs",
    r"rooms?|house": "package, module; space",
    r"couples?": "co-occurrence",
    r"(?:is|are|was|were|be) said": "is reported; occurs",
    r"taken for|takes? for": "is classified as, is assumed to be",
    r"so many|as many as|so long": "at most N, the number of",
    r"(?:leav(?:e|es|ing)|left) (?:\S+ )?(?:out|alone)": "exclude, omit, skip, ignore",
    r"nobody|in vain|known not": "no one, without success, unknown",
    r"gone(?: on)?|goes on|go on": "removed, exited; resumed, continues",
    r"(?:caps?|limits?|it|that|which) bit": "applied, was reached",
    r"company": "collocates",
    r"flatter(?:s|ed|ing)?": "is optimistic",
    r"the word none": "`none`",
    r"anew|passed over|written over": "again, skipped, overwritten",
    r"meets?|met": "co-occur, occur together",
    r"slips?": "mistakes",
    r"no whole number": "not an integer",
}
FORBIDDEN = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): better for words, better in INSTEAD.items()}
FORBIDDEN[re.compile(r"(?<=\d)%(?!\w)")] = "60 %, with a space"
ANY = re.compile("|".join(words.pattern for words in FORBIDDEN), re.IGNORECASE)

# Ordinary uses of these words.
ALLOWED = re.compile(
    r"stand[- ]ins?|stand-?alone|stands? for|standing for|\*living room\*|\*live room\*|house mouse"
    r"|as written over|roof – house|\*\*house\*\*|\bmeets? the (?:condition|requirement)s?"
)
# Words that are data: (file, pattern).
DATA = [
    ("src/bagpack/corpus/words.py", r"^\s+[\w' ]+$"),  # lists of English words
    ("src/bagpack/corpus/text/lemmas.py", r"^(?:gone|lives)$"),  # irregular forms
]


def prose_of_markdown(text):
    """Lines outside code blocks, without inline code and link targets."""
    fence = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(```+|~~~+)", line):
            fence = not fence
        elif not fence:
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", " ", line)


def prose_of_python(text):
    """Comments and strings; of an f-string, not its expressions."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for number, line in enumerate(node.value.splitlines(), node.lineno):
                yield number, re.sub(r"``?[^`]*``?", " ", line)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r"`[^`]*`", " ", token.string)


def prose_of_template(text):
    """Text of an HTML template, without tags and expressions."""
    code = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<[^>]*>", re.DOTALL)
    yield from enumerate(code.sub(lambda found: "\n" * found[0].count("\n"), text).splitlines(), 1)


def prose_of_notebook(text):
    """Lines of the Markdown cells; their number is that of the cell."""
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        if cell["cell_type"] == "markdown":
            yield from ((number, line) for _, line in prose_of_markdown("".join(cell["source"])))


READERS = {
    ".md": prose_of_markdown, ".py": prose_of_python, ".j2": prose_of_template, ".ipynb": prose_of_notebook,
}  # fmt: skip


def checked_files():
    """Everything that users or contributors read, except the generated reference and the history."""
    sources = [path for path in (ROOT / "src" / "bagpack").rglob("*") if path.suffix in (".py", ".j2")]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    pages += [*(ROOT / "scripts").glob("*.py"), *(ROOT / ".github").rglob("*.md")]
    others = [ROOT / "CHANGELOG.md", ROOT / "docs" / "reference" / "cli.md"]
    return sorted({*sources, *pages} - {*others, Path(__file__).resolve()})


def main():
    """Print each place with what to write instead; exit code 1 if there is one."""
    found = []
    for path in checked_files():
        name = path.relative_to(ROOT).as_posix()
        for number, line in READERS[path.suffix](path.read_text(encoding="utf-8")):
            if not ANY.search(line) or any(name == file and re.search(words, line) for file, words in DATA):
                continue
            rest = ALLOWED.sub(" ", line)
            for pattern, better in FORBIDDEN.items():
                found += [f"{name}:{number}: {hit[0]!r} (better: {better})" for hit in pattern.finditer(rest)]
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
