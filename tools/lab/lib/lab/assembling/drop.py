# SPDX-License-Identifier: GPL-2.0-only
"""Removal of named definitions from a C file.

What goes with a definition: the comment that ends on the line above it, the
EXPORT_SYMBOL() and the like that name it, and a conditional that it leaves
empty. Nothing else changes, but for blank lines that would be left doubled.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.assembling import csource
from lab.base.errors import LabError

KIND_PREFIXES = {"struct", "union", "enum", "typedef", "macro", "function", "variable"}
TAG_KINDS = {"function": {"function", "prototype"}, "variable": {"variable", "externvar"}}
SIMPLE_CONDITION = re.compile(r"\s*#\s*(ifdef|ifndef)\s+(\w+)|\s*#\s*(if)\s+(!?)"
                              r"((?:defined\s*|IS_\w+)\(\w+\))\s*(?:/\*.*)?$")


@dataclass(frozen=True)
class Symbol:
    """A name of the list; 'struct:NAME' and the like where the name alone says too little."""

    name: str
    kind: str = ""

    @classmethod
    def parse(cls, text: str) -> "Symbol":
        kind, colon, name = text.rpartition(":")
        if colon and kind not in KIND_PREFIXES or not csource.WORD.fullmatch(name):
            kinds = " ".join(sorted(KIND_PREFIXES))
            raise LabError(f"bad symbol '{text}'", f"write a name, or KIND:NAME, KIND of {kinds}")
        return cls(name, kind)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.kind else self.name

    def matches(self, tag: csource.Tag) -> bool:
        kinds = TAG_KINDS.get(self.kind, {self.kind})
        return tag.name == self.name and (not self.kind or tag.kind in kinds)


@dataclass(frozen=True)
class Dropped:
    """A name that a file has lost.

    Only files whose paths start with reach could use it: the file itself, the
    directory of a private header, or any at all.
    """

    name: str
    kind: str
    path: str
    reach: str


@dataclass
class Group:
    """An #if with its branches; each is a directive and the items up to the next one."""

    branches: list[csource.Item]
    end: csource.Item
    parent: "Group | None" = None
    touched: bool = False


def reach_of(item: csource.Item, tag: csource.Tag, path: str) -> str:
    """Where a name can be used, as the start of a path."""
    # A call such as PMU_FORMAT_ATTR(name) makes names of its own of it.
    linked = (tag.kind in ("function", "variable", "prototype", "externvar") and not item.static
              and (not item.call or item.call.startswith("DE")))
    if linked or path.endswith(".h") and "include/" in path:
        return ""
    return path if path.endswith(".c") else path.rpartition("/")[0] + "/"


def dropped_of(item: csource.Item, tag: csource.Tag, path: str) -> Dropped:
    return Dropped(tag.name, tag.kind, path, reach_of(item, tag, path))


class File:
    """One file from which definitions are dropped."""

    def __init__(self, path: str, text: str, tags: list[csource.Tag]) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.masked = csource.mask(text).splitlines()
        self.items = csource.items_of(text, tags)
        self.gone: set[int] = set()
        self.changed: dict[int, str] = {}
        self._note_comments(text)

    def _note_comments(self, text: str) -> None:
        """Comments by their last and first line, those that stand alone."""
        lines = csource.Lines(text)
        self.comment_ending: dict[int, int] = {}
        self.comment_from: dict[int, int] = {}
        for start, end in csource.comments(text):
            first, last = lines.of(start), lines.of(max(start, end - 1))
            self.comment_from[first] = last
            if all(not self.masked[n - 1].strip() for n in range(first, last + 1)):
                self.comment_ending[last] = first

    def drop(self, symbols: Sequence[Symbol]) -> list[Dropped]:
        """Remove the symbols; the result is what went, as Dropped."""
        dropped: list[Dropped] = []
        doomed: list[csource.Item] = []
        for symbol in symbols:
            found = [(item, tag) for item in self.items for tag in item.tags
                     if symbol.matches(tag)]
            if not found:
                raise LabError(f"{self.path} does not define {symbol}",
                               "correct the list; perhaps it has another name in this release")
            dropped += [dropped_of(item, tag, self.path) for item, tag in found]
            doomed += [item for item, _ in found]
        names = {symbol.name for symbol in symbols}
        doomed += [item for item in self.items if item.attached and names & set(item.arguments)]
        for item in {id(item): item for item in doomed}.values():
            self._check(item, symbols)
            self._remove(item)
        self._tidy_conditionals({id(item) for item in doomed})
        self._tidy_blanks()
        return dropped

    def text(self) -> str:
        kept = [self.changed.get(n, line) for n, line in enumerate(self.lines, 1)
                if n not in self.gone]
        return "".join(line + "\n" for line in kept)

    def _check(self, item: csource.Item, symbols: Sequence[Symbol]) -> None:
        where = f"{self.path}:{item.start}"
        if item.broken:
            raise LabError(f"{where}: an #if cuts this definition in two", "edit it by hooks.patch")
        for other in self.items:
            if other is not item and (other.end == item.start or other.start == item.end):
                raise LabError(f"{where}: another definition stands on the same line",
                               "edit it by hooks.patch")
        left = sorted(tag.name for tag in item.tags if not any(s.matches(tag) for s in symbols))
        if left:
            raise LabError(f"{where}: {' '.join(left)} is declared by the same statement",
                           "name it too, or edit it by hooks.patch")

    def _comment_above(self, line: int) -> int:
        """The first line of the comment that ends above a line, or that line."""
        while (first := self.comment_ending.get(line - 1)) and "SPDX-License" not in \
                self.lines[first - 1]:
            line = first
        return line

    def _remove(self, item: csource.Item) -> None:
        end = item.end
        while self.comment_from.get(end, end) > end:
            end = self.comment_from[end]
        self.gone.update(range(self._comment_above(item.start), end + 1))

    def _groups(self, doomed: set[int]) -> list[Group]:
        """All conditionals, inner ones first; those that lost something are touched."""
        groups: list[Group] = []
        current: Group | None = None
        for item in self.items:
            if item.directive in ("if", "ifdef", "ifndef"):
                current = Group([item], item, current)
            elif item.directive in ("else", "elif", "elifdef") and current:
                current.branches.append(item)
            elif item.directive == "endif" and current:
                current.end = item
                groups.append(current)
                current = current.parent
            elif id(item) in doomed:
                outer = current
                while outer:
                    outer.touched = True
                    outer = outer.parent
        return groups

    def _is_empty(self, group: Group, index: int) -> bool:
        start = group.branches[index].end + 1
        following = [*group.branches[index + 1:], group.end][0]
        return all(n in self.gone or not self.lines[n - 1].strip()
                   for n in range(start, following.start))

    def _tidy_conditionals(self, doomed: set[int]) -> None:
        for group in self._groups(doomed):
            if group.touched:
                self._tidy_group(group)

    def _tidy_group(self, group: Group) -> None:
        """Drop empty branches from the last one on; all of it if all are empty."""
        while group.branches and self._is_empty(group, -1 % len(group.branches)):
            last = group.branches.pop()
            start = last.start if group.branches else self._comment_above(last.start)
            end = group.end.start - 1 if group.branches else group.end.end
            self.gone.update(range(start, end + 1))
        if len(group.branches) == 2 and self._is_empty(group, 0):
            self._invert(group)

    def _invert(self, group: Group) -> None:
        """'#ifdef A' (nothing) '#else' becomes '#ifndef A', where that is plain to see."""
        first, second = group.branches
        condition = inverted(self.lines[first.start - 1])
        if second.directive == "else" and condition and first.start == first.end:
            self.changed[first.start] = condition
            self.gone.update(range(first.end + 1, second.end + 1))

    def _blank(self, line: int) -> bool:
        return not self.lines[line - 1].strip()

    def _tidy_blanks(self) -> None:
        """No two blank lines, none at the inner edges of a conditional."""
        for start, end in self._runs():
            above, below = self._kept(start, -1), self._kept(end, 1)
            opener = not above or self._is_directive(above, "if|ifdef|ifndef|else|elif")
            if below and self._blank(below) and (opener or self._blank(above)):
                self.gone.add(below)
            elif above and self._blank(above) and (
                    not below or self._is_directive(below, "else|elif|endif")):
                self.gone.add(above)

    def _is_directive(self, line: int, kinds: str) -> bool:
        return bool(re.match(rf"\s*#\s*(?:{kinds})\b", self.lines[line - 1]))

    def _runs(self) -> list[list[int]]:
        """Runs of lines that go, as (first, last)."""
        runs: list[list[int]] = []
        for line in sorted(self.gone):
            if runs and runs[-1][1] == line - 1:
                runs[-1][1] = line
            else:
                runs.append([line, line])
        return runs

    def _kept(self, line: int, way: int) -> int:
        """The next line that stays, 0 at the file's end."""
        line += way
        while line in self.gone:
            line += way
        return line if 1 <= line <= len(self.lines) else 0


def inverted(line: str) -> str | None:
    """The opposite of a simple condition, or None."""
    match = SIMPLE_CONDITION.match(line)
    if not match:
        return None
    if match[1]:
        return ("#ifndef " if match[1] == "ifdef" else "#ifdef ") + match[2]
    return f"#if {'' if match[4] else '!'}{match[5]}"


def from_file(file: Path, path: str, symbols: Sequence[Symbol]) -> list[Dropped]:
    """Drop symbols from a file; path is how messages call it."""
    if not path.endswith((".c", ".h")):
        raise LabError(f"{path} is not a C file", "edit it by hooks.patch")
    source = File(path, file.read_text(), csource.tags_of([file])[str(file)])
    dropped = source.drop(symbols)
    file.write_text(source.text())
    return dropped


def all_of(file: Path, path: str) -> list[Dropped]:
    """What a file that goes as a whole takes with it."""
    if not path.endswith((".c", ".h")):
        return []
    items = csource.items_of(file.read_text(), csource.tags_of([file])[str(file)])
    return [dropped_of(item, tag, path) for item in items for tag in item.tags
            if tag.kind not in ("prototype", "externvar")]
