"""From wikitext to paragraphs of plain text, in time linear in the length of the page.

Nested markup is removed from the inside out, in a bounded number of passes; each is one regular expression that never
looks at a character more than a fixed number of times. Markup that is opened and never closed costs its paragraph.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection

DROPPED_NAMESPACES = frozenset({"file", "image", "category"})
DEPTH = 12  # of templates, tables and links within each other; more is noise

_DROPPED_ELEMENTS = (
    "ref", "references", "math", "chem", "ce", "gallery", "timeline", "score", "hiero", "imagemap", "graph",
    "syntaxhighlight", "source", "mapframe", "maplink", "templatedata", "inputbox", "categorytree", "indicator",
    "style", "script", "table",
)  # fmt: skip
_BLOCK_ELEMENTS = (
    "p", "div", "li", "ul", "ol", "dl", "dd", "dt", "blockquote", "center", "caption", "td", "th", "tr", "tbody", "hr",
    "h1", "h2", "h3", "h4", "h5", "h6", "poem", "pre", "table",
)  # fmt: skip

_ELEMENT = re.compile(rf"<!--|<(/?)({'|'.join(_DROPPED_ELEMENTS)})(?![A-Za-z0-9])([^<>]*)>", re.IGNORECASE)
_BLOCK_TAG = re.compile(rf"</?(?:{'|'.join(_BLOCK_ELEMENTS)})(?![A-Za-z0-9])[^<>]*>", re.IGNORECASE)
_BREAK_TAG = re.compile(r"<br(?![A-Za-z0-9])[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:[\s/][^<>]*)?>")
# Without another of their kind inside. Tables open and close at the beginning of a line.
_TEMPLATE = re.compile(r"\{\{(?:[^{}]++|\{(?!\{)|\}(?!\}))*+\}\}")
_TABLE = re.compile(r"\n[ \t:*#;]*+\{\|(?:[^\n]++|\n(?![ \t:*#;]*+(?:\{\||\|\})))*+\n[ \t:*#;]*+\|\}")
_NEVER_CLOSED = re.compile(r"(?:\{\{|\n[ \t:*#;]*+\{\|)(?:[^\n]++|\n(?!\n))*+")
_LINK = re.compile(r"\[\[((?:[^\[\]\n]++|\n(?!\n)|\[(?!\[)|\](?!\]))*+)\]\]")
_PLAIN_LINK = re.compile(r"\[\[(?:[^\[\]|:\n]*\|([^\[\]|\n]*)|([^\[\]|:\n]*))\]\]")
_WEB_LINK = re.compile(r"\[(?:https?://|ftp://|//|mailto:|news:|irc://)[^\s\[\]]*+[ \t]*+([^\[\]\n]*+)\]")
_LANGUAGE = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]+)*|simple|minnan|tokipona)$")
_QUOTES = re.compile("''+")
_SWITCH = re.compile(r"__[A-Z]{3,24}__")
_INDENT = re.compile(r"\n[ \t]+")
_ROW = re.compile(r"\n\|[^\n]*")
_HEADING = re.compile(r"\n=[^\n]*=[ \t]*(?=\n)")
_MARKER = re.compile(r"\n(?:[*#:;][*#:; \t]*|-{4,})")
_BRACKET_RUN = re.compile(r"[\[\]{}][\[\]{}]+")
_EMPTY_PARENTHESES = re.compile(r"\([\s,;]*\)")


def paragraphs(text: str, dropped: Collection[str] = DROPPED_NAMESPACES) -> list[str]:
    """The paragraphs of a page: each list item is one, headings are none.

    `dropped` are the namespaces, in lower case, links to which show nothing.

    >>> paragraphs("'''Dogs''' bark{{citation needed}} at [[cat (animal)|cats]].\\n== Use ==\\n* as pets\\n* as guards")
    ['Dogs bark at cats.', 'as pets', 'as guards']
    """
    text = f"\n{text}\n"
    if "<" in text:
        text = drop_elements(text)
        text = _TAG.sub("", _BREAK_TAG.sub("\n", _BLOCK_TAG.sub("\n\n", text)))
    if "{" in text:
        text = _NEVER_CLOSED.sub("", _repeat(_TABLE, _repeat(_TEMPLATE, text)))
    if "[" in text:
        text = resolve_links(text, dropped)
    text = _ROW.sub("\n", _INDENT.sub("\n", text))
    text = _SWITCH.sub("", _QUOTES.sub("", text))
    text = _MARKER.sub("\n\n", _HEADING.sub("\n\n", text))
    text = _EMPTY_PARENTHESES.sub("", _BRACKET_RUN.sub("", text))
    if "&" in text:
        text = html.unescape(text).replace("\xa0", " ").replace("\r", " ")
    found = []
    for piece in text.split("\n\n"):
        line = piece.strip().replace("\n", " ")
        if line and (line[0].isalnum() or any(map(str.isalnum, line))):
            found.append(line)
    return found


def _repeat(pattern: re.Pattern[str], text: str, by: str | Callable[[re.Match[str]], str] = "") -> str:
    """Replace what matches from the inside out."""
    for _ in range(DEPTH):
        text, count = pattern.subn(by, text)
        if not count:
            break
    return text


def drop_elements(text: str) -> str:
    """Without comments and elements that hold no prose.

    An element that is never closed, or a reference that opens again before it is closed, costs the rest of its line.
    """
    kept: list[str] = []
    small = text.lower()
    small = small if len(small) == len(text) else text  # İ has two characters then
    position = 0
    never_closed: set[str] = set()
    while (opening := _ELEMENT.search(text, position)) is not None:
        kept.append(text[position : opening.start()])
        position = opening.end()
        name = (opening[2] or "").lower()
        if opening[1] or (name and opening[3].endswith("/")):
            continue  # a closing tag without its opening one, or an element that is empty
        again = small.find("<ref", position) if name == "ref" else -1
        end = -1
        if name not in never_closed:
            closing = f"</{name}" if name else "-->"
            end = small.find(closing, position, again if again >= 0 else len(text))
        if end >= 0:
            position = small.find(">", end) + 1 or len(text)
            continue
        if again < 0:
            never_closed.add(name)
        end = text.find("\n", position)
        position = end if end >= 0 else len(text)
    kept.append(text[position:])
    return "".join(kept)


def resolve_links(text: str, dropped: Collection[str] = DROPPED_NAMESPACES) -> str:
    """Links as the reader sees them; files, categories and links to other languages go."""
    # Split and join do in C what a substitution with a group does in Python.
    text = "".join(filter(None, _PLAIN_LINK.split(text)))
    text = "".join(_WEB_LINK.split(text))
    return _repeat(_LINK, text, lambda link: _shown(link[1], dropped))


def _shown(inner: str, dropped: Collection[str]) -> str:
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
