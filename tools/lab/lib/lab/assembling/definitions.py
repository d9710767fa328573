# SPDX-License-Identifier: GPL-2.0-only
"""What the steps drop from a base, definition by definition.

A new release of the base may change a definition that the series has replaced, and then ours may
lack what was fixed there. So each base has a list of what was compared with ours: a definition,
and a hash of what it was. Comments and blanks are not part of it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.assembling import csource, steps as steps_mod
from lab.base import stamp
from lab.base.errors import LabError
from lab.base.lists import without_comments

HASH_DIGITS = 12


@dataclass(frozen=True)
class Definition:
    """All that a file of the base defines under a name, in each branch of its conditionals."""

    path: str
    name: str
    text: str
    # the step that drops it, and the file or directory of ours that has its place, if any
    step: str
    place: str

    @property
    def key(self) -> str:
        return f"{self.path}: {self.name}"

    @property
    def hash(self) -> str:
        words = " ".join(csource.mask_comments(self.text).split())
        return stamp.of_text(words)[:HASH_DIGITS]


def defined(path: str, text: str, tags: list[csource.Tag]) -> dict[str, str]:
    """{name: text} of what stands at file scope."""
    found: dict[str, list[str]] = {}
    for item in csource.items_of(text, tags):
        for name in dict.fromkeys(tag.name for tag in item.tags):
            found.setdefault(name, []).append(text[item.first:item.last].strip())
    return {name: "\n\n".join(parts) for name, parts in found.items()}


def of_steps(steps: Iterable[steps_mod.Step], base: Path) -> list[Definition]:
    """Each definition that the steps drop from this source of the base; those that it has."""
    wanted = [(path, symbols, step) for step in steps for path, symbols in step.drops.items()
              if path.endswith((".c", ".h")) and (base / path).is_file()]
    files = {path: base / path for path, _, _ in wanted}
    tags = csource.tags_of(files.values())
    known = {path: defined(path, file.read_text(), tags[str(file)]) for path, file in files.items()}
    found: list[Definition] = []
    for path, symbols, step in wanted:
        names: Iterable[str] = (known[path] if symbols is None
                                else [one.name for one in symbols])
        places = step.places[path]
        found += [Definition(path, name, known[path][name], step.name,
                             places.get(name, places.get("*", "")))
                  for name in names if name in known[path]]
    return sorted({one.key: one for one in found}.values(), key=lambda one: one.key)


def read_reviewed(file: Path) -> tuple[str, dict[str, str]]:
    """(release, {key: hash}) of a list; nothing was compared yet where there is none."""
    release, hashes = "", {}
    for number, text in without_comments(file):
        if match := re.fullmatch(r"release\s+(\S+)", text):
            release = match[1]
        elif match := re.fullmatch(rf"(\S+: \S+)\s+([0-9a-f]{{{HASH_DIGITS}}})", text):
            hashes[match[1]] = match[2]
        else:
            raise LabError(f"{file.name}:{number}: '{text}' is not a line of the list",
                           "write 'PATH: NAME HASH' as 'lab rebase' prints it")
    return release, hashes


def as_list(release: str, hashes: dict[str, str]) -> str:
    """The text of a list, {key: hash}."""
    width = max(map(len, hashes), default=0)
    lines = [f"{key:<{width}}  {digits}" for key, digits in sorted(hashes.items())]
    return "\n".join([HEAD, f"release {release}", "", *lines]) + "\n"


HEAD = """# What the series drops from the base, as it was when it was compared with what ours does in its
# place: a definition, and a hash of it. 'lab rebase' says what a newer release has changed in it;
# see Documentation/lab/series.rst."""
