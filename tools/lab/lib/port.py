# SPDX-License-Identifier: GPL-2.0-only
"""'lab port': carry a change of a step's hooks to the other bases, and write once what is the same.

The shared hooks of a step are those of the default base. What was changed in them since a commit is
merged into the files that another base's hooks make, and the difference is that base's hooks again.
Bases with the same change then share one patch, with the lines around that all of them have.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import assemble
import bases
import grow
import hooks
import layer
import paths
import proc
import regrow
import sources
import steps
from errors import LabError

PART = "hooks.patch"
# Lines around a change
CONTEXTS = (3, 6, 12, 24)


@dataclass
class Side:
    """A step's hooks on one base."""

    base: str
    # where its own ones are, or would be
    own: Path
    # {path: text}: files before the hooks, and with them as they are committed, and as they are now
    before: dict
    committed: dict
    now: dict

    def patch(self):
        """With as many lines around as it takes to fit in one place only."""
        for context in CONTEXTS:
            text = "".join(regrow.delta(path, text.encode(), self.now[path].encode(), context).decode()
                           for path, text in self.before.items())
            if not hooks.ambiguous(text, self.before):
                break
        return text

    def is_made_by(self, patch):
        try:
            return not hooks.ambiguous(patch, self.before) and patched(patch, self.before) == self.now
        except (KeyError, LabError):
            return False


def patched(patch, before):
    """{path: text} of files with a patch."""
    with tempfile.TemporaryDirectory(prefix="lab-port.") as name:
        place = Path(name)
        for path, text in before.items():
            paths.to_write(place / path).write_text(text)
        (place / PART).write_text(patch)
        grow.patch(place / PART, place)
        return {path: (place / path).read_text() for path in before}


def before_hooks(base, names):
    """{step: {path: text}}: files of a base as the hooks of each of the steps are to find them."""
    found = {}

    def watch(step, files):
        if step.name in names:
            # A fix applies without the others.
            found[step.name] = {path: (sources.kernel() / path).read_text()
                                for path in files} if step.is_fix else files
    with bases.chosen(base), tempfile.TemporaryDirectory(prefix="lab-port.") as place:
        if not sources.kernel().is_dir():
            raise LabError(f"the source of {base} is not there", f"run 'lab --base {base} build'")
        assembly = assemble.Assembly(layer.Layer(sources.kernel(), place), watch=watch)
        for step in steps.read():
            try:
                assembly.apply(step)
            except LabError:
                # What does not fit yet may be what is to be carried.
                if len(found) < len(names):
                    raise
            if len(found) == len(names):
                break
    return found


def at_commit(revision, file):
    """A file of the repository in a commit, "" if it was not there."""
    done = subprocess.run([proc.require("git"), "-C", paths.ROOT, "show",
                           f"{revision}:{file.relative_to(paths.ROOT)}"], capture_output=True,
                          text=True, check=False, env=proc.environment())
    return done.stdout if not done.returncode else ""


def merged(path, own, old, new, base):
    """A base's own form of a file with what was changed between two others."""
    text, conflicts = regrow.in_files(["git", "merge-file", "-p", "-q"], own.encode(), old.encode(),
                                      new.encode())
    if conflicts:
        raise LabError(f"{base} has {path} otherwise where the hooks have changed",
                       f"change patches/{base} by hand")
    return text.decode()


def side(base, name, before, revision, main):
    """The hooks of a base, with the change of the shared ones in them."""
    shared = paths.PATCHES_DIR / "steps" / name / PART
    own = paths.PATCHES_DIR / base / name / PART
    was, is_own = at_commit(revision, own), own.read_text() if own.exists() else ""
    text = was or at_commit(revision, shared)
    # The hooks of a new step are a change as a whole.
    committed = patched(text, before) if text else before
    if is_own != was or main is None:
        now = patched(is_own or shared.read_text(), before)
    elif main.now == main.committed:
        now = committed
    else:
        now = {path: merged(path, old, main.committed[path], main.now[path], base)
               for path, old in committed.items()}
    return Side(base, own, before, committed, now)


def one_patch(sides):
    """A patch for several bases, or None."""
    if any(one.before.keys() != sides[0].before.keys() for one in sides):
        return None
    patches = [hooks.read(one.patch()) for one in sides]
    if any(patch.keys() != patches[0].keys() for patch in patches):
        return None
    files = {path: hooks.shared([patch[path] for patch in patches],
                                [one.before[path].splitlines() for one in sides])
             for path in patches[0]}
    return None if None in files.values() else hooks.write(files)


def put(file, text):
    """Write a file, or remove it for None; whether that changed something."""
    if (file.read_text() if file.exists() else None) == text:
        return False
    if text is None:
        file.unlink()
        if not any(file.parent.iterdir()):
            file.parent.rmdir()
    else:
        paths.to_write(file).write_text(text)
    return True


def write(name, sides):
    """The hooks of a step, of the main base first; returns the files that changed."""
    shared = paths.PATCHES_DIR / "steps" / name / PART
    alike, patch = sides[:1], shared.read_text()
    for one in sides[1:]:
        found = one_patch([*alike, one])
        if one.is_made_by(patch) or found:
            alike.append(one)
            patch = patch if one.is_made_by(patch) else found
    made = {shared: patch, **{one.own: None for one in alike[1:]},
            **{one.own: one.patch() for one in sides if one not in alike and
               not (one.own.exists() and one.is_made_by(one.own.read_text()))}}
    return [file for file, text in made.items() if put(file, text)]


def run(names, revision):
    """All of 'lab port', for these steps or each that a base has hooks of its own for."""
    listed = {name: where or bases.names() for name, where in steps.listed(paths.OVERLAY_DIR)
              if (paths.PATCHES_DIR / "steps" / name / PART).exists()}
    for name in names:
        if name not in listed:
            raise LabError(f"there is no step {name} with hooks that bases share",
                           "name one of patches/series")
    wanted = {name: where for name, where in listed.items() if paths.DEFAULT_BASE in where and
              (name in names or not names and any((paths.PATCHES_DIR / base / name / PART).exists()
                                                  for base in where))}
    order = sorted(bases.names(), key=lambda base: base != paths.DEFAULT_BASE)
    before = {base: before_hooks(base, [name for name, where in wanted.items() if base in where])
              for base in order}
    made = []
    for name, where in wanted.items():
        sides = []
        for base in order:
            if base in where and name in before[base]:
                sides.append(side(base, name, before[base][name], revision, *sides[:1] or [None]))
        made += write(name, sides)
    return made
