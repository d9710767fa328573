# SPDX-License-Identifier: GPL-2.0-only
"""The kernels that the series applies to: patches/<base>/ describes each of them.

A base has a build directory of its own: that of the default base is build/, another one's
build/<base>. LAB_BASE names the base, and LAB_BUILD, if it is set as well, the build directory
of that base; 'lab --base' sets both for itself and what it runs.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths, stamp
from lab.base.errors import LabError

FIELDS = {"package", "suites", "oldest", "like"}
MANUAL = "see Documentation/lab/series.rst"


@dataclass(frozen=True)
class Base:
    """What patches/<base>/base says."""

    name: str
    # Debian's package with the source, and the suites of the mirror that have it
    package: str
    suites: tuple[str, ...]
    # the oldest release that the steps fit, empty if any will do
    oldest: str = ""
    # a newer base, whose files this one has as well, empty if there is none
    like: str = ""
    # where it is with its fellows; of kernels, patches/
    home: Path | None = None

    @property
    def directory(self) -> Path:
        return (self.home or paths.PATCHES_DIR) / self.name

    @property
    def release(self) -> str:
        """The first two numbers of its version, for example 6.12."""
        return self.package.removeprefix("linux-source-")

    def overlay(self, root: Path) -> Path:
        """Files of ours that only this base has, or has in another form."""
        return root / "patches" / self.name / "tree"

    def overlays(self, root: Path) -> tuple[Path, ...]:
        """The same after those of the base that it is like; the last one's form of a file counts."""
        newer = read(self.like, self.home).overlays(root) if self.like else ()
        return (*newer, self.overlay(root))


def numbers(version: str) -> list[int]:
    """[6, 12, 117] of '6.12.117-1'."""
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


def names(home: Path | None = None) -> list[str]:
    """All bases, the oldest first."""
    files = (home or paths.PATCHES_DIR).glob("*/base")
    return sorted((file.parent.name for file in files), key=numbers)


def parse(name: str, text: str, where: str, home: Path | None = None) -> Base:
    """A base as a file describes it: lines of a field's name and its values."""
    fields: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] not in FIELDS or words[0] in fields or len(words) < 2:
            raise LabError(f"{where}:{number}: '{line}' does not describe a base",
                           f"write each of {', '.join(sorted(FIELDS))} once, and its value")
        fields[words[0]] = words[1:]
    missing = {"package", "suites"} - fields.keys()
    if missing:
        raise LabError(f"{where} does not say its {min(missing)}", MANUAL)
    like = fields.get("like", [""])[0]
    if like and numbers(like) <= numbers(name):
        raise LabError(f"{where} says that {name} is like {like}, which is no newer base", MANUAL)
    return Base(name, fields["package"][0], tuple(fields["suites"]),
                fields.get("oldest", [""])[0], like, home)


def read(name: str, home: Path | None = None) -> Base:
    file = (home or paths.PATCHES_DIR) / name / "base"
    if "/" in name or not file.is_file():
        more = "; only 'make series' takes a directory" if "/" in name else ""
        raise LabError(f"there is no base '{name}'", f"use {', '.join(names(home)) or MANUAL}{more}")
    return parse(name, file.read_text(), paths.shown(file), home)


def current() -> Base:
    """The base of this command."""
    return read(paths.base_name())


def choose(name: str) -> None:
    """Work on this base from here on, in its build directory, and all that is run below."""
    read(name)
    if name == paths.base_name():
        return
    directory = paths.build_dir()
    os.environ["LAB_BUILD"] = str(directory / name)
    os.environ["LAB_BASE"] = name


@contextmanager
def chosen(name: str) -> Iterator[None]:
    """The same for a while."""
    names = ("LAB_BASE", "LAB_BUILD")
    kept = {one: os.environ.get(one) for one in names}
    choose(name)
    try:
        yield
    finally:
        for one, value in kept.items():
            os.environ.pop(one, None)
            if value is not None:
                os.environ[one] = value


def built_below() -> list[str]:
    """From the default base, all that have a build directory, it itself last; else this base."""
    own = paths.base_name()
    others = [name for name in names() if own == paths.DEFAULT_BASE != name and
              (paths.build_dir() / name).is_dir()]
    return [*others, own]


def check() -> None:
    """The source that is there is of this base, and not older than the steps fit."""
    base, version = current(), stamp.read("version-linux")
    if re.match(r"\d", base.release) and numbers(version)[:2] != numbers(base.release)[:2]:
        raise LabError(f"the kernel's source in {paths.build_dir()} is {version}, and the base "
                       f"{base.name} is {base.package}",
                       "set LAB_BUILD to another directory, or run 'lab distclean' for this one")
    if base.oldest and numbers(version) < numbers(base.oldest):
        raise LabError(f"the kernel's source is {version}, and the series needs {base.oldest} or "
                       "newer", "add this machine's own security suite to its apt sources, or choose "
                       "a newer mirror, then run 'lab distclean'")
