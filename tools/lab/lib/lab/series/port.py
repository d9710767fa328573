# SPDX-License-Identifier: GPL-2.0-only
"""'lab port': carry a change of a step's hooks to the other bases, and write once what is the same.

The shared hooks of a step are those of the default base. What was changed in them since a commit is
merged into the files that another base's hooks make, and the difference is that base's hooks again.
Bases with the same change then share one patch, with the lines around that all of them have.
"""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab.assembling import assemble, grow, hooks, layer, steps
from lab.base import bases, paths, proc, sources
from lab.series import regrow
from lab.base.errors import LabError

PART = "hooks.patch"
# Lines around a change
CONTEXTS = (3, 6, 12, 24)
NAME = re.compile(r"(\w+)\(|(\w+)\W*$")


def shared_file(step: str) -> Path:
    return paths.PATCHES_DIR / "steps" / step / PART


def own_file(base: str, step: str) -> Path:
    return paths.PATCHES_DIR / base / step / PART


def text_of(file: Path) -> str:
    """Of a file as it is, "" if it is not there; kernel files have bytes that are no UTF-8."""
    return file.read_text(errors="surrogateescape") if file.exists() else ""


def git(*args: str) -> str:
    done = subprocess.run([proc.require("git"), "-C", paths.ROOT, *args], capture_output=True,
                          text=True, errors="surrogateescape", check=False, env=proc.environment())
    return done.stdout if not done.returncode else ""


def delta(path: str, before: str, after: str, context: int) -> str:
    old, new = (text.encode(errors="surrogateescape") for text in (before, after))
    return regrow.delta(path, old, new, context).decode(errors="surrogateescape")


@dataclass
class Side:
    """A step's hooks on one base."""

    step: str
    base: str
    # {path: text}: files before the hooks, with them as they are committed, and as they are to be
    before: dict[str, str]
    committed: dict[str, str]
    now: dict[str, str]

    def patch(self) -> str:
        """With as many lines around as it takes to fit in one place only."""
        for context in CONTEXTS:
            text = "".join(delta(path, text, self.now[path], context)
                           for path, text in self.before.items())
            if not hooks.ambiguous(text, self.before):
                return text
        raise LabError(f"{self.base} has the lines around a change of {self.step} twice",
                       "change something else")

    def is_made_by(self, patch: str) -> bool:
        try:
            return not hooks.ambiguous(patch, self.before) and patched(patch, self.before) == self.now
        except (KeyError, LabError):
            return False


def patched(patch: str, before: dict[str, str]) -> dict[str, str]:
    """{path: text} of files with a patch; LabError if it does not fit exactly."""
    with tempfile.TemporaryDirectory(prefix="lab-port.") as name:
        place = Path(name)
        for path, text in before.items():
            paths.to_write(place / path).write_text(text, errors="surrogateescape")
        (place / PART).write_text(patch, errors="surrogateescape")
        grow.patch(place / PART, place)
        return {path: text_of(place / path) for path in before}


def before_hooks(base: str, wanted: dict[str, list[str]]) -> dict[str, dict[str, str]]:
    """{step: {path: text}}: files of a base as the hooks of each step find them.

    wanted has the paths of each step. For a fix they are those of the base, as a fix applies without
    the others.
    """
    found: dict[str, dict[str, str]] = {}

    def watch(step: steps.Step, tree: layer.Layer) -> None:
        if step.name in wanted:
            place = layer.Layer(sources.kernel(), tree.root / ".none") if step.is_fix else tree
            found[step.name] = {path: text_of(place.file(path)) for path in wanted[step.name]
                                if place.file(path).is_file()}
    if not wanted:
        return found
    with bases.chosen(base), tempfile.TemporaryDirectory(prefix="lab-port.") as place:
        if not sources.kernel().is_dir():
            raise LabError(f"the source of {base} is not there", f"run 'lab --base {base} build'")
        assembly = assemble.Assembly(layer.Layer(sources.kernel(), place), watch=watch)
        for step in steps.read():
            try:
                assembly.apply(step)
            except LabError:
                # What does not fit yet may be what is to be carried.
                if len(found) < len(wanted):
                    raise
            if len(found) == len(wanted):
                break
    return found


def at_commit(revision: str, file: Path) -> str:
    """A file of the repository in a commit, "" if it was not there."""
    return git("show", f"{revision}:{file.relative_to(paths.ROOT)}")


def places(before: dict[str, str],
           after: dict[str, str]) -> list[tuple[str | None, list[tuple[str, str]]]]:
    """[(name of the function, change)] between two forms of files."""
    found = []
    for path, text in before.items():
        for hunks in hooks.read(delta(path, text, after[path], 0)).values():
            for hunk in hunks:
                name = NAME.search(hunk.function)
                found.append(((name[1] or name[2]) if name else None, hunk.lines))
    return found


def carried(side: Side, main: Side) -> dict[str, str]:
    """A base's files with what was changed on the default base; LabError where that needs a hand."""
    now = dict(side.committed)
    by_hand = f"change patches/{side.base}/{side.step} by hand"
    for path, text in main.now.items():
        if text == main.committed[path]:
            continue
        if path not in now:
            raise LabError(f"{side.base} has no {path}, which the hooks change now", by_hand)
        merged, conflicts = regrow.in_files(
            ["git", "merge-file", "-p", "-q"],
            *(one.encode(errors="surrogateescape")
              for one in (now[path], main.committed[path], text)))
        if conflicts:
            raise LabError(f"{side.base} has {path} otherwise where the hooks have changed", by_hand)
        now[path] = merged.decode(errors="surrogateescape")
    if places(side.committed, now) != places(main.committed, main.now):
        raise LabError(f"the change would be another one on {side.base}, or in another function",
                       by_hand)
    return now


def make_side(step: str, base: str, before: dict[str, str], revision: str,
              main: Side | None) -> Side:
    """The hooks of a base, with the change of the shared ones in them."""
    then, now = at_commit(revision, own_file(base, step)), text_of(own_file(base, step))
    shared_then, shared_now = at_commit(revision, shared_file(step)), text_of(shared_file(step))
    try:
        # The hooks of a new step are a change as a whole.
        committed = patched(then or shared_then, before) if then or shared_then else before
        side = Side(step, base, before, committed, {})
        if main is None:
            side.now = patched(shared_now, before)
            return side
        # As it is in its file, which may have been changed by hand, or by 'lab port'
        own = patched(now, before) if now else None
    except LabError:
        raise LabError(f"the hooks of {step} do not fit {base}", "correct them by hand") from None
    if main.now == main.committed:
        side.now = committed if own is None else own
        return side
    if own is None:
        # The shared ones may still fit, in the place that they had.
        try:
            side.now = patched(shared_now, before)
            if not hooks.ambiguous(shared_now, before):
                return side
        except LabError:
            pass
    if now != then and own is not None:
        side.now = own
        try:
            other = carried(side, main)
        except LabError:
            return side
        if other != own:
            raise LabError(f"{paths.shown(own_file(base, step))} was changed as well as the shared "
                           "hooks", "commit both if they are right, or take it back ('git checkout')")
        return side
    side.now = carried(side, main)
    return side


def one_patch(sides: list[Side]) -> str | None:
    """A patch for several bases, or None."""
    patches = [hooks.read(one.patch()) for one in sides]
    if any(patch.keys() != patches[0].keys() for patch in patches):
        return None
    files = {path: hooks.shared([patch[path] for patch in patches],
                                [hooks.lines_of(one.before[path]) for one in sides])
             for path in patches[0]}
    whole = {path: own for path, own in files.items() if own is not None}
    found = hooks.write(whole) if len(whole) == len(files) else None
    return found if found and all(one.is_made_by(found) for one in sides) else None


def put(file: Path, text: str | None) -> bool:
    """Write a file, or remove it for None; whether that changed something."""
    if file.exists() == (text is not None) and text_of(file) == (text or ""):
        return False
    if text is None:
        file.unlink()
        if not any(file.parent.iterdir()):
            file.parent.rmdir()
    else:
        paths.to_write(file).write_text(text, errors="surrogateescape")
    return True


def write(sides: list[Side]) -> list[Path]:
    """The hooks of a step, of the default base first; returns the files that changed."""
    step = sides[0].step
    alike, patch = sides[:1], text_of(shared_file(step))
    for one in sides[1:]:
        if not one.is_made_by(patch):
            found = one_patch([*alike, one])
            if not found:
                continue
            patch = found
        alike.append(one)
    made: dict[Path, str | None] = {
        shared_file(step): patch, **{own_file(one.base, step): None for one in alike[1:]}}
    for one in sides:
        own = own_file(one.base, step)
        if one not in alike and not one.is_made_by(text_of(own)):
            made[own] = one.patch()
    return [file for file, text in made.items() if put(file, text)]


def wanted_steps(names: list[str], revision: str) -> dict[str, list[str]]:
    """{step: bases}: those that are named, or that have changed or have hooks of a base's own."""
    listed = {name: where or bases.names() for name, where in steps.listed(paths.OVERLAY_DIR)
              if shared_file(name).exists() and (not where or paths.DEFAULT_BASE in where)}
    for name in names:
        if name not in listed:
            raise LabError(f"no step {name} has hooks of the default base", "name one of patches/series")
    if not git("rev-parse", "--verify", "-q", f"{revision}^{{commit}}"):
        raise LabError(f"there is no commit {revision}", "name one with --since")
    return {name: where for name, where in listed.items() if name in names or not names and
            (any(own_file(base, name).exists() for base in where) or
             at_commit(revision, shared_file(name)) != text_of(shared_file(name)))}


def all_paths(step: str, where: list[str], revision: str) -> list[str]:
    """Each file that the hooks of a step change, on any base, as they are and as they were."""
    files = [shared_file(step), *(own_file(base, step) for base in where)]
    return sorted({path for file in files for text in (text_of(file), at_commit(revision, file))
                   for path in hooks.read(text)})


def run(names: list[str], revision: str) -> list[Path]:
    """All of 'lab port'; returns the files that it has written or removed."""
    wanted, made = wanted_steps(names, revision), []
    order = sorted(bases.names(), key=lambda base: base != paths.DEFAULT_BASE)
    while wanted:
        before = {base: before_hooks(base, {name: all_paths(name, where, revision)
                                            for name, where in wanted.items() if base in where})
                  for base in order}
        for name, where in list(wanted.items()):
            sides: list[Side] = []
            for base in order:
                if base in where:
                    sides.append(make_side(name, base, before[base][name], revision,
                                           sides[0] if sides else None))
            del wanted[name]
            if written := write(sides):
                # Later steps find other files now.
                made += written
                break
    return made
