# SPDX-License-Identifier: GPL-2.0-only
"""The parts of the series: each is a series of its own for those who take it, with a letter.

patches/series has the part of each step, and patches/parts/PART the letter of a part, a mail: the
fields Subject, Prefix, To and Cc, and a text. patches/parts/first is the first paragraph of each.

A part of fixes applies to the base alone, and has what a distribution takes. Any other applies to
the base with all parts before it.
"""

import email
import re
import shutil
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from lab.assembling import steps as steps_mod
from lab.base import bases, paths, proc
from lab.series import distribution, rangediff, series
from lab.base.errors import LabError

PREFIX = "PATCH v3"
FIELDS = {"Subject", "Prefix", "To", "Cc"}
SCRIPT = "scripts/get_maintainer.pl"
# Who is named in MAINTAINERS for a file, and nobody for what he has written or for a word in it
QUIETLY = ("--no-git", "--no-git-fallback", "--no-keywords", "--rolestats")
# What get_maintainer.pl prints: an address and its role
ROLE = re.compile(r"(\S.*?) \((\w+)[^()]*(?:\(.*\))?[^()]*\)")
TO = ("maintainer", "supporter")


@dataclass(frozen=True)
class Part:
    """Some of a base's steps, and what they are called in messages to those who take them."""

    name: str
    steps: list[steps_mod.Step]
    letter: Message
    # the kernel, such as 6.12, and where the patches go
    release: str
    out: Path

    @property
    def alone(self) -> bool:
        """Whether it applies to the base without any other part."""
        return all(step.is_fix for step in self.steps)

    @property
    def branch(self) -> str:
        return f"part-{self.name}"

    def field(self, name: str, usual: str = "") -> str:
        return self.with_release(str(self.letter.get(name, usual)))

    def with_release(self, text: str) -> str:
        return text.replace("{release}", self.release)


def letters_dir() -> Path:
    return paths.PATCHES_DIR / "parts"


def read_letter(name: str) -> Message:
    file = letters_dir() / name
    letter = email.message_from_string(file.read_text() if file.is_file() else "")
    if not set(letter.keys()) <= FIELDS or not letter["Subject"] or not letter.get_payload():
        raise LabError(f"{paths.shown(file)} is no letter of a part",
                       f"write the fields Subject and, if need be, {', '.join(sorted(FIELDS - {'Subject'}))}"
                       ", a blank line and a text")
    return letter


def read(found: list[steps_mod.Step]) -> list[Part]:
    """The parts that these steps have, in order."""
    names = dict.fromkeys(step.part for step in found if step.part)
    parts = [Part(name, [step for step in found if step.part == name], read_letter(name),
                  bases.current().release, series.patches_dir() / name) for name in names]
    for part in parts:
        if not part.alone and any(step.is_fix for step in part.steps):
            raise LabError(f"the part {part.name} has fixes and other steps",
                           "make two parts of it in patches/series")
    return parts


def named(part: Part, found: list[steps_mod.Step], text: str) -> str:
    """A paragraph with the numbers of the steps that it names, and titles of other parts' steps.

    Empty if it names a step that this base does not take.
    """
    titles = {step.name: f'"{step.subject}"' for step in found}
    titles.update({step.name: str(number) for number, step in enumerate(part.steps, 1)})
    names = series.NAMED.findall(text)
    if not titles.keys() >= set(names):
        return ""
    return series.NAMED.sub(lambda match: titles[match[1]], text)


def fill(text: str, number: str = "") -> str:
    """A paragraph, or a row of a table that begins with a number."""
    return textwrap.fill(" ".join(text.split()), series.LETTER_COLUMNS, break_on_hyphens=False,
                         break_long_words=False, initial_indent=number,
                         subsequent_indent=" " * len(number))


def impacts(part: Part) -> list[str]:
    """Paragraphs: what the fixes of a part end, that of any user first."""
    rows: dict[bool, list[str]] = {True: [], False: []}
    for number, step in enumerate(part.steps, 1):
        if len(step.impact) == 4:
            who, what, where, test = step.impact
            free = who == distribution.ANYBODY
            rows[free].append(fill(f"{'' if free else who + ': '}{what} ({where}; {test})",
                                   f"{number:4}  "))
    heads = {True: "What any user can do who may trace a task of his, and the patch that ends it "
                   "(processors; test):", False: "What others can do, or meet:"}
    return [f"{fill(heads[free])}\n\n" + "\n".join(rows[free]) for free in rows if rows[free]]


def needs(part: Part, parts: list[Part], title: str) -> str:
    """What it applies to."""
    before = ", ".join(one.name for one in parts[:parts.index(part)])
    return f"Base: {title}. " + (f"It comes after the series {before}, in this order."
                                 if not part.alone else "It needs no other series.")


def text_of(part: Part, parts: list[Part], title: str, above: Iterable[str] = (),
            left: Iterable[steps_mod.Step] = ()) -> str:
    """The letter: subject, a blank line, text; with paragraphs above it, and steps that are left out."""
    found = [*left, *(step for one in parts for step in one.steps)]
    own = part.with_release(str(part.letter.get_payload())).strip().split("\n\n")
    head, *more = [fill(text) for one in own if (text := named(part, found, one))]
    first = (letters_dir() / "first").read_text()
    return "\n\n".join([part.field("Subject"), *map(fill, above), fill(first), head, *impacts(part), *more,
                        fill(needs(part, parts, title))]) + "\n"


def recipients(part: Part, source: Path, patches: Iterable[str | Path]) -> list[str]:
    """Options of format-patch: whom the base's own script names, and whom the letter does."""
    said = {"to": [part.field("To")], "cc": [part.field("Cc")]}
    if (source / SCRIPT).is_file():
        done = proc.output(["perl", SCRIPT, *QUIETLY, *patches], cwd=source)
        for name, role in ROLE.findall(done):
            said["to" if role in TO and not said["to"][0] else "cc"].append(name)
    return [f"--{kind}={name}" for kind, names in said.items() for name in dict.fromkeys(names) if name]


def commit_alone(target: series.Target, part: Part, work: Path,
                 sender: series.Sender | None) -> str:
    """A branch of the part's steps on the base; the commit that they are on."""
    shutil.rmtree(work, ignore_errors=True)
    taken = series.snapshots(part.steps, target.source, work)
    first = {path: series.content(target.source / path) for path in set().union(*taken)}
    target.git("checkout", "-q", "-b", part.branch, "base")
    for step, changed in zip(part.steps, taken, strict=True):
        series.commit_step(target, step, changed, first, sender)
    target.git("checkout", "-q", "series")
    return "base"


def base_line(target: series.Target) -> str:
    """For the end of a letter: the commit, if the source is a git tree with these files as they are."""
    source = target.source.resolve()
    if not (source / ".git").exists() or series.edited(source, target.git("ls-files").splitlines()):
        return ""
    return f"\nbase-commit: {series.git('rev-parse', 'HEAD', where=source, env=series.LOOKING).strip()}\n"


def format_part(target: series.Target, part: Part, start: str, text: str,
                patches: Iterable[str | Path], sender: series.Sender | None) -> None:
    """Write the patches of its branch; those who get them are named by patches, or by '-f' and files."""
    target.git("config", f"branch.{part.branch}.description", text)
    files = [file for step in part.steps for file in step.inputs()]
    env = series.identity(*series.author(part.steps[-1], sender), series.date_of(files))
    target.git("format-patch", "-q", "-o", part.out, "--cover-letter",
               "--cover-from-description=subject", f"--subject-prefix={part.field('Prefix', PREFIX)}",
               *recipients(part, target.source, patches), *series.FORMAT, f"{start}..{part.branch}", env=env)
    letter = part.out / "0000-cover-letter.patch"
    letter.write_text(letter.read_text().rstrip("\n") + "\n" + base_line(target))
    if part.alone:
        distribution.write_fixes(part.out, part.name, part.field("Subject"), part.steps)


def write_changes(target: series.Target, found: list[steps_mod.Step], work: Path,
                  sender: series.Sender | None) -> None:
    """Beside each letter, what has changed in its patches since the version before."""
    texts = rangediff.of_steps(target, found, work, sender)
    rangediff.write(target.out, found, texts)
    for part in read(found):
        rangediff.write(part.out, part.steps, texts)


def write_all(target: series.Target, found: list[steps_mod.Step], work: Path,
              sender: series.Sender | None) -> None:
    """The parts, and what has changed."""
    write(target, found, work, sender)
    write_changes(target, found, work, sender)


def write(target: series.Target, found: list[steps_mod.Step], work: Path,
          sender: series.Sender | None) -> None:
    """Each part into a directory of its own; the steps are committed on the branch 'series'."""
    parts, number = read(found), 0
    commits = target.git("rev-list", "--reverse", "series").split()
    written = distribution.patches_of(target.out)
    for part in parts:
        last = number + len(part.steps)
        if part.alone:
            start = commit_alone(target, part, work, sender)
        else:
            start = commits[number]
            target.git("branch", part.branch, commits[last])
        format_part(target, part, start, text_of(part, parts, target.title), written[number:last],
                    sender)
        number = last
