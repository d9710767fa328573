# SPDX-License-Identifier: GPL-2.0-only
"""'lab series DIR': the fixes for a kernel that is no base, as far as they fit there.

Each fix is tried as the bases on either side of that release have it, hunk by hunk. The lines that
a hunk changes may have moved within the file, but not to another function. Where they are not as
on the base, the base's files with and without the hunk are merged with the tree's. What is merged is
told apart in all that is written. Nothing is compiled, and nothing is written to the tree.
"""

import enum
import re
import shutil
import textwrap
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from lab.assembling import hooks, steps as steps_mod
from lab.base import bases, paths, sources, ui
from lab.series import distribution, parts, rebase, regrow, series
from lab.base.errors import LabError

# What a line at file scope begins with; a label is none
SCOPE = re.compile(r"[A-Za-z_}](?!\w*:\s*(?:/\*.*)?$)")
NAME = re.compile(r"(\w+)\(|(\w+)\W*$")
# What may be the name of a function or a member: words of comments are none
WORD = re.compile(r"[A-Za-z]\w*_\w+")
CONFLICT = b"<<<<<<< "
REMEDY = "name the directory of an unpacked kernel or of a git tree of it"
# Exit status: each fix fits or is there already; a fix was merged or does not fit
ALL_FIT, TO_LOOK_AT = 0, 2


class State(enum.Enum):
    """What becomes of a hunk, and of a fix."""

    FITS = "fits"
    HAS = "has it already"
    MERGED = "fits, merged: look at it"
    FAILS = "does not fit"
    NOT_NEEDED = "not needed"
    NOT_FOR = "not for this release"


@dataclass(frozen=True)
class Spot:
    """Where a hunk of a fix belongs in the tree; lines are from 1, and of the tree as it is."""

    state: State
    path: str
    number: int
    line: int
    function: str
    # where else its lines are, or what else is to be looked at
    hint: str = ""

    def __str__(self) -> str:
        where = f", {self.function}" if self.function else ""
        return f"{self.path}:{self.line}{where} (hunk {self.number})"


@dataclass(frozen=True)
class Fit:
    """A fix as one base has it, in the tree."""

    step: steps_mod.Step
    base: str
    # {path: text} of the files with it
    files: dict[str, str]
    spots: list[Spot]

    @property
    def state(self) -> State:
        found = {spot.state for spot in self.spots}
        if State.FAILS in found:
            return State.FAILS
        # Some of it may be there.
        return found.pop() if len(found) == 1 else State.MERGED

    def details(self) -> list[str]:
        """A line for each hunk that was merged, is there already, or does not fit."""
        if self.state == State.FAILS:
            return [f"{spot}{spot.hint}" for spot in self.spots if spot.state == State.FAILS]
        said = {State.MERGED: "merged", State.HAS: "is there already"}
        return [f"{spot}: {said[spot.state]}{spot.hint}" for spot in self.spots
                if spot.state in said and self.state == State.MERGED]


@dataclass(frozen=True)
class Near:
    """A base whose fixes are tried."""

    name: str
    source: Path
    fixes: dict[str, steps_mod.Step]


@dataclass(frozen=True)
class Row:
    """A line of the table; no base's fix if none of them takes it."""

    name: str
    part: str
    fit: Fit | None
    # bases that do without it, and that of them whose code the tree has there
    without: list[str]
    same: str = ""

    @property
    def state(self) -> State:
        return State.NOT_NEEDED if self.same else self.fit.state if self.fit else State.NOT_FOR

    @property
    def is_written(self) -> bool:
        return self.state in (State.FITS, State.MERGED)

    @property
    def base(self) -> str:
        return self.same or (self.fit.base if self.fit else "-")

    def details(self) -> list[str]:
        lines = self.fit.details() if self.fit and not self.same else []
        return lines + [f"{name} does without it" for name in self.without if self.state == State.FAILS]


@dataclass(frozen=True)
class Tree:
    """The kernel that the fixes are for."""

    source: Path
    release: str

    @property
    def title(self) -> str:
        return f"Linux {self.release} in {self.source.name}"

    @property
    def out(self) -> Path:
        return paths.in_build(f"series-{self.release}")

    def text(self, path: str) -> str | None:
        return text_of(self.source / path)


def text_of(file: Path) -> str | None:
    """None for a file that is not there."""
    try:
        return file.read_bytes().decode(errors="surrogateescape") if file.is_file() else None
    except OSError as error:
        raise LabError(f"cannot read {file} ({error.strerror})", "make it readable") from None


def read_tree(directory: str) -> Tree:
    source = Path(directory).expanduser().resolve()
    if not source.is_dir():
        raise LabError(f"there is no directory {directory}", REMEDY)
    if not (source / "kernel/events/core.c").is_file() or not (source / "Makefile").is_file():
        raise LabError(f"{directory} is no source of a kernel", REMEDY)
    return Tree(source, rebase.version_of(source))


def nearest(release: str) -> list[str]:
    """The base of a release, or those on either side of it, the nearer one first."""
    wanted = bases.numbers(release)[:2]
    known = {name: bases.numbers(bases.read(name).release) for name in bases.names()}
    if same := [name for name, numbers in known.items() if numbers == wanted]:
        return same
    found = [*[name for name, numbers in known.items() if numbers < wanted][-1:],
             *[name for name, numbers in known.items() if numbers > wanted][:1]]
    return sorted(found, key=lambda name: [abs(one - other) for one, other in zip(known[name], wanted)])


def read_near(name: str) -> Near:
    with bases.chosen(name):
        bases.check()
        fixes = {step.name: step for step in steps_mod.unformed() if step.is_fix}
        return Near(name, sources.kernel(), fixes)


def begins(line: str) -> str:
    """The name of the function, struct or the like that begins with a line; "" if none does."""
    match = NAME.search(line) if SCOPE.match(line) and not line.startswith("}") and line[-1] != ";" else None
    return match[1] or match[2] if match else ""


def scope(lines: list[str], at: int) -> str:
    """The name of what a line is in; "" at file scope."""
    return next((begins(line) for line in reversed(lines[:at]) if SCOPE.match(line)), "")


def bodies(lines: list[str], name: str) -> list[list[str]]:
    """All definitions of a name."""
    return [lines[at:at + [*lines[at:], "}"].index("}")] for at, line in enumerate(lines)
            if name and name in line and begins(line) == name]


def touched(hunk: hooks.Hunk, base: list[str]) -> set[str]:
    """The names of what a hunk changes in the base's file."""
    at, names = hooks.found(hunk.before, base)[0], set()
    for sign, _ in hunk.lines:
        if sign != " ":
            names.add(scope(base, at + (sign == "-")))
        at += sign != "+"
    return names - {""}


def gone(hunk: hooks.Hunk, base: list[str], lines: list[str]) -> list[str]:
    """Names that a hunk's new lines use, of those of the base's file that the tree's does not have."""
    used = {word for sign, text in hunk.lines if sign == "+" for word in WORD.findall(text)}
    there, here = ({word for word in used if re.search(rf"\b{word}\b", "\n".join(one))}
                   for one in (base, lines))
    return sorted(there - here)


def defined(hunk: hooks.Hunk, base: list[str], lines: list[str]) -> list[str]:
    """Names that a hunk defines and that the tree's file has a definition of, other than the base's."""
    names = {begins(text) for sign, text in hunk.lines if sign == "+" and text}
    return sorted(name for name in names if bodies(lines, name) and not bodies(base, name))


def put(lines: list[str], at: int, hunk: hooks.Hunk) -> list[str]:
    return [*lines[:at], *hunk.after, *lines[at + len(hunk.before):]]


def merge(ours: list[str], base: list[str], theirs: list[str]) -> tuple[list[str] | None, int]:
    """(lines, 0) with what changes between base and theirs; (None, where that conflicts, from 0)."""
    text, conflicts = regrow.in_files(
        ["git", "merge-file", "-p", "-q"],
        *("\n".join(one).encode(errors="surrogateescape") for one in (ours, base, theirs)))
    if not conflicts:
        return text.decode(errors="surrogateescape").split("\n"), 0
    return None, text.partition(CONFLICT)[0].count(b"\n")


def merge_within(name: str, *files: list[str]) -> list[str] | None:
    """The same in one function alone, wherever it is; there, lines beside each other may differ."""
    found = [bodies(lines, name) for lines in files]
    # Other configurations may have other definitions.
    changed = [number for number, (one, other) in enumerate(zip(*found[1:])) if one != other]
    if len(changed) != 1 or len({len(one) for one in found}) != 1:
        return None
    own, base, theirs = (one[changed[0]] for one in found)
    new = merge_lines(own, base, theirs)
    whole = swap(files[1], base, theirs) == files[2]
    return swap(files[0], own, new) if new and whole else None


def swap(lines: list[str], old: list[str], new: list[str]) -> list[str]:
    """Lines with others in the place of some that follow each other."""
    at = hooks.found(old, lines)[0]
    return [*lines[:at], *new, *lines[at + len(old):]]


def merge_lines(own: list[str], base: list[str], theirs: list[str]) -> list[str] | None:
    """The same line by line; None where both change a line, or add some at one place."""
    ours, more = (list(regrow.changes(base, one)) for one in (own, theirs))
    new = [change for change in more if change not in ours]
    for first, behind, _ in ours:
        if any(first < end and begin < behind or first == behind == begin == end for begin, end, _ in new):
            return None
    lines = base
    # What is added at a line comes before it.
    for first, behind, text in sorted([*ours, *new], key=lambda change: change[:2], reverse=True):
        lines = [*lines[:first], *text, *lines[behind:]]
    return lines


def is_gone(hunk: hooks.Hunk, base: list[str], lines: list[str]) -> bool:
    """Whether the tree's file has none of the lines that go, of those that the base's has once."""
    return not any(base.count(text) == 1 and text in lines and ("+", text) not in hunk.lines
                   for sign, text in hunk.lines if sign == "-")


def place(lines: list[str], base: list[str], hunk: hooks.Hunk) -> tuple[State, list[str], int, str]:
    """(state, the tree's file with a hunk, its line from 0, its function); base is the base's file."""
    there = hooks.found(hunk.before, base)[0]
    name = scope(base, there + hunk.above)

    def mine(wanted: list[str]) -> list[int]:
        return [at for at in hooks.found(wanted, lines) if scope(lines, at + hunk.above) == name]
    before, after = mine(hunk.before), mine(hunk.after) if is_gone(hunk, base, lines) else []
    # What a hunk makes may hold what it finds.
    if after and (not before or any(at <= before[0] < at + len(hunk.after) for at in after)):
        return State.HAS, lines, after[0] + hunk.above, name
    if len(before) == 1:
        return State.FITS, put(lines, before[0], hunk), before[0] + hunk.above, name
    theirs = put(base, there, hunk)
    merged, line = merge(lines, base, theirs)
    merged = merged or merge_within(name, lines, base, theirs)
    if merged == lines:
        return State.HAS, lines, first_difference(lines, base), name
    # A line that goes and is not there was changed, however that merges.
    if merged and all(text in lines for sign, text in hunk.lines if sign == "-"):
        return State.MERGED, merged, first_difference(lines, merged), name
    if len(at := hooks.found(hunk.before, lines)) == 1:
        # In a function that has another name
        return State.MERGED, put(lines, at[0], hunk), at[0] + hunk.above, name
    return State.FAILS, lines, line, name


def first_difference(one: list[str], other: list[str]) -> int:
    return next((at for at, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), 0)


def elsewhere(tree: Tree, path: str, hunk: hooks.Hunk, name: str) -> str:
    """Which other file of the directory has the lines of a hunk in a function of that name, in words."""
    for file in sorted((tree.source / path).parent.glob("*.[ch]")):
        lines = (text_of(file) or "").split("\n")
        for at in hooks.found(hunk.before, lines):
            if file != tree.source / path and name and scope(lines, at + hunk.above) == name:
                return f"; its lines are in {file.relative_to(tree.source)}:{at + hunk.above + 1}"
    return ""


def try_hunk(tree: Tree, path: str, number: int, hunk: hooks.Hunk, base: list[str],
             lines: list[str]) -> tuple[Spot, list[str]]:
    """A hunk in a file of the tree that earlier ones have changed, and the file then."""
    state, new, line, name = place(lines, base, hunk)
    text, hint = tree.text(path), ""
    own = (text or "").split("\n")
    if state == State.FAILS:
        hint = elsewhere(tree, path, hunk, name) if text is not None else "; there is no such file"
    elif state != State.HAS and (names := defined(hunk, base, own)):
        state, hint, new = State.FAILS, f"; it defines {', '.join(names)}, which is there already", lines
    elif state != State.HAS and (names := gone(hunk, base, own)):
        state, hint = State.MERGED, f"; it uses {', '.join(names)}, which that file does not have"
    if lines != own:
        line = place(own, base, hunk)[2]
    return Spot(state, path, number, line + 1, name, hint), new


def try_fix(tree: Tree, near: Near, step: steps_mod.Step, now: dict[str, str]) -> Fit:
    """A fix as a base has it, in the tree with the files that earlier fixes have changed."""
    assert step.hooks
    files: dict[str, str] = {}
    spots: list[Spot] = []
    for path, hunks in hooks.read(text_of(step.hooks) or "").items():
        text, base = now.get(path, tree.text(path)), (text_of(near.source / path) or "").split("\n")
        lines = (text or "").split("\n")
        for number, hunk in enumerate(hunks, 1):
            if not hooks.found(hunk.before, base):
                raise LabError(f"{step.called('hooks.patch')} does not fit {near.name} itself: {path} (hunk "
                               f"{number})", f"run 'lab --base {near.name} rebase', which says what changed")
            spot, lines = try_hunk(tree, path, number, hunk, base, lines)
            spots.append(spot)
        if "\n".join(lines) != text:
            files[path] = "\n".join(lines)
    return Fit(step, near.name, files, spots)


def as_without(tree: Tree, fit: Fit, near: Near, others: list[Near]) -> str:
    """That base which does without a fix and whose code the tree has where the fix changes some; or ""."""
    assert fit.step.hooks
    names = {(path, name) for path, hunks in hooks.read(text_of(fit.step.hooks) or "").items()
             for hunk in hunks
             for name in touched(hunk, (text_of(near.source / path) or "").split("\n"))}

    def same(other: Near) -> bool:
        found = [[bodies((text_of(source / path) or "").split("\n"), name)
                  for source in (tree.source, other.source)] for path, name in names]
        return bool(found) and all(own and own == their for own, their in found)
    return next((other.name for other in others if same(other)), "")


def best(tree: Tree, nears: list[Near], name: str, now: dict[str, str]) -> Fit | None:
    """A fix as that base has it whose hunks fit best; of equals, as the nearest one."""
    order = [State.FITS, State.HAS, State.MERGED, State.FAILS]
    fits = [try_fix(tree, near, near.fixes[name], now) for near in nears if name in near.fixes]

    def rank(fit: Fit) -> int:
        return max(order.index(fit.state), 1)
    return min(fits, key=rank) if fits else None


def row_of(tree: Tree, nears: list[Near], name: str, part: str, now: dict[str, str]) -> Row:
    fit, without = best(tree, nears, name, now), [near for near in nears if name not in near.fixes]
    same = ""
    if fit and fit.state in (State.MERGED, State.FAILS):
        near = next(one for one in nears if one.name == fit.base)
        same = as_without(tree, fit, near, without)
    return Row(name, part, fit, [near.name for near in without], same)


def find(tree: Tree, nears: list[Near]) -> list[Row]:
    """Each fix in its order; those of a part come one after the other, and without other parts."""
    rows: list[Row] = []
    now: dict[str, str] = {}
    every, of_part = steps_mod.listed_parts(paths.OVERLAY_DIR)
    for name, _ in every:
        if not name.startswith(steps_mod.FIX):
            continue
        if rows and rows[-1].part != of_part[name]:
            now = {}
        rows.append(row := row_of(tree, nears, name, of_part[name], now))
        if row.is_written and row.fit:
            now.update(row.fit.files)
    return rows


def step_for(tree: Tree, fit: Fit) -> steps_mod.Step:
    """The step, whose message says what was merged."""
    if fit.state != State.MERGED:
        return fit.step
    note = (f"In Linux {tree.release} this is not as on {bases.read(fit.base).release}, and is to be "
            f"looked at: {'; '.join(fit.details())}.")
    if fit.step.upstream:
        upstream = replace(fit.step.upstream, note=f"{fit.step.upstream.note} {note}".strip())
        return replace(fit.step, upstream=upstream, message=upstream.message())
    return replace(fit.step, message=steps_mod.with_note(
        fit.step.message, textwrap.fill(note, series.LETTER_COLUMNS, break_on_hyphens=False,
                                        break_long_words=False)))


def about(tree: Tree, rows: list[Row], written: list[Row]) -> list[str]:
    """Paragraphs of a letter: what was done for this tree, and what is not in it."""
    names = " and ".join(dict.fromkeys(bases.read(row.base).release for row in written))
    merged = [str(number) for number, row in enumerate(written, 1) if row.state == State.MERGED]
    left = [f'"{row.fit.step.subject}" ({row.state.value})' for row in rows
            if row.fit and row not in written]
    return [f"These are the fixes of the series for {names}, placed in {tree.title}. There they were "
            "neither compiled nor run; that each applies alone, and what is said of tests, was seen on the "
            "kernels that the series is for.",
            *([f"To be looked at, as they were merged: {', '.join(merged)}."] if merged else []),
            *([f"Left out: {'; '.join(left)}."] if left else [])]


def write_part(target: series.Target, tree: Tree, name: str, every: list[Row], first: series.Changes,
               sender: series.Sender | None) -> None:
    """A part, of those of its fixes that fit."""
    rows = [row for row in every if row.part == name]
    written = [row for row in rows if row.is_written]
    fits = [row.fit for row in written if row.fit]
    part = parts.Part(name, [step_for(tree, fit) for fit in fits], parts.read_letter(name),
                      ".".join(tree.release.split(".")[:2]), tree.out / name)
    target.git("checkout", "-q", "-b", part.branch, "base")
    changed: series.Changes = {}
    for fit, step in zip(fits, part.steps, strict=True):
        for path, text in fit.files.items():
            before = first[path]
            assert before
            changed[path] = text.encode(errors="surrogateescape"), before[1]
        series.commit_step(target, step, changed, first, sender)
    text = parts.text_of(part, [part], tree.title, about(tree, rows, written),
                         [row.fit.step for row in every if row.fit and row not in written])
    parts.format_part(target, part, "base", text, ["-f", *sorted(changed)], sender)


def write(step: ui.Step, tree: Tree, names: list[str], sender: series.Sender | None) -> list[Row]:
    """The parts of fixes for the tree."""
    rows = find(tree, [read_near(name) for name in names])
    target = series.Target(tree.source, tree.title, series.repository(), tree.out,
                           parts.letters_dir() / "first")
    shutil.rmtree(target.out, ignore_errors=True)
    fits = [row.fit for row in rows if row.fit and row.is_written]
    first = series.begin(target, sorted({path for fit in fits for path in fit.files}))
    for name in dict.fromkeys(fit.step.part for fit in fits):
        write_part(target, tree, name, rows, first, sender)
    if (tree.source / ".git").exists() and (left := series.edited(tree.source, first)):
        ui.say(f"  not committed, but taken as it is, so that no letter names a commit: {', '.join(left)}")
    step.note = f"{len(fits)} patches in {paths.shown(tree.out)}"
    return rows


def others() -> str:
    """The parts that are not tried, in words."""
    every, of_part = steps_mod.listed_parts(paths.OVERLAY_DIR)
    names = dict.fromkeys(of_part[name] for name, _ in every if not name.startswith(steps_mod.FIX))
    return f"The other parts ({', '.join(names)}) are written for {', '.join(bases.names())} only."


def show(tree: Tree, rows: list[Row]) -> int:
    """The table, and what is not tried; the exit status."""
    lines = distribution.table(("fix", "part", "as on", "result"),
                               [(row.name, row.part, row.base, row.state.value) for row in rows])
    print(lines[0])
    for line, row in zip(lines[1:], rows, strict=True):
        print("\n    ".join([line, *row.details()]))
    counts = Counter(row.state for row in rows)
    print("", *(f"{counts[state]:4} {state.value}" for state in State if counts[state]), "", sep="\n")
    print(f"Written to {paths.shown(tree.out)}, not compiled here." if tree.out.exists() else
          "Nothing is written, as nothing fits.", others())
    return TO_LOOK_AT if counts[State.FAILS] or counts[State.MERGED] else ALL_FIT
