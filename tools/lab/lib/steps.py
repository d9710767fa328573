# SPDX-License-Identifier: GPL-2.0-only
"""The steps of the series, as patches/<base>/ has them; see Documentation/series.rst."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import drop
import grow
import paths
import proc
import stamp
from errors import LabError

NAME = re.compile(r"(\d{4})-[a-z0-9][a-z0-9-]*")
FIX = re.compile(r"\d{4}-fix-")
PARTS = {"message", "drop", "hooks.patch", "files", "grow.patch"}
MANUAL = "see Documentation/series.rst"
# What the repository has beside the files of the series.
NOT_OVERLAY = ("tools/lab/", "patches/", "build/", "Documentation/lab/", "Documentation/series.rst",
               "README.md", "Makefile", "MAINTAINERS", "Kconfig", ".")


@dataclass
class Step:
    """One patch of the series to be."""

    directory: Path
    message: str
    # {path: [Symbol] or None for the whole file}
    drops: dict
    hooks: Path
    # {path in the tree: file}
    files: dict
    maintainers: bool = False
    # What it changes in files of ours that are there already
    grow: Path = None
    # {path: bytes} of files that a later step changes
    forms: dict = field(default_factory=dict)

    @property
    def name(self):
        return self.directory.name

    @property
    def is_fix(self):
        """Whether it mends the base's own code, and nothing else."""
        return bool(FIX.match(self.name))

    def inputs(self):
        own = [file for file in self.directory.rglob("*") if file.is_file()]
        return sorted([*own, *self.files.values(), *([paths.OVERLAY_DIR / "MAINTAINERS"]
                                                     if self.maintainers else [])])


def without_comments(file):
    """(line number, text) of the lines that say something."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        text = line.partition("#")[0].strip()
        if text:
            yield number, text


def read_drops(file):
    """{path: [Symbol]}, None for a file that goes as a whole."""
    drops = {}
    for number, text in without_comments(file):
        path, colon, symbols = text.partition(":")
        path, words = path.strip(), symbols.split()
        where = f"{paths.shown(file)}:{number}"
        if not colon or not words or " " in path:
            raise LabError(f"{where}: '{text}' is not a line of a list", "write 'PATH: SYMBOL...'")
        if words == ["*"]:
            if path in drops:
                raise LabError(f"{where}: {path} is listed twice", "keep one of the lines")
            drops[path] = None
            continue
        if drops.get(path, []) is None:
            raise LabError(f"{where}: {path} is listed twice", "keep one of the lines")
        try:
            drops.setdefault(path, []).extend(drop.Symbol.parse(word) for word in words)
        except LabError as error:
            raise LabError(where, str(error)) from None
    return drops


def read_files(file, root):
    """{path: file} of the overlay's files that a list names, and whether MAINTAINERS is one."""
    files, maintainers = {}, False
    for number, pattern in without_comments(file):
        if pattern == "MAINTAINERS":
            maintainers = True
            continue
        found = [f for f in expand(root, pattern) if is_overlay(str(f.relative_to(root)))]
        if not found:
            raise LabError(f"{paths.shown(file)}:{number}: nothing matches '{pattern}'",
                           "name files of the repository, relative to its top")
        files.update({str(f.relative_to(root)): f for f in found})
    return files, maintainers


def expand(root, pattern):
    """The files that a pattern names; a directory stands for all that is below it."""
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return []
    found = []
    for path in sorted(root.glob(pattern.rstrip("/"))):
        found += sorted(path.rglob("*")) if path.is_dir() else [path]
    return [f for f in found if f.is_file() and not f.is_symlink() and "__pycache__" not in f.parts]


def is_overlay(path):
    return not path.startswith(NOT_OVERLAY)


def read_step(directory, root):
    unknown = {entry.name for entry in directory.iterdir()} - PARTS
    if unknown:
        raise LabError(f"{paths.shown(directory)} has an unknown part '{min(unknown)}'",
                       f"a step has {', '.join(sorted(PARTS))}; {MANUAL}")
    message = directory / "message"
    if not message.is_file() or not message.read_text().strip():
        raise LabError(f"{paths.shown(directory)} has no message", f"write one; {MANUAL}")
    drops = read_drops(directory / "drop") if (directory / "drop").exists() else {}
    files, maintainers = {}, False
    if (directory / "files").exists():
        files, maintainers = read_files(directory / "files", root)
    hooks, grown = (directory / f"{part}.patch" for part in ("hooks", "grow"))
    step = Step(directory, message.read_text().strip() + "\n", drops,
                hooks if hooks.exists() else None, files, maintainers,
                grown if grown.exists() else None)
    if not (drops or files or step.hooks or step.grow or maintainers):
        raise LabError(f"{paths.shown(directory)} changes nothing", f"{MANUAL}")
    return step


def read(directory=None, root=None):
    """All steps in order; an error if there is none or one of them is amiss."""
    directory, root = directory or paths.PATCHES_DIR, root or paths.OVERLAY_DIR
    found = sorted(d for d in directory.glob("*") if d.is_dir()) if directory.is_dir() else []
    if not found:
        raise LabError(f"there is no step in {paths.shown(directory)} yet", MANUAL)
    for number, one in enumerate(found, 1):
        match = NAME.fullmatch(one.name)
        if not match or int(match[1]) != number:
            raise LabError(f"{paths.shown(one)} is not step {number}",
                           "name steps NNNN-short-name, from 0001 on without a gap")
    steps = [read_step(one, root) for one in found]
    check_fixes(steps)
    check_brought_once(steps)
    grow.set_forms(steps)
    return steps


def check_base(directory=None):
    """The kernel's source is not older than the oldest that the steps apply to."""
    file = (directory or paths.PATCHES_DIR) / "oldest"
    if not file.exists():
        return
    oldest, version = file.read_text().strip(), stamp.read("version-linux")
    numbers = [[int(n) for n in re.findall(r"\d+", text)[:3]] for text in (version, oldest)]
    if numbers[0] < numbers[1]:
        raise LabError(f"the kernel's source is {version}, and the series needs {oldest} or newer",
                       "add Debian's security suite to this machine's apt sources, then "
                       "run 'make distclean'")


def check_fixes(steps):
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


def check_brought_once(steps):
    """One step brings a file; later ones may change it."""
    brought = {}
    for step in steps:
        for path in step.files:
            if path in brought:
                raise LabError(f"{step.name} brings {path} once more after {brought[path]}",
                               "list it in one of them; what the later one changes in it belongs "
                               "to its grow.patch")
            brought[path] = step.name


def overlay_files(root):
    """Paths of the repository's files that a step should bring."""
    done = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                          capture_output=True, text=True, check=False, env=proc.environment())
    return [path for path in done.stdout.splitlines()
            if is_overlay(path) and os.path.isfile(root / path)]


def unlisted(steps, root=None):
    """Files of the overlay that no step brings."""
    listed = {path for step in steps for path in step.files}
    return [path for path in overlay_files(root or paths.OVERLAY_DIR) if path not in listed]


def inputs_hash(steps):
    """Hash of everything that the assembled tree depends on."""
    parts = [stamp.read("version-linux"), *(step.name for step in steps)]
    for step in steps:
        parts += [f"{file} {stamp.of_files([file])} {os.access(file, os.X_OK)}"
                  for file in step.inputs()]
    return stamp.of_text(*parts)
