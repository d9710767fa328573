# SPDX-License-Identifier: GPL-2.0-only
"""Finds what still uses a definition that was dropped.

By identifiers, without comments and strings, so a use in a file that is not
compiled here is found as well. A name that anything else in the tree defines
is not looked at: the compiler knows better.
"""

import re
import subprocess
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from lab.assembling import csource, drop, layer as layer_mod
from lab.base import proc

SCOPE = ("kernel", "include", "mm", "arch/x86", "arch/s390/kernel",
         "drivers/hwtracing", "drivers/perf")
TYPES = ("struct", "union", "enum")
GLOBAL_KINDS = (*TYPES, "function", "variable", "typedef", "macro", "enumerator")
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
INNER_KINDS = ("local", "member", "parameter", "label")


class Source:
    """A C file that holds one of the names."""

    def __init__(self, path: str, file: Path) -> None:
        self.path, self.file = path, file
        self.text = file.read_text(errors="replace")
        self.masked = INCLUDE.sub("", csource.mask(self.text))
        self.words = set(csource.WORD.findall(self.masked))
        self.tags: list[csource.Tag] = []

    @cached_property
    def outer(self) -> list[tuple[str, str, bool]]:
        """(name, kind, static) of what stands at file scope; slow, but it misses nothing."""
        return [(tag.name, tag.kind, item.static)
                for item in csource.items_of(self.text, self.tags) for tag in item.tags
                if not csource.FORWARD.fullmatch(self.masked[item.first:item.last])]

    def defines(self, one: drop.Dropped, thorough: bool = False) -> bool:
        """Whether it defines the name for other files as well."""
        found = self.outer if thorough else [(t.name, t.kind, t.static) for t in self.tags]
        return any(name == one.name and kind in GLOBAL_KINDS and same_space(kind, one.kind)
                   and (self.path.endswith(".h") or not static)
                   for name, kind, static in found)

    def _means_its_own(self, one: drop.Dropped) -> bool:
        """Whether the name is one of this file alone, here."""
        return any(tag.name == one.name
                   and (tag.kind in GLOBAL_KINDS and same_space(tag.kind, one.kind)
                        or tag.kind in INNER_KINDS and one.kind not in TYPES)
                   for tag in self.tags)

    def first_use(self, one: drop.Dropped) -> int:
        """The line of the first use, or 0."""
        if one.name not in self.words or self._means_its_own(one):
            return 0
        if one.kind in TYPES:
            # A forward declaration alone uses nothing.
            use = rf"\b(?:struct|union|enum)\s+{one.name}\b(?!\s*;)"
        else:
            use = rf"(?<!\.)(?<!->)(?<!struct )(?<!union )(?<!enum )\b{one.name}\b"
        match = re.search(use, self.masked)
        return self.masked.count("\n", 0, match.start()) + 1 if match else 0


def same_space(kind: str, other: str) -> bool:
    """Tags of structs and ordinary names do not meet."""
    return (kind in TYPES) == (other in TYPES)


class Finder:
    """Looks through a layered tree, and remembers the base's files between steps."""

    def __init__(self, layer: layer_mod.Layer) -> None:
        self.layer = layer
        self.known: dict[tuple[Path, int], Source] = {}

    def _holding(self, names: list[str]) -> dict[str, Path]:
        """{path: file} of the C files that hold one of the words."""
        if not names:
            return {}
        layer = self.layer
        roots = [str(layer.base / part) for part in SCOPE if (layer.base / part).exists()]
        done = subprocess.run(
            ["grep", "-rlwF", "--include=*.c", "--include=*.h", "-f", "-", *roots,
             str(layer.root)], input="".join(f"{name}\n" for name in names), text=True,
            capture_output=True, check=False, env=proc.environment({"LC_ALL": "C"}))
        files = {}
        for file in map(Path, done.stdout.splitlines()):
            place = layer.root if file.is_relative_to(layer.root) else layer.base
            path = str(file.relative_to(place))
            if layer.exists(path) and layer.file(path) == file:
                files[path] = file
        return files

    def _read(self, files: dict[str, Path], names: set[str]) -> list[Source]:
        """The files as Source; those that hold a name with what ctags says of them."""
        sources = []
        for path, file in sorted(files.items()):
            key = (file, file.stat().st_mtime_ns)
            if key not in self.known:
                self.known[key] = Source(path, file)
            sources.append(self.known[key])
        fresh = [s for s in sources if not s.tags and s.words & names]
        tags = csource.tags_of([s.file for s in fresh])
        for source in fresh:
            source.tags = tags[str(source.file)]
        return sources

    def _used_at_home(self, ones: list[drop.Dropped]) -> list[drop.Dropped]:
        """Of names that only their own file could use, those that it does use."""
        files = {one.path: self.layer.file(one.path) for one in ones
                 if self.layer.exists(one.path)}
        sources = {s.path: s for s in self._read(files, {one.name for one in ones})}
        return [one for one in ones if one.path in sources and sources[one.path].first_use(one)]

    def leftovers(self, dropped: Iterable[drop.Dropped]) -> list[tuple[str, int, str]]:
        """[(path, line, name)]: the first use of each name that nothing defines any more."""
        ones = widest(dropped)
        wide = [one for one in ones if one.reach != one.path]
        wide += self._used_at_home([one for one in ones if one.reach == one.path])
        names = {one.name for one in wide}
        sources = self._read(self._holding(sorted(names)), names)
        found = (self._leftover(one, sources) for one in sorted(wide, key=by_place))
        return [use for use in found if use]

    def _leftover(self, one: drop.Dropped,
                  sources: list[Source]) -> tuple[str, int, str] | None:
        holders = [s for s in sources if one.name in s.words]
        if any(s.defines(one) for s in holders):
            return None
        uses = ((s.path, line, one.name) for s in holders
                if s.path.startswith(one.reach) and (line := s.first_use(one)))
        use = next(uses, None)
        if use and not any(s.defines(one, thorough=True) for s in holders):
            return use
        return None


def by_place(one: drop.Dropped) -> tuple[str, str]:
    return one.path, one.name


def widest(dropped: Iterable[drop.Dropped]) -> list[drop.Dropped]:
    """Without what another of the same name covers."""
    kept: list[drop.Dropped] = []
    for one in sorted(set(dropped), key=lambda d: (len(d.reach), d.path)):
        if not any(one.name == other.name and same_space(one.kind, other.kind)
                   and one.reach.startswith(other.reach) for other in kept):
            kept.append(one)
    return kept
