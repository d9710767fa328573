# SPDX-License-Identifier: GPL-2.0-only
"""'lab abi': what changes for user space and modules with the series.

Both trees are compiled in one configuration, with versions of symbols (CONFIG_MODVERSIONS) and
debug information, as far as exported symbols and structures go: kernel/events and the drivers of
arch/x86/events. pahole says where the members of a structure are.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.assembling import assemble, csource
from lab.base import bases, paths, proc, stamp
from lab.compiling import kconfig, kernel
from lab.base.lists import without_comments

TREES = ("stock", paths.SERIES)
GOALS = ("kernel/events/", "arch/x86/events/")
SYMBOLS = {"CONFIG_DEBUG_KERNEL": "y", "CONFIG_DEBUG_INFO_DWARF4": "y", "CONFIG_MODVERSIONS": "y",
           "CONFIG_DEBUG_INFO_NONE": None}
# What modules include of perf's
HEADERS = ("include/linux/perf_event.h", "include/linux/trace_events.h",
           "arch/x86/include/asm/perf_event.h", "arch/x86/include/asm/intel_pt.h")
ATTRIBUTES = "include/uapi/linux/perf_event.h"
# What a base's own structure is allowed does not go for the rest of that header.
OUTSIDE = f"{ATTRIBUTES} outside of struct perf_event_attr"
STRUCTURE = re.compile(r"^struct perf_event_attr \{$.*?^\};$", re.MULTILINE | re.DOTALL)
UAPI = re.compile(r"(?:arch/\w+/)?include/uapi/")
VERSION = re.compile(r"^#SYMVER (\w+) (0x[0-9a-f]+)$", re.MULTILINE)
SIZE = re.compile(r"/\* size: (\d+),")
# In the list of a base: members of a structure that are elsewhere
MOVED = " moved"
# A member as pahole shows it, with its offset; a bit field has 'OFFSET: BIT'.
MEMBER = re.compile(r"(\w+)(?:\[\d*\])*(?::\d+)?(?:\)\([^;]*)?;\s*/\*\s*(\d+(?::\s*\d+)?)")


def plain(tree: str) -> kernel.Plain:
    """The lab's configuration, with what SYMBOLS adds."""
    symbols = {**kconfig.merge(kconfig.fragments(tree, False)), **SYMBOLS}
    return kernel.Plain(tree, "allnoconfig", symbols, GOALS, title="abi")


def versions(tree: str) -> dict[str, str]:
    """{exported symbol: version} of what was compiled."""
    found: dict[str, str] = {}
    for place in GOALS:
        for file in sorted((plain(tree).directory / place).rglob(".*.o.cmd")):
            found.update(VERSION.findall(file.read_text()))
    return found


def structures(tree: str) -> set[str]:
    """Names of the structures and unions that the headers define."""
    files = [file for path in HEADERS if (file := kernel.source(tree) / path).is_file()]
    tags = csource.tags_of(files)
    return {tag.name for file in files for tag in tags[str(file)]
            if tag.kind in ("struct", "union") and not csource.ANONYMOUS.match(tag.name)}


def layouts(directory: Path, names: set[str]) -> dict[str, str]:
    """{name: pahole's text} of structures; of those that what is compiled in a directory has."""
    objects = [directory / path for path in ("kernel/events/core.o", "arch/x86/events/core.o")]
    found: dict[str, str] = {}
    for file in objects:
        for name in sorted(names - found.keys()):
            text = proc.output(["pahole", "-C", name, file]).strip()
            if text:
                found[name] = text
    return found


def size_of(text: str) -> int:
    match = SIZE.search(text)
    return int(match[1]) if match else 0


def members(text: str) -> dict[str, list[str]]:
    """{name: [offset]} of all members, those of structures within it included."""
    found: dict[str, list[str]] = {}
    for name, offset in MEMBER.findall(text):
        found.setdefault(name, []).append(offset)
    return found


def attributes(tree: Path, place: Path) -> dict[str, list[str]]:
    """{member: [offset]} of struct perf_event_attr, as user space has it of a kernel's source."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "attr.c").write_text(f'#include "{tree / ATTRIBUTES}"\nstruct perf_event_attr attr;\n')
    proc.run(["gcc", "-g", "-c", "-o", place / "attr.o", place / "attr.c"], paths.log_file("abi"),
             failed=f"cannot compile {ATTRIBUTES}")
    return members(proc.output(["pahole", "-C", "perf_event_attr", place / "attr.o"]))


def differing_headers(changed: list[str], before: Path, after: Path) -> list[str]:
    """
    Those of the interface to user space among the changed paths of two trees.

    OUTSIDE is one of them if something else than struct perf_event_attr differs in its header.
    """
    found = [path for path in changed if UAPI.match(path)]
    if ATTRIBUTES in found:
        texts = [STRUCTURE.subn("", (tree / ATTRIBUTES).read_text()) for tree in (before, after)]
        if texts[0] != texts[1] or texts[0][1] != 1:
            found.append(OUTSIDE)
    return found


def foreign_attributes(own: dict[str, list[str]], newest: dict[str, list[str]]) -> list[str]:
    """Members that the newest kernel has not, or at another place; what is reserved has no name."""
    return [f"perf_event_attr.{name} is at {places}, and in the newest kernel at {newest.get(name)}"
            for name, places in own.items()
            if not name.startswith("__reserved") and newest.get(name) != places]


@dataclass
class Change:
    """A structure that is not laid out as in the base."""

    name: str
    before: str
    after: str

    @property
    def new(self) -> list[str]:
        return sorted(members(self.after).keys() - members(self.before).keys())

    @property
    def lost(self) -> list[str]:
        """Members that a module finds no more where they were."""
        after = members(self.after)
        return sorted(name for name, places in members(self.before).items()
                      if after.get(name) != places)

    def __str__(self) -> str:
        size = f"{self.name}: {size_of(self.before)} bytes"
        if size_of(self.after) != size_of(self.before):
            size = f"{self.name}: {size_of(self.before)} to {size_of(self.after)} bytes"
        return "; ".join([size, f"new: {', '.join(self.new) or 'none'}",
                          f"gone or moved: {', '.join(self.lost) or 'none'}"])


@dataclass
class Statement:
    """All that differs."""

    uapi: list[str]
    before: dict[str, str]
    after: dict[str, str]
    changes: list[Change]
    same: list[str]
    # Members of struct perf_event_attr that the base has not
    attributes: list[str]

    @property
    def gone(self) -> list[str]:
        return sorted(self.before.keys() - self.after.keys())

    @property
    def new(self) -> list[str]:
        return sorted(self.after.keys() - self.before.keys())

    @property
    def other_versions(self) -> list[str]:
        return sorted(name for name in self.before.keys() & self.after.keys()
                      if self.before[name] != self.after[name])

    def remedy(self) -> list[str]:
        """What it takes to keep modules apart, or to keep them working."""
        private = expected()
        if self.gone or any(set(change.lost) - set(private.get(f"{change.name}{MOVED}", []))
                            for change in self.changes):
            return ["A module of the base's kernel must not be loaded: give the kernel a new ABI name."]
        if not self.other_versions:
            return ["None: modules of the base's kernel find what they know where it was."]
        return ["Modules of the base's kernel find what they know where it was, but with",
                "CONFIG_MODVERSIONS they are refused, as versions of symbols depend on all members.",
                "Give the kernel a new ABI name (Debian 12: the number behind the release; Debian 13: the",
                "release itself), or hide the new members from genksyms (#ifndef __GENKSYMS__)",
                "to keep the old one."]

    def text(self) -> str:
        """For a distribution; what 'lab abi' writes."""
        lines = [f"ABI of the series on {bases.current().package} {stamp.read('version-linux')}, "
                 "x86_64, in the lab's configuration", "",
                 *section("Headers of the interface to user space that differ from the base's",
                          self.uapi),
                 *section("Members of struct perf_event_attr that are new", self.attributes),
                 *section("Exported symbols that are new", self.new),
                 *section("Exported symbols that are gone", self.gone),
                 *section(f"Exported symbols of another version, of {len(self.before)} in "
                          "kernel/events and arch/x86/events", self.other_versions),
                 "(So are those of other directories whose version depends on these structures.)", "",
                 *section("Structures that are laid out otherwise", map(str, self.changes)),
                 *section("Structures that are the same", self.same),
                 *section("What an unchanged ABI takes", self.remedy())]
        return "\n".join(lines)


def section(title: str, rows: Iterable[str]) -> list[str]:
    return [title, "-" * len(title), "", *(list(rows) or ["none"]), ""]


def compare(*directories: Path) -> tuple[list[Change], list[str]]:
    """([Change], [name of a structure that is the same]) of the base and ours, compiled there."""
    names = structures("stock") | structures(paths.SERIES)
    before, after = (layouts(directory, names) for directory in directories)
    changes = [Change(name, before.get(name, ""), after.get(name, ""))
               for name in sorted(before.keys() | after.keys())
               if before.get(name) != after.get(name)]
    return changes, sorted(before.keys() - {change.name for change in changes})


def make() -> Statement:
    """The statement, of both trees as they are compiled."""
    changes, same = compare(*(plain(tree).directory for tree in TREES))
    old, new = (attributes(kernel.source(tree), paths.in_build("abi-attributes")) for tree in TREES)
    before, after = (versions(tree) for tree in TREES)
    return Statement(differing_headers(assemble.changed_paths(), *map(kernel.source, TREES)),
                     before, after, changes, same, sorted(new.keys() - old.keys()))


def file() -> Path:
    """Where 'lab abi' leaves the statement."""
    return paths.in_build(f"abi-{bases.current().name}")


def expected() -> dict[str, list[str]]:
    """
    {structure: [new members]} that patches/<base>/abi allows.

    "STRUCTURE moved" has members that are elsewhere, and that nothing but perf's core uses.
    Of a base whose user space learns of something from the series, a line of its ATTRIBUTES has the
    members of struct perf_event_attr.
    """
    lines = without_comments(bases.current().directory / "abi")
    pairs = (text.partition(":") for _, text in lines)
    return {name.strip(): sorted(new.split()) for name, _, new in pairs}


def violations(statement: Statement) -> list[str]:
    """What is not as a base promises it: uABI and exports, and the structures that it names."""
    wanted, new = expected(), {change.name: change.new for change in statement.changes}
    new[ATTRIBUTES] = statement.attributes
    found = [f"{path} differs from the base's" for path in statement.uapi if path not in wanted]
    found += [f"{name} is not exported any more" for name in statement.gone]
    lost = {change.name: change.lost for change in statement.changes}
    private = {name.removesuffix(MOVED): wanted.pop(name) for name in list(wanted)
               if name.endswith(MOVED)}
    found += [f"{name}: {member} is gone or moved" for name, members in lost.items()
              for member in members if member not in private.get(name, [])]
    found += [f"{name}: {member} has not moved, and the list has it" for name, members in
              private.items() for member in members if member not in lost.get(name, [])]
    found += [f"{name}: new members {new.get(name, [])}, and the list has {wanted.get(name, [])}"
              for name in sorted(wanted.keys() | new.keys())
              if wanted.get(name, []) != new.get(name, [])]
    return found
