# SPDX-License-Identifier: GPL-2.0-only
"""Our entries of MAINTAINERS, put at their places among those of the base."""

import re
from collections.abc import Callable, Iterable

from lab.base.errors import LabError

HEADING = re.compile(r"^Maintainers List\n-+\n", re.MULTILINE)
FIELD = re.compile(r"[A-Z]:\t")
COMMENT = re.compile(r"^#.*\n", re.MULTILINE)


def entries_of(text: str) -> list[tuple[str, str]]:
    """[(title, text)]: paragraphs of a title and lines of fields."""
    found = []
    for block in re.split(r"\n{2,}", COMMENT.sub("", text).strip("\n")):
        title, _, rest = block.partition("\n")
        if FIELD.match(rest):
            found.append((title, block))
    return found


def of_tree(text: str, exists: Callable[[str], bool],
            elsewhere: Callable[[str], bool] = lambda pattern: True) -> list[tuple[str, str]]:
    """Our entries with those files only that the tree has by now.

    A pattern that names nothing, neither in the tree nor elsewhere, is an error.
    """
    found = []
    for title, block in entries_of(text):
        lines, files = [], 0
        for line in block.splitlines():
            if line.startswith("F:\t"):
                pattern = line[3:].strip()
                if not exists(pattern):
                    if not elsewhere(pattern):
                        raise LabError(f"MAINTAINERS: {title}: nothing matches '{pattern}'",
                                       "correct the entry")
                    continue
                files += 1
            lines.append(line)
        if files:
            found.append((title, "\n".join(lines)))
    return found


def place(titles: list[str], title: str) -> int:
    """Where a title belongs, also in a list that is not quite sorted."""
    wrong = sum(other < title for other in titles)
    best, position = wrong, 0
    for index, other in enumerate(titles, 1):
        wrong += 1 if other > title else -1
        if wrong < best:
            best, position = wrong, index
    return position


def merge(base: str, ours: Iterable[tuple[str, str]], titles: set[str]) -> str:
    """The base's text with our entries; those of ours that it has already are replaced.

    titles are those that earlier steps may have put in.
    """
    heading = HEADING.search(base)
    if not heading:
        raise LabError("the base's MAINTAINERS has no list", "its form is not the known one")
    head, body = base[:heading.end()], base[heading.end():]
    blocks = [block for block in re.split(r"\n{2,}", body.strip("\n"))
              if block.partition("\n")[0] not in titles]
    for title, text in sorted(ours):
        names = [block.partition("\n")[0] for block in blocks]
        if title in names:
            raise LabError(f"MAINTAINERS: the base has an entry '{title}' already",
                           "edit it by hooks.patch, or name ours otherwise")
        blocks.insert(place(names, title), text)
    start = body[:len(body) - len(body.lstrip("\n"))]
    return head + start + "\n\n".join(blocks) + "\n"
