# SPDX-License-Identifier: GPL-2.0-only
"""A C file cut into what stands at file scope: directives, definitions, calls of macros.

Which names are defined where is universal-ctags' answer. It does not say where
a declaration, a variable or a macro ends, nor what stands beside it; the cut
does. It goes by brackets and semicolons only and knows no types.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lab.base import proc

SKIPPED = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                     re.DOTALL)
TOKEN = re.compile(r"^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*|[A-Za-z_]\w*|[^\s\w]|\d\w*",
                   re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"[ \t]*#\s*(\w*)")
FORWARD = re.compile(r"\s*(struct|union|enum)\s+(\w+)\s*;\s*")
ARGUMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[.*\]\s*)?", re.DOTALL)
ANONYMOUS = re.compile(r"__anon[0-9a-f]{8,}")
WORD = re.compile(r"[A-Za-z_]\w*")
QUALIFIERS = {"static", "extern", "const", "inline", "volatile", "noinline"}
NOT_CALLS = {"asm", "__asm__", "typeof", "__typeof__", "_Static_assert"}
# Calls that belong to a definition and go with it.
ATTACHED = re.compile(r"EXPORT_\w+|ALLOW_ERROR_INJECTION|NOKPROBE_SYMBOL|\w*_initcall(?:_sync)?"
                      r"|module_(?:init|exit)|STACK_FRAME_NON_STANDARD|BTF_ID\w*")
KINDS = "+pxlmze"
OUTER_KINDS = {"function", "prototype", "variable", "externvar", "struct", "union", "enum",
               "typedef", "macro"}
Token = tuple[int, int, str]


@dataclass
class Tag:
    """What ctags says of a name."""

    name: str
    kind: str
    line: int
    # Of file scope only, as 'static' makes it.
    static: bool = False


@dataclass
class Item:
    """One piece at file scope; lines are those of the file, from 1."""

    start: int
    end: int = 0
    directive: str = ""
    call: str = ""
    callee: str = ""
    arguments: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    body: tuple[int, int] | tuple[()] = ()
    # Ended by a directive in its midst: nobody knows where it really ends.
    broken: bool = False
    tags: list[Tag] = field(default_factory=list)
    first: int = 0
    last: int = 0

    @property
    def static(self) -> bool:
        return "static" in self.words

    @property
    def attached(self) -> bool:
        return bool(ATTACHED.fullmatch(self.call))

    def names(self) -> set[str]:
        return {tag.name for tag in self.tags}


def mask(text: str) -> str:
    """The text with blanks for comments and for what is in quotes."""
    def blank(match: re.Match[str]) -> str:
        found = match[0]
        spaces = re.sub(r"[^\n]", " ", found)
        return spaces if found[0] == "/" else found[0] + spaces[1:-1] + found[-1]
    return SKIPPED.sub(blank, text)


def mask_comments(text: str) -> str:
    """The text with blanks for comments alone."""
    return SKIPPED.sub(lambda match: " " if match[0][0] == "/" else match[0], text)


def comments(text: str) -> list[tuple[int, int]]:
    """[(start, end)] of all comments."""
    return [match.span() for match in SKIPPED.finditer(text) if match[0][0] == "/"]


class Lines:
    """Lines of offsets in a text."""

    def __init__(self, text: str) -> None:
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def of(self, offset: int) -> int:
        return bisect_right(self.starts, offset)


class Cutter:
    """Feed it the tokens; the items come out in the order of the file."""

    def __init__(self, masked: str) -> None:
        self.masked = masked
        self.lines = Lines(masked)
        self.items: list[Item] = []
        self.open: Item | None = None
        self.braces = self.parens = 0

    def cut(self) -> list[Item]:
        tokens = [(m.start(), m.end(), m[0]) for m in TOKEN.finditer(self.masked)]
        for index, (start, end, token) in enumerate(tokens):
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            if directive := DIRECTIVE.match(token):
                self._directive(start, end, directive[1])
            else:
                self._token(start, end, token, following)
        self._close(self.open, len(self.masked), broken=True) if self.open else None
        return self.items

    def _directive(self, start: int, end: int, kind: str) -> None:
        if self.open and not self._inner_directive(self.open, kind):
            return
        line = self.lines.of(start)
        self.items.append(Item(line, self.lines.of(max(start, end - 1)), directive=kind or "empty",
                               first=start, last=end))

    def _inner_directive(self, item: Item, kind: str) -> bool:
        """A directive within an item; true if it is one of file scope after all."""
        if kind in ("if", "ifdef", "ifndef"):
            self.saved.append((self.braces, self.parens))
        elif kind in ("else", "elif", "endif"):
            if not self.saved:
                self._close(item, self.after, broken=True)
                return True
            if kind == "endif":
                self.saved.pop()
            else:
                # Each branch begins at the same depth.
                self.braces, self.parens = self.saved[-1]
        return False

    def _begin(self, start: int) -> Item:
        item = self.open = Item(self.lines.of(start), first=start)
        self.braces = self.parens = 0
        self.saved: list[tuple[int, int]] = []
        self.assigned = self.is_body = self.called = False
        self.body_start = self.paren_start = 0
        return item

    def _close(self, item: Item, end: int, broken: bool = False) -> None:
        item.end, item.last = self.lines.of(max(0, end - 1)), end
        item.broken = broken
        self.items.append(item)
        self.open = None

    def _token(self, start: int, end: int, token: str, following: Token | None) -> None:
        item = self.open or self._begin(start)
        self.after = end
        if token in "([":
            self._open_paren(start, token)
        elif token in ")]":
            self.parens -= 1
            if token == ")" and not self.parens and not self.braces:
                self._close_paren(item, start, end, following)
        elif token == "{":
            self._open_brace(item, start)
        elif token == "}":
            self._close_brace(item, end, following)
        elif not self.parens and not self.braces:
            self._outer_token(item, end, token)

    def _outer_token(self, item: Item, end: int, token: str) -> None:
        if token == ";":
            self._close(item, end)
        elif token == "=":
            self.assigned = True
        elif WORD.fullmatch(token) and not self.body_start and not self.assigned:
            item.words.append(token)

    def _open_paren(self, start: int, token: str) -> None:
        if token == "(" and not self.parens and not self.braces:
            self.paren_start = start
        self.parens += 1

    def _close_paren(self, item: Item, start: int, end: int, following: Token | None) -> None:
        """The first pair of parentheses tells a call of a macro from a declaration."""
        if self.called or self.body_start or self.assigned:
            return
        words = item.words
        if self.masked[self.paren_start + 1:start].lstrip().startswith("*"):
            # A pointer to a function.
            self.called = True
            return
        plain = words and words[-1] not in NOT_CALLS and set(words[:-1]) <= QUALIFIERS
        if not plain:
            self.called = True
            item.callee = words[-1] if words else ""
            return
        new_line = following and "\n" in self.masked[end:following[0]]
        word = following and WORD.fullmatch(following[2])
        if word and (not new_line or words[-1].startswith("__")):
            # An attribute such as __printf(1, 2).
            words.pop()
            return
        self.called = True
        item.call = words[-1]
        item.arguments = _arguments(self.masked[self.paren_start + 1:start])
        if not following or word or following[2].lstrip().startswith("#"):
            self._close(item, end)

    def _open_brace(self, item: Item, start: int) -> None:
        if not self.braces and not self.parens and not self.body_start:
            self.body_start = start
            self.is_body = (self.called or bool(item.call)) and not self.assigned
        self.braces += 1

    def _close_brace(self, item: Item, end: int, following: Token | None) -> None:
        self.braces -= 1
        if self.braces or self.parens:
            return
        if not item.body:
            item.body = (self.lines.of(self.body_start), self.lines.of(end - 1))
        if self.is_body and not (following and following[2] == ";"):
            self._close(item, end)


def _arguments(text: str) -> list[str]:
    """The arguments of a call; '' for one that is not a name or an array's."""
    parts, depth, part = [], 0, ""
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and not depth:
            parts.append(part)
            part = ""
        else:
            part += char
    matches = [ARGUMENT.fullmatch(p) for p in [*parts, part]]
    return [match[1] if match else "" for match in matches]


def tags_of(files: Iterable[Path]) -> dict[str, list[Tag]]:
    """{file: [Tag]} by universal-ctags."""
    found: dict[str, list[Tag]] = {str(file): [] for file in files}
    if not found:
        return found
    text = proc.output(["ctags", "--options=NONE", "--language-force=C", "--sort=no",
                        f"--kinds-C={KINDS}", "--fields=+nKf", "--output-format=json",
                        "-f", "-", *found])
    for line in text.splitlines():
        tag = json.loads(line)
        if tag.get("_type") == "tag":
            found[tag["path"]].append(Tag(tag["name"], tag["kind"], tag["line"],
                                          tag.get("file", False)))
    return found


def _call_tag(item: Item) -> list[Tag]:
    """What a call of a macro defines: DEFINE_MUTEX(name), DEFINE_PER_CPU(type, name)."""
    words = [word for word in item.arguments if word]
    if not words or item.attached:
        return []
    name = words[-1] if "PER_CPU" in item.call else words[0]
    return [Tag(name, "variable", item.start)]


def _missed_tag(item: Item) -> list[Tag]:
    """ctags loses what follows a call without semicolon: go by the form."""
    words = [word for word in item.words if not word.startswith("__")]
    name = item.callee or (words[-1] if len(words) > 1 and not item.body else "")
    kind = "variable" if not item.callee else "function" if item.body else "prototype"
    return [Tag(name, kind, item.start)] if name and not item.directive else []


def _inside(item: Item, tag: Tag) -> bool:
    """Whether a tag is a name of the item's own, not one of its body."""
    if tag.kind == "enumerator":
        return item.words == ["enum"]
    if tag.kind not in OUTER_KINDS:
        return False
    return not item.body or not item.body[0] < tag.line < item.body[1]


def items_of(text: str, tags: list[Tag]) -> list[Item]:
    """The items of a file, with the names that each defines."""
    masked = mask(text)
    items = Cutter(masked).cut()
    for item in items:
        if item.call:
            item.tags = _call_tag(item)
        elif match := FORWARD.fullmatch(masked[item.first:item.last]):
            item.tags = [Tag(match[2], match[1], item.start)]
        else:
            item.tags = [tag for tag in tags
                         if item.start <= tag.line <= item.end and _inside(item, tag)
                         and (tag.kind == "macro") == (item.directive == "define")
                         and not ANONYMOUS.match(tag.name)] or _missed_tag(item)
    return items
