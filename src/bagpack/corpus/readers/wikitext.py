"""From wikitext to paragraphs of plain text, in time linear in the length of the page.

Each step is a scan with a stack, or one regular
expression that never looks at a character more than a fixed number of times. Markup that is opened and never closed
costs at most its paragraph.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from dataclasses import dataclass

DROPPED_NAMESPACES = frozenset({"file", "image", "category"})
MAX_LINK_DEPTH = 8  # a caption holds links, rarely a caption; more is noise, and would cost its square

_KEPT_AS_WRITTEN = ("nowiki", "pre")
_DROPPED_ELEMENTS = (
    "ref", "references", "math", "chem", "ce", "gallery", "timeline", "score", "hiero", "imagemap", "graph",
    "syntaxhighlight", "source", "mapframe", "maplink", "templatedata", "inputbox", "categorytree", "indicator",
    "style", "script", "table",
)  # fmt: skip
_BLOCK_ELEMENTS = (
    "p", "div", "li", "ul", "ol", "dl", "dd", "dt", "blockquote", "center", "caption", "td", "th", "tr", "tbody", "hr",
    "h1", "h2", "h3", "h4", "h5", "h6", "poem", "table",
)  # fmt: skip

_ELEMENT = re.compile(
    rf"<!--|<(/?)({'|'.join((*_KEPT_AS_WRITTEN, *_DROPPED_ELEMENTS))})(?![A-Za-z0-9])([^<>]*)>", re.IGNORECASE
)
_BLOCK_TAG = re.compile(rf"</?(?:{'|'.join(_BLOCK_ELEMENTS)})(?![A-Za-z0-9])[^<>]*>", re.IGNORECASE)
_BREAK_TAG = re.compile(r"<br(?![A-Za-z0-9])[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:[\s/][^<>]*)?>")
# Tables open and close at the beginning of a line. `|}}` closes a template, `|}}}` a table within one.
_BRACES = re.compile(r"\{\{|\}\}|\n[ \t:*#;]*(?:\{\||\|\}(?!\}(?!\})))")
_PLAIN_LINK = re.compile(r"\[\[(?:[^\[\]|:\n]*\|([^\[\]|\n]*)|([^\[\]|:\n]*))\]\]")
_WEB_LINK = re.compile(r"\[(?:https?://|ftp://|//|mailto:|news:|irc://)[^\s\[\]]*+[ \t]*+([^\[\]\n]*+)\]")
_BRACKETS = re.compile(r"\[\[|\]\]\](?!\])|\]\]|\n\n")  # of `]]]`, the last two close a link
_LANGUAGE = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]+)*|simple|minnan|tokipona)$")
_QUOTES = re.compile("''+")
_SWITCH = re.compile(r"__[A-Z]{3,24}__")
_INDENT = re.compile(r"\n[ \t]+")
_ROW = re.compile(r"\n\|[^\n]*")
_HEADING = re.compile(r"\n=[^\n]*=[ \t]*(?=\n)")
_MARKER = re.compile(r"\n(?:[*#:;][*#:; \t]*|-{4,})")
_BRACKET_RUN = re.compile(r"[\[\]{}][\[\]{}]+")
_EMPTY_PARENTHESES = re.compile(r"\([\s,;]*\)")
_REFERENCE = re.compile(r"&#(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6});")

# Text between <nowiki> tags is no markup: its special characters wait as noncharacters, which no dump can hold.
_SPECIAL = "[]{}|<>'=*#:;_-&\n("
_HIDE = {ord(char): chr(0xFDD0 + k) for k, char in enumerate(_SPECIAL)}
_SHOW = {0xFDD0 + k: char if char != "\n" else " " for k, char in enumerate(_SPECIAL)}


@dataclass(frozen=True)
class Namespaces:
    """Prefixes, in lower case: of titles that are no articles, and of links that show nothing."""

    others: frozenset[str] = frozenset()
    dropped: frozenset[str] = DROPPED_NAMESPACES


DEFAULT_NAMESPACES = Namespaces()


def paragraphs(text: str, namespaces: Namespaces = DEFAULT_NAMESPACES) -> list[str]:
    """The paragraphs of a page: each list item is one, headings are none.

    >>> paragraphs("'''Dogs''' bark{{citation needed}} at [[cat (animal)|cats]].\\n== Use ==\\n* as pets\\n* as guards")
    ['Dogs bark at cats.', 'as pets', 'as guards']
    """
    text = f"\n{text}\n"
    hidden = False
    if "<" in text:
        text, hidden = drop_elements(text)
        if "<" in text:
            text = _TAG.sub("", _BREAK_TAG.sub("\n", _BLOCK_TAG.sub("\n\n", text)))
    if "{" in text:
        text = drop_braces(text)
    if "[" in text:
        text = resolve_links(text, namespaces.dropped)
    text = _ROW.sub("\n", _INDENT.sub("\n", text))
    text = _QUOTES.sub("", text)
    if "__" in text:
        text = _SWITCH.sub("", text)
    text = _MARKER.sub("\n\n", _HEADING.sub("\n\n", text))
    text = _EMPTY_PARENTHESES.sub("", _BRACKET_RUN.sub("", text))
    if "&" in text:
        text = resolve_entities(text)
    if hidden:
        text = text.translate(_SHOW)
    found = []
    for piece in text.split("\n\n"):
        line = piece.strip().replace("\n", " ")
        if line and (line[0].isalnum() or any(map(str.isalnum, line))):
            found.append(line)
    return found


def unescape_xml(text: str) -> str:
    """Undo the one escaping that XML did; entities that the author wrote stay for `resolve_entities`."""
    if "&" not in text:
        return text
    if "&#" in text:
        text = _REFERENCE.sub(lambda match: html.unescape(match[0]), text)
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
    return text.replace("&amp;", "&")


def resolve_entities(text: str) -> str:
    """HTML entities as characters; those that divide words or lines as a blank."""
    text = text.replace("&nbsp;", " ").replace("&ndash;", "–").replace("&mdash;", "—")
    if "&" in text:
        text = html.unescape(text)
    return text.replace("\xa0", " ").replace("\r", " ")


def drop_elements(text: str) -> tuple[str, bool]:
    """Without comments and elements that hold no prose; and whether text that is no markup is hidden in it.

    An element that is never closed, or that opens again before it is closed, costs the rest of its line.
    """
    kept: list[str] = []
    hidden = False
    position = 0
    never_closed: set[str] = set()
    while (opening := _ELEMENT.search(text, position)) is not None:
        kept.append(text[position : opening.start()])
        name = (opening[2] or "!--").lower()
        position = opening.end()
        if name == "!--":
            end = text.find("-->", position) if name not in never_closed else -1
            if end < 0:
                never_closed.add(name)
            position = end + 3 if end >= 0 else _line_end(text, position)
            continue
        if opening[1] or opening[3].endswith("/"):
            continue  # a closing tag without its opening one, or an element that is empty
        span = None if name in never_closed else _closing(text, position, name, never_closed)
        if name in _KEPT_AS_WRITTEN:
            if span is not None:
                kept.append(text[position : span[0]].translate(_HIDE))
                hidden = True
                position = span[1]
        elif span is not None:
            position = span[1]
        elif name != "table":
            position = _line_end(text, position)
    kept.append(text[position:])
    return "".join(kept), hidden


def _closing(text: str, position: int, name: str, never_closed: set[str]) -> tuple[int, int] | None:
    """Start and end of the closing tag; tables nest, in others a second opening means that the first has no end."""
    tag = _TAGS_OF[name]
    depth = 1
    while (found := tag.search(text, position)) is not None:
        position = found.end()
        if found[1]:
            depth -= 1
            if depth == 0:
                return found.start(), position
        elif not found[2].endswith("/"):
            if name == "ref":
                return None
            depth += name == "table"
    never_closed.add(name)
    return None


_TAGS_OF = {
    name: re.compile(rf"<(/?){name}(?![A-Za-z0-9])([^<>]*)>", re.IGNORECASE)
    for name in (*_KEPT_AS_WRITTEN, *_DROPPED_ELEMENTS)
}


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return end if end >= 0 else len(text)


def drop_braces(text: str) -> str:
    """Without templates and tables, nested as they may be; one that is never closed costs the rest of its paragraph."""
    stack: list[tuple[bool, int]] = []  # what is open: a table or a template, and where it begins
    open_tables = open_templates = 0
    spans: list[tuple[int, int]] = []  # what is closed and in nothing that is closed
    for token in _BRACES.finditer(text):
        mark = token[0]
        is_table = mark[0] == "\n"
        if mark[-1] != "}":
            stack.append((is_table, token.start()))
            open_tables += is_table
            open_templates += not is_table
        elif open_tables if is_table else open_templates:
            while True:
                kind, start = stack.pop()
                open_tables -= kind
                open_templates -= not kind
                if kind == is_table:
                    break
            while spans and spans[-1][0] >= start:
                spans.pop()
            spans.append((start, token.end()))
    end = 0
    for _, start in stack:
        if start >= end:  # else it goes with the one before
            end = text.find("\n\n", start + 1)
            end = end if end >= 0 else len(text)
            spans.append((start, end))
    if stack:
        spans.sort()
    kept = []
    position = 0
    for start, end in spans:
        if start > position:
            kept.append(text[position:start])
        position = max(position, end)
    kept.append(text[position:])
    return "".join(kept)


def resolve_links(text: str, dropped: Collection[str] = DROPPED_NAMESPACES) -> str:
    """Links as the reader sees them; files, categories and links to other languages go."""
    if "[[" in text:
        # Split and join do in C what a substitution with a group does in Python.
        text = "".join(filter(None, _PLAIN_LINK.split(text)))
    if "[" in text:
        text = "".join(_WEB_LINK.split(text))
    if "[[" not in text:
        return text
    out: list[str] = []
    position = 0
    while (start := text.find("[[", position)) >= 0:
        out.append(text[position:start])
        position = _read_link(text, start, out, dropped)
    out.append(text[position:])
    return "".join(out)


def _read_link(text: str, position: int, out: list[str], dropped: Collection[str]) -> int:
    """Put what the link at `position` shows into `out`; where it ends, or its paragraph if it is not closed."""
    stack: list[int] = []  # for each link that is open, the length of `out` where it began
    ignored = 0
    for token in _BRACKETS.finditer(text, position):
        out.append(text[position : token.start()])
        position = token.end()
        mark = token[0]
        if mark == "[[":
            if len(stack) < MAX_LINK_DEPTH:
                stack.append(len(out))
            else:
                ignored += 1
        elif mark == "\n\n":
            position = token.start()
            break
        elif ignored:
            ignored -= 1
        else:
            out.append(mark[2:])
            _close_link(out, stack.pop(), dropped)
            if not stack:
                return position
    else:
        out.append(text[position:])
        position = len(text)
    _abandon(out, stack, dropped)
    return position


def _close_link(out: list[str], start: int, dropped: Collection[str]) -> None:
    inner = "".join(out[start:])
    del out[start:]
    out.append(_shown(inner, dropped))


def _abandon(out: list[str], stack: list[int], dropped: Collection[str]) -> None:
    """The paragraph ends with links open: those to files go, of others the brackets."""
    while stack:
        start = stack.pop()
        inner = "".join(out[start:])
        if inner.partition(":")[0].strip().lower() in dropped:
            del out[start:]


def _shown(inner: str, dropped: Collection[str]) -> str:
    """What a link shows of itself."""
    target, bar, label = inner.partition("|")
    prefix, colon, rest = target.partition(":")
    if colon:
        space = prefix.strip().lower()
        if space in dropped:
            return ""
        if not bar and _LANGUAGE.match(prefix.strip()):
            return ""
        if not space and not bar:
            return rest
    return label.rpartition("|")[2] if bar else target
