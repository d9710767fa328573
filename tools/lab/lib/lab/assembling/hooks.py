# SPDX-License-Identifier: GPL-2.0-only
"""Hunks of a 'hooks.patch', and where they fit.

A hook that several bases share has only those lines around a change that all of them have there, so
a hunk may have few. 'patch' takes the place that is nearest to the hunk's number, which is that of
another base; so no hunk may have a second place in its file.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@(.*)")
# Lines around a change: usually, and where it takes more of them to have one place only
CONTEXT, WIDE = 3, 12


@dataclass
class Hunk:
    """One place that a patch changes."""

    # where it begins in the file before, from 0
    line: int
    # what is behind its second @@
    function: str
    # [(" ", "-" or "+", text)]
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def before(self) -> list[str]:
        return [text for sign, text in self.lines if sign != "+"]

    @property
    def after(self) -> list[str]:
        return [text for sign, text in self.lines if sign != "-"]

    @property
    def above(self) -> int:
        """How many lines are around it above its first change."""
        return sum(1 for _ in takewhile(lambda line: line[0] == " ", self.lines))

    def text(self, added: int) -> str:
        """Its lines in a patch; 'added' is the number of lines that earlier hunks add to the file."""
        old, new = (sum(sign != other for sign, _ in self.lines) for other in "+-")
        head = (f"@@ -{self.line + bool(old)},{old} +{self.line + added + bool(new)},{new} @@"
                f"{self.function}")
        return "".join(f"{line}\n" for line in (head, *(sign + text for sign, text in self.lines)))


@dataclass
class Block:
    """Lines that follow each other in a file and go, and those that come in their place."""

    first: int
    function: str
    change: list[tuple[str, str]] = field(default_factory=list)

    @property
    def behind(self) -> int:
        return self.first + sum(sign == "-" for sign, _ in self.change)


def lines_of(text: str) -> list[str]:
    """Of a file; str.splitlines() takes a form feed for an end of a line."""
    return text.removesuffix("\n").split("\n")


def read(patch: str) -> dict[str, list[Hunk]]:
    """{path: [Hunk]} of a patch's text."""
    found: dict[str, list[Hunk]] = {}
    hunks: list[Hunk] = []
    left = 0
    for line in lines_of(patch):
        match = HUNK.match(line)
        if left:
            hunks[-1].lines.append((line[:1] or " ", line[1:]))
            left -= 1 if line[:1] in ("-", "+") else 2
        elif line.startswith("+++ "):
            hunks = found[line.split()[1].partition("/")[2]] = []
        elif match:
            old, new = (1 if size is None else int(size) for size in match.group(2, 3))
            hunks.append(Hunk(int(match[1]) - bool(old), match[4]))
            left = old + new
    return found


def write(files: dict[str, list[Hunk]]) -> str:
    """The text of a patch: what read() has read."""
    parts = []
    for path, hunks in files.items():
        parts.append(f"--- a/{path}\n+++ b/{path}\n")
        added = 0
        for hunk in hunks:
            parts.append(hunk.text(added))
            added += sum((sign == "+") - (sign == "-") for sign, _ in hunk.lines)
    return "".join(parts)


def found(wanted: list[str], lines: list[str]) -> list[int]:
    """Where these lines are in a file, from 0."""
    return [at for at, line in enumerate(lines)
            if [line] == wanted[:1] and lines[at:at + len(wanted)] == wanted]


def places(hunk: Hunk, lines: list[str]) -> int:
    """In how many places of a file a hunk fits."""
    return len(found(hunk.before, lines))


def ambiguous(patch: str, files: dict[str, str]) -> list[tuple[str, int]]:
    """[(path, number of the hunk)] of a patch's text: those with a second place in {path: text}."""
    return [(path, number) for path, hunks in read(patch).items()
            for number, hunk in enumerate(hunks, 1)
            if places(hunk, lines_of(files[path])) > 1]


def is_narrow(patch: str) -> bool:
    """Whether a hunk has so few lines around that none of them may differ."""
    return any(sign != " " for hunks in read(patch).values() for hunk in hunks
               for sign, _ in hunk.lines[:CONTEXT] if hunk.line)


def blocks(hunks: list[Hunk]) -> list[Block]:
    """What hunks change, without the lines around."""
    found = []
    for hunk in hunks:
        at, block = hunk.line, None
        for sign, text in hunk.lines:
            if sign == " ":
                block = None
            elif block is None:
                block = Block(at, hunk.function)
                found.append(block)
            if block:
                block.change.append((sign, text))
            at += sign != "+"
    return found


def gaps(found: list[Block], lines: list[str]) -> list[list[str]]:
    """The lines before each block, and those behind the last one."""
    begins = [0, *(block.behind for block in found)]
    ends = [*(block.first for block in found), len(lines)]
    return [lines[begin:end] for begin, end in zip(begins, ends)]


def common(lists: Iterable[Sequence[str]]) -> list[str]:
    """What all lists begin with."""
    return [row[0] for row in takewhile(lambda row: len(set(row)) == 1, zip(*lists))]


def around(lines: list[str]) -> list[tuple[str, str]]:
    return [(" ", text) for text in lines]


def groups(between: list[tuple[list[str], ...]]) -> list[list[int]]:
    """[[number of a block]]: blocks of one hunk, as what is between them is alike on all bases."""
    found: list[list[int]] = []
    for number, parts in enumerate(between[:-1]):
        alike = all(part == parts[0] for part in parts) and len(parts[0]) <= 2 * CONTEXT
        if found and alike:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def shared(hunks: list[list[Hunk]], files: list[list[str]]) -> list[Hunk] | None:
    """One file's hunks, with the lines around that all bases have; None if there is no such patch.

    hunks and files have an item for each base: its hunks, and the lines of its file before. The
    first one's numbers are taken.
    """
    every = [blocks(own) for own in hunks]
    changes = [[block.change for block in own] for own in every]
    if any(change != changes[0] for change in changes):
        return None
    between = list(zip(*(gaps(own, lines) for own, lines in zip(every, files))))
    found, used = [], 0
    for group in groups(between):
        above, below = between[group[0]], between[group[-1] + 1]
        first = every[0][group[0]]
        inside = [one for number in group for one in
                  (*(around(between[number][0]) if number != group[0] else ()), *changes[0][number])]
        # Of a hunk with more lines on one side, patch says that it must be at an end of the file.
        most = min(min(map(len, above)) - used, len(common([part[::-1] for part in above])),
                   len(common(below)))
        for depth in range(min(most, CONTEXT), min(most, WIDE) + 1):
            hunk = Hunk(first.first - depth, first.function,
                        [*around(above[0][len(above[0]) - depth:]), *inside,
                         *around(below[0][:depth])])
            if depth > 0 and all(places(hunk, lines) == 1 for lines in files):
                break
        else:
            return None
        found.append(hunk)
        used = depth
    return found
