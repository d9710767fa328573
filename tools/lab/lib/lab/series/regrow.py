# SPDX-License-Identifier: GPL-2.0-only
"""'lab regrow': after an edit of files that grow from step to step, make their deltas again.

A file of the repository has its last form, and each 'grow.patch' what one step changes in it. An
edit reaches each earlier form by a three-way merge: what the edit changes in the committed file is
changed in the committed form as well. Lines of a form that a later step changes, too, stay as they
are there, and the later step's delta has the edit; so has it lines that come where the step adds
some. Lines beside these are merged, which git merge-file would refuse. A delta that still fits
stays as it is.
"""

import difflib
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from lab.assembling import grow, steps
from lab.base import bases, paths, proc
from lab.compiling import qemu
from lab.base.errors import LabError

T = TypeVar("T")


@dataclass(frozen=True)
class Queue:
    """The steps of the series, or those for QEMU."""

    root: Path
    # the base whose forms the shared deltas are made of
    main: str

    @property
    def home(self) -> Path:
        return self.root / "patches"

    def names(self) -> list[str]:
        return sorted(bases.names(self.home), key=lambda name: name != self.main)

    def unformed(self, name: str) -> list[steps.Step]:
        return steps.unformed(bases.read(name, self.home), self.root)


def queues(top: Path) -> list[Queue]:
    every = (Queue(top, paths.DEFAULT_BASE),
             Queue(top / paths.QEMU_DIR.relative_to(paths.ROOT), qemu.RELEASE))
    return [queue for queue in every if queue.home.is_dir()]


def commit_at(revision: str, top: Path, place: Path) -> None:
    """The repository's files as they are in a commit."""
    with tempfile.TemporaryFile() as file:
        done = subprocess.run([proc.require("git"), "-C", top, "archive", revision],
                              stdout=file, stderr=subprocess.PIPE, text=True, check=False,
                              env=proc.environment())
        if done.returncode:
            raise LabError(f"cannot read the commit {revision}: {done.stderr.strip()}",
                           "name one with --since")
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            archive.extractall(place)


def parts_of(patch: bytes) -> dict[str, bytes]:
    """{path: text} of a patch, one for each file that it changes."""
    parts: dict[str, bytes] = {}
    path = None
    lines = patch.splitlines(keepends=True)
    for line, following in zip(lines, [*lines[1:], b""]):
        if line.startswith(b"--- a/") and following.startswith(b"+++ b/"):
            path = line.removeprefix(b"--- a/").decode().strip()
        if path:
            parts[path] = parts.get(path, b"") + line
    return parts


def in_files(words: list[str], *texts: bytes) -> tuple[bytes, int]:
    """Run a tool on texts, which are files when it runs; what it prints, and its status."""
    with tempfile.TemporaryDirectory(prefix="lab-regrow.") as place:
        files = [Path(place, str(number)) for number in range(len(texts))]
        for file, text in zip(files, texts):
            file.write_bytes(text)
        done = subprocess.run([proc.require(words[0]), *words[1:], *files], capture_output=True,
                              check=False, env=proc.environment())
        return done.stdout, done.returncode


def undone(text: bytes, part: bytes) -> bytes | None:
    """The text without a delta; None if the delta does not fit exactly."""
    before, status = in_files(["patch", "-R", "--force", "--fuzz=0", "-s", "-r", "-", "-o", "-"],
                              text, part)
    return None if status else before


def slid(before: list[T], first: int, behind: int, new: list[T],
         limit: int) -> tuple[int, int, list[T]]:
    """A change that only removes or only adds lines, as late as it can be: others slide the same."""
    lines = new or before[first:behind]
    while behind < limit and before[behind] == lines[0]:
        lines = [*lines[1:], lines[0]]
        first, behind = first + 1, behind + 1
    return first, behind, lines if new else []


def changes(before: list[T],
            after: list[T]) -> Iterator[tuple[int, int, list[T]]]:
    """[(first line, behind the last one, lines in their place)], single lines where these match."""
    found = [one for one in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
             if one[0] != "equal"]
    for (kind, first, behind, begin, end), following in zip(found, [*found[1:], None]):
        if kind != "replace":
            limit = following[1] if following else len(before)
            yield slid(before, first, behind, after[begin:end], limit)
        elif behind - first == end - begin:
            yield from ((first + i, first + i + 1, [after[begin + i]]) for i in range(end - begin))
        else:
            yield first, behind, after[begin:end]


def merged(form: bytes, committed: bytes, edited: bytes) -> bytes:
    """The form with the edit of the file.

    Lines that the form does not have, or has otherwise, stay so; lines that the edit adds where
    the form has fewer or more ones are left out.
    """
    own, old, now = (text.splitlines(keepends=True) for text in (form, committed, edited))
    gone: set[int] = set()
    more: dict[int, list[bytes]] = {}
    for first, behind, new in changes(old, own):
        gone.update(range(first, behind))
        more[first] = new
    otherwise = {*gone, *(line + 1 for line in gone), *more}
    without = frozenset(gone)
    for first, behind, new in changes(old, now):
        lines = range(first, behind)
        if new and (without.intersection(lines) or more.keys() & lines[1:] or
                    not lines and first in otherwise):
            continue
        gone.update(lines)
        more[first] = [*more.get(first, ()), *new]
    return b"".join(b"".join(more.get(number, ())) + (line if number not in gone else b"")
                    for number, line in enumerate([*old, b""]))


def delta(path: str, before: bytes, after: bytes, context: int = 3) -> bytes:
    return in_files(["diff", f"-pU{context}", "--label", f"a/{path}", "--label", f"b/{path}"],
                    before, after)[0]


def contents(found: list[steps.Step]) -> dict[str, bytes]:
    """{path: text} of what steps bring."""
    return {path: file.read_bytes() for step in found for path, file in step.files.items()}


def deltas(found: list[steps.Step]) -> list[tuple[steps.Step, Path, dict[str, bytes]]]:
    """[(step, delta, {path: text})] of the steps that change files of ours, the last one first."""
    return [(step, step.grow, parts_of(step.grow.read_bytes()))
            for step in reversed(found) if step.grow]


def forms_before(found: list[steps.Step]) -> dict[tuple[str, str], bytes]:
    """{(step, path): text} of each file that a delta changes, as it is before that."""
    text = contents(found)
    forms: dict[tuple[str, str], bytes] = {}
    for step, _, parts in deltas(found):
        for path, part in parts.items():
            before = undone(text[path], part) if path in text else None
            if before is None:
                text.pop(path, None)
            else:
                text[path] = forms[step.name, path] = before
    return forms


def state(found: list[steps.Step]) -> tuple[list[tuple[str, dict[str, bytes]]],
                                            dict[str, bytes | None]]:
    """What forms are made of."""
    text, parts = contents(found), deltas(found)
    return ([(step.name, part) for step, _, part in parts],
            {path: text.get(path) for _, _, part in parts for path in part})


@dataclass
class Regrow:
    """Of one base: its steps as they are committed, and now."""

    committed: list[steps.Step]
    now: list[steps.Step]
    # what was made again for other bases, and for this one
    elsewhere: frozenset[Path]
    made: set[Path] = field(default_factory=set)

    def run(self) -> set[Path]:
        """Make again what does not fit; returns the deltas."""
        grow.check(self.now)
        if state(self.committed) == state(self.now):
            return self.made
        forms, old = forms_before(self.committed), contents(self.committed)
        edited = contents(self.now)
        text = dict(edited)
        for step, file, parts in deltas(self.now):
            for path, part in parts.items():
                before = undone(text[path], part)
                if before is None:
                    self.check(step, file, path, forms)
                    before = merged(forms[step.name, path], old[path], edited[path])
                    parts[path] = delta(path, before, text[path])
                    self.made.add(file)
                text[path] = before
            if file in self.made:
                self.write(file, b"".join(parts.values()))
        return self.made

    def check(self, step: steps.Step, file: Path, path: str,
              forms: dict[tuple[str, str], bytes]) -> None:
        """The delta can be made again: its form was committed, and no other base's is in its file."""
        if (step.name, path) not in forms:
            raise LabError(f"{paths.shown(file)} does not fit {path}, and is not committed",
                           "correct it by hand, or remove it and make the file as it was before")
        if file in self.elsewhere:
            raise LabError(f"{paths.shown(file)} fits no longer all bases that take it",
                           f"give {step.own.parent.name} its own one, in {paths.shown(step.own)}")

    @staticmethod
    def write(file: Path, text: bytes) -> None:
        if text:
            file.write_bytes(text)
        else:
            file.unlink()


def remake(committed: Queue, now: Queue) -> set[Path]:
    """Of one queue; returns the deltas that were made again."""
    made: set[Path] = set()
    for name in now.names():
        if name in committed.names():
            made |= Regrow(committed.unformed(name), now.unformed(name), frozenset(made)).run()
    for name in now.names():
        grow.set_forms(now.unformed(name))
    return made


def added(patch: str) -> list[str]:
    """The lines that a delta adds, without their indentation."""
    return [line[1:].strip() for line in patch.splitlines()
            if line.startswith("+") and not line.startswith("+++ ") and line[1:].strip()]


def gained(file: Path, revision: str, top: Path | None = None) -> list[str]:
    """
    Lines that a delta adds now and did not in a commit.

    Whether they are this step's or an earlier one's, only a reader knows.
    """
    top = top or paths.ROOT
    done = subprocess.run([proc.require("git"), "-C", top, "show",
                           f"{revision}:{file.relative_to(top)}"], text=True, capture_output=True,
                          check=False, env=proc.environment())
    before = added(done.stdout)
    return [line for line in added(file.read_text()) if line not in before] if file.exists() else []


def run(revision: str, top: Path | None = None) -> list[Path]:
    """All of 'lab regrow'; returns the deltas that were made again, of the series and for QEMU."""
    top = top or paths.ROOT
    with tempfile.TemporaryDirectory(prefix="lab-regrow.") as name:
        commit_at(revision, top, Path(name))
        return sorted(file for was, now in zip(queues(Path(name)), queues(top))
                      for file in remake(was, now))
