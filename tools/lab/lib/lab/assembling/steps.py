# SPDX-License-Identifier: GPL-2.0-only
"""The steps of the series; see Documentation/lab/series.rst.

patches/series lists them in order, with the bases that take them and the parts that they belong to.
patches/steps/NAME/ has what is the same for each base, and patches/BASE/NAME/ what that base has in
its place.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.assembling import drop, grow, upstream as upstream_mod
from lab.base import bases, paths, proc, stamp
from lab.base.errors import LabError
from lab.base.lists import without_comments

NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
PART_LINE = re.compile(r"\[([a-z0-9-]+)\]")
FIX = "fix-"
# What a step has, and what of it a base may have in another form, or has alone.
PARTS = {"message", "upstream", "drop", "hooks.patch", "files", "grow.patch"}
OF_BASE = {"note", "drop", "hooks.patch", "grow.patch"}
# The paragraph of a fix's message that says: who; what happens; processors; test
IMPACT = "Impact: "
TRAILERS = re.compile(r"(?:[A-Z][A-Za-z-]+: \S.*\n?)+")
MANUAL = bases.MANUAL
# What the repository has beside the files of the series, and each file at its top
NOT_OVERLAY = (".", "build/", "patches/", "LICENSES/", "Documentation/lab/", "tools/lab/",
               "tools/emulator/")


@dataclass
class Step:
    """One patch of the series to be, for one base."""

    # where it is: patches/steps/NAME, and patches/BASE/NAME, which need not be there
    directory: Path
    own: Path
    message: str
    # {path: [Symbol] or None for the whole file}
    drops: dict[str, list[drop.Symbol] | None]
    hooks: Path | None
    # {path in the tree: file}
    files: dict[str, Path]
    maintainers: bool = False
    # What it changes in files of ours that are there already
    grow: Path | None = None
    # {path: {name: file of ours}} of what has the place of the dropped
    places: dict[str, dict[str, str]] = field(default_factory=dict)
    # {path: bytes} of files that a later step changes
    forms: dict[str, bytes] = field(default_factory=dict)
    # The part of the series that has it; empty if there are no parts
    part: str = ""
    # The commit of mainline's that it is a pick of
    upstream: upstream_mod.Upstream | None = None

    @property
    def name(self) -> str:
        return self.directory.name

    @property
    def subject(self) -> str:
        return self.message.splitlines()[0]

    @property
    def impact(self) -> list[str]:
        """Of a fix: who can trigger it, what happens, on which processors, which test shows it."""
        found = self.upstream.impact if self.upstream else \
            next((part.removeprefix(IMPACT) for part in self.message.split("\n\n")
                  if part.startswith(IMPACT)), "")
        return " ".join(found.split()).split("; ") if found else []

    @property
    def is_fix(self) -> bool:
        """Whether it fixes the base's own code, and nothing else."""
        return self.name.startswith(FIX)

    def called(self, part: str) -> str:
        """How messages call a part: by the base too, if it is the base's own."""
        own = [self.own.parent.name] if (self.own / part).exists() else []
        return "/".join([*own, self.name, part])

    def inputs(self) -> list[Path]:
        """Each file that the step is made of; not what the base has in another form."""
        parts = {file.name: file for place in (self.directory, self.own)
                 for file in place.glob("*") if file.is_file()}
        return sorted([*parts.values(), *self.files.values(),
                       *([paths.OVERLAY_DIR / "MAINTAINERS"] if self.maintainers else [])])


def read_drops(file: Path, root: Path) -> tuple[dict[str, list[drop.Symbol] | None],
                                                dict[str, dict[str, str]]]:
    """({path: [Symbol]}, None for a file that goes as a whole; {path: {name: what has its place}}).

    The place of a file that goes as a whole is at the name "*". Lines below it may name that of
    some of its definitions.
    """
    drops: dict[str, list[drop.Symbol] | None] = {}
    places: dict[str, dict[str, str]] = {}
    for number, text in without_comments(file):
        text, _, place = (part.strip() for part in text.partition("->"))
        path, colon, names = text.partition(":")
        path, words = path.strip(), names.split()
        where = f"{paths.shown(file)}:{number}"
        if not colon or not words or " " in path or " " in place:
            raise LabError(f"{where}: '{text}' is not a line of a list",
                           "write 'PATH: SYMBOL...', and '-> PATH' if a file has their place")
        if place and not (root / place).exists():
            raise LabError(f"{where}: there is no {place}", "name a file or directory of ours")
        whole = path in drops and drops[path] is None
        if whole and words != ["*"] and not place:
            raise LabError(f"{where}: {path} goes as a whole, and this line names no place",
                           "write '-> PATH' behind its names, or remove it")
        if words == ["*"] and path in drops:
            raise LabError(f"{where}: {path} is listed twice", "keep one of the lines")
        try:
            symbols = None if words == ["*"] else [drop.Symbol.parse(word) for word in words]
        except LabError as error:
            raise LabError(where, str(error)) from None
        if not whole:
            drops[path] = symbols and (drops.get(path) or []) + symbols
        places.setdefault(path, {}).update(
            dict.fromkeys([one.name for one in symbols or []] or ["*"], place))
    return drops, places


def read_files(file: Path, roots: Sequence[Path],
               others: Sequence[Path] = ()) -> tuple[dict[str, Path], bool]:
    """{path: file} of our files that a list names, and whether MAINTAINERS is one.

    Of a path that several roots have, the last one's is taken. A file that only others have, which
    are roots of other bases, is none of this base's.
    """
    files: dict[str, Path] = {}
    maintainers = False
    for number, pattern in without_comments(file):
        if pattern == "MAINTAINERS":
            maintainers = True
            continue
        found = {path: f for root in roots for f in expand(root, pattern)
                 if is_overlay(path := str(f.relative_to(root)))}
        if not found and not any(expand(root, pattern) for root in others):
            raise LabError(f"{paths.shown(file)}:{number}: nothing matches '{pattern}'",
                           "name files of the repository, relative to its top")
        files.update(found)
    return files, maintainers


def expand(root: Path, pattern: str) -> list[Path]:
    """The files that a pattern names; a directory stands for all that is below it."""
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return []
    found: list[Path] = []
    for path in sorted(root.glob(pattern.rstrip("/"))):
        found += sorted(path.rglob("*")) if path.is_dir() else [path]
    return [f for f in found if f.is_file() and not f.is_symlink() and "__pycache__" not in f.parts]


def is_overlay(path: str) -> bool:
    return "/" in path and not path.startswith(NOT_OVERLAY)


def check_parts(directory: Path, allowed: set[str]) -> None:
    """A step, or what a base has of it, holds nothing that would be passed over in silence."""
    if not directory.is_dir():
        return
    unknown = {entry.name for entry in directory.iterdir()} - allowed
    if unknown:
        raise LabError(f"{paths.shown(directory)} has an unknown part '{min(unknown)}'",
                       f"it may have {', '.join(sorted(allowed))}; {MANUAL}")


def with_note(message: str, note: str) -> str:
    """The message with a paragraph of a base's own, above the impact and the trailers."""
    parts = message.strip().split("\n\n")
    end = len(parts)
    while end > 1 and (TRAILERS.fullmatch(parts[end - 1]) or parts[end - 1].startswith(IMPACT)):
        end -= 1
    return "\n\n".join([*parts[:end], note.strip(), *parts[end:]]) + "\n"


def read_message(directory: Path, part: Callable[[str], Path | None]
                 ) -> tuple[str, upstream_mod.Upstream | None]:
    """A step's message on a base; of a pick, it is mainline's."""
    words, pick, note = map(part, ("message", "upstream", "note"))
    more = note.read_text() if note else ""
    if pick and not words:
        upstream = upstream_mod.read(pick, more)
        return upstream.message(), upstream
    if pick or not words or not words.read_text().strip():
        raise LabError(f"{paths.shown(directory)} has " + ("both message and upstream" if pick else
                       "no message"), f"write one; {MANUAL}")
    message = words.read_text().strip() + "\n"
    return with_note(message, more) if more else message, None


def read_step(name: str, base: bases.Base, root: Path) -> Step:
    directory, own = root / "patches/steps" / name, root / "patches" / base.name / name
    check_parts(directory, PARTS)
    check_parts(own, OF_BASE)

    def part(word: str) -> Path | None:
        found = [place / word for place in (own, directory) if (place / word).is_file()]
        return found[0] if found else None
    dropped, brought = map(part, ("drop", "files"))
    message, upstream = read_message(directory, part)
    drops, places = read_drops(dropped, root) if dropped else ({}, {})
    files: dict[str, Path] = {}
    maintainers = False
    if brought:
        others = [bases.read(other, base.home).overlay(root) for other in bases.names(base.home)]
        files, maintainers = read_files(brought, (root, *base.overlays(root)), others)
    step = Step(directory, own, message, drops, part("hooks.patch"), files, maintainers,
                part("grow.patch"), places=places, upstream=upstream)
    if not (drops or files or step.hooks or step.grow or maintainers):
        raise LabError(f"{paths.shown(directory)} changes nothing", f"{MANUAL}")
    return step


def listed(root: Path, home: Path | None = None) -> list[tuple[str, list[str]]]:
    """[(name, bases)] of patches/series, in order; no bases stand for all of them."""
    return listed_parts(root, home)[0]


def listed_parts(root: Path, home: Path | None = None) -> tuple[list[tuple[str, list[str]]],
                                                                dict[str, str]]:
    """What listed() says, and {step: part}."""
    file, known = root / "patches/series", bases.names(home)
    found: list[tuple[str, list[str]]] = []
    part, parts = "", dict[str, str]()
    for number, text in without_comments(file):
        if match := PART_LINE.fullmatch(text):
            part = match[1]
            if part in parts.values() or found and not parts[found[0][0]]:
                raise LabError(f"{paths.shown(file)}:{number}: [{part}] begins no other part",
                               "write each part once, the first one above all steps")
            continue
        name, *where = text.split()
        line = f"{paths.shown(file)}:{number}"
        if not NAME.fullmatch(name) or name in [other for other, _ in found]:
            raise LabError(f"{line}: '{name}' is not the name of another step",
                           "write a name of a-z, 0-9 and - once, and the bases that take it")
        if not (root / "patches/steps" / name).is_dir():
            raise LabError(f"{line}: there is no step {name}", f"make patches/steps/{name}")
        unknown = [one for one in where if one not in known]
        if unknown:
            raise LabError(f"{line}: there is no base '{unknown[0]}'", f"use {', '.join(known)}")
        found.append((name, where))
        parts[name] = part
    return found, parts


def check_listed(names: list[str], root: Path, home: Path | None = None) -> None:
    """Each directory of a step, shared or of a base, is in the list."""
    places = [root / "patches/steps", *(root / "patches" / base for base in bases.names(home))]
    for place in places:
        lost = [one.name for one in sorted(place.glob("*"))
                if one.is_dir() and one.name not in names and one != place / "tree"]
        if lost:
            raise LabError(f"{paths.shown(place / lost[0])} is not in patches/series",
                           "add its name there, or remove it")


def unformed(base: bases.Base | None = None, root: Path | None = None) -> list[Step]:
    """All steps of a base in order, as read() has them, but for their forms."""
    base, root = base or bases.current(), root or paths.OVERLAY_DIR
    every, parts = listed_parts(root, base.home)
    check_listed([name for name, _ in every], root, base.home)
    steps = [read_step(name, base, root) for name, where in every
             if not where or base.name in where]
    for step in steps:
        step.part = parts[step.name]
    if not steps:
        raise LabError(f"there is no step for {base.name} in patches/series yet", MANUAL)
    check_fixes(steps)
    check_brought_once(steps)
    return steps


def read(base: bases.Base | None = None, root: Path | None = None) -> list[Step]:
    """All steps of a base in order. LabError if there is none, or if one of them is wrong."""
    steps = unformed(base, root)
    grow.set_forms(steps)
    return steps


def of_all_bases() -> dict[str, Step]:
    """{name: step} of each step, as the oldest base that takes it has it; in no order."""
    return {step.name: step for base in reversed(bases.names())
            for step in unformed(bases.read(base))}


def check_fixes(steps: Iterable[Step]) -> None:
    """Fixes come first, and have hooks only: they change what the base has."""
    before = True
    for step in steps:
        if step.is_fix and not before:
            raise LabError(f"{step.name} is a fix after a step that is none",
                           "fixes come first, so that they can be taken alone")
        if step.is_fix and (step.drops or step.files or step.grow or not step.hooks):
            raise LabError(f"{step.name} is a fix and has more than hooks",
                           "a fix changes the base's code by its hooks.patch")
        before = step.is_fix


def check_brought_once(steps: Iterable[Step]) -> None:
    """One step brings a file; later ones may change it."""
    brought: dict[str, str] = {}
    for step in steps:
        for path in step.files:
            if path in brought:
                raise LabError(f"{step.name} brings {path} once more after {brought[path]}",
                               "list it in one of them; what the later one changes in it belongs "
                               "to its grow.patch")
            brought[path] = step.name


def overlay_files(root: Path) -> list[str]:
    """Paths of the repository's files that a step should bring, for some base."""
    done = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                          capture_output=True, text=True, check=False, env=proc.environment())
    return [path for path in done.stdout.splitlines()
            if is_overlay(path) and os.path.isfile(root / path)]


def unlisted(steps: Iterable[Step], root: Path | None = None) -> list[str]:
    """Files of the overlay that no step brings for any base, and of this base's own forms."""
    base, root = bases.current(), root or paths.OVERLAY_DIR
    every = [bases.read(name).overlay(root) for name in bases.names()]
    lists = [root / "patches/steps" / name / "files" for name, _ in listed(root)]
    brought = {path for file in lists if file.is_file()
               for path in read_files(file, (root, *every))[0]}
    lost = [path for path in overlay_files(root) if path not in brought]
    forms = {file for step in steps for file in step.files.values()}
    own = base.overlay(root)
    return lost + [str(file.relative_to(root)) for file in sorted(own.rglob("*"))
                   if file.is_file() and file not in forms]


def inputs_hash(steps: Sequence[Step]) -> str:
    """Hash of everything that the assembled tree depends on."""
    parts = [stamp.read("version-linux"), *(step.name for step in steps)]
    for step in steps:
        parts += [f"{file} {stamp.of_files([file])} {os.access(file, os.X_OK)}"
                  for file in step.inputs()]
    return stamp.of_text(*parts)
