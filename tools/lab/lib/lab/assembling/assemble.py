# SPDX-License-Identifier: GPL-2.0-only
"""The tree of the series: the stock kernel with the steps of patches/ applied.

A step is applied in this order: what goes, the hooks, what comes. The tree in
build/src shares every other file with the base by hard links; of a change,
only the files that differ are replaced, so that make compiles only what
depends on them.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lab.assembling import (
    drop, grow, hooks, layer as layer_mod, maintainers, steps as steps_mod, uses)
from lab.base import bases, paths, proc, sources, stamp, trees, ui
from lab.base.errors import LabError

FUZZ = re.compile(r"Hunk #(\d+) succeeded at (\d+) with fuzz (\d+)")
SHOWN = 5


@dataclass
class Assembly:
    """Steps being applied to a layer, with what has to be known from one to the next."""

    layer: layer_mod.Layer
    root: Path = field(default_factory=lambda: paths.OVERLAY_DIR)
    say: Callable[[str], None] = ui.say
    # is given each step whose hooks come next, and the layer that they find
    watch: Callable[[steps_mod.Step, layer_mod.Layer], None] = lambda step, tree: None
    dropped: list[drop.Dropped] = field(default_factory=list)
    ours: dict[str, str] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)
    finder: uses.Finder | None = None

    def apply(self, step: steps_mod.Step) -> None:
        self._drop(step)
        if step.hooks:
            self._hook(step, step.hooks)
        for path, file in step.files.items():
            self.layer.put(path, file)
            if path in step.forms:
                self.layer.writable(path).write_bytes(step.forms[path])
            self.ours[path] = step.name
        if step.grow:
            grow.patch(step.grow, self.layer.root)
        if step.maintainers:
            self._merge_maintainers(step)
        self._check_uses(step)

    def _in_step(self, step: steps_mod.Step, part: str, error: LabError) -> LabError:
        return LabError(step.called(part), str(error))

    def _drop(self, step: steps_mod.Step) -> None:
        for path, symbols in step.drops.items():
            try:
                self._refuse_ours(path)
                if symbols is None:
                    if self.layer.exists(path):
                        self.dropped += drop.all_of(self.layer.file(path), path)
                    self.layer.remove(path)
                else:
                    self.dropped += drop.from_file(self.layer.writable(path), path, symbols)
            except LabError as error:
                raise self._in_step(step, "drop", error) from None

    def _refuse_ours(self, path: str) -> None:
        if path in self.ours:
            raise LabError(f"{path} is ours (from {self.ours[path]}), not the base's",
                           "edit the file itself")

    def _hook(self, step: steps_mod.Step, file: Path) -> None:
        before = {}
        for path in hook_targets(step, file):
            try:
                self._refuse_ours(path)
                before[path] = self.layer.writable(path).read_text(errors="surrogateescape")
            except LabError as error:
                raise self._in_step(step, "hooks.patch", error) from None
        self.watch(step, self.layer)
        text = file.read_text(errors="surrogateescape")
        reject = paths.to_write(paths.in_build("log", f"{step.name}.rej"))
        reject.unlink(missing_ok=True)
        done = subprocess.run(
            [proc.require("patch"), "-p1", "--force", "--no-backup-if-mismatch", "-r", str(reject),
             *(["--fuzz=0"] if hooks.is_narrow(text) else ()), "-i", str(file)],
            cwd=self.layer.root, text=True, capture_output=True, check=False,
            env=proc.environment())
        if done.returncode:
            raise hook_error(step, done.stdout + done.stderr, reject)
        for path, number in hooks.ambiguous(text, before):
            raise LabError(f"{step.called('hooks.patch')} fits {path} (hunk {number}) in two places",
                           "let it have more of the lines around")
        for line in fuzzy(done.stdout):
            self.say(f"  {step.called('hooks.patch')}: {line}")

    def _merge_maintainers(self, step: steps_mod.Step) -> None:
        text = (self.root / "MAINTAINERS").read_text()

        def elsewhere(pattern: str) -> bool:
            return any(self.root.glob(pattern.rstrip("/")))
        try:
            ours = maintainers.of_tree(text, self.layer.matching, elsewhere)
            target = self.layer.writable("MAINTAINERS")
            target.write_text(maintainers.merge(target.read_text(), ours, self.titles))
        except LabError as error:
            raise self._in_step(step, "files", error) from None
        self.titles.update(title for title, _ in ours)

    def _check_uses(self, step: steps_mod.Step) -> None:
        self.finder = self.finder or uses.Finder(self.layer)
        left = self.finder.leftovers(self.dropped)
        if left:
            places = [f"{path}:{line} uses {name}" for path, line, name in left[:SHOWN]]
            more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
            raise LabError(f"{step.called('drop')}: {'; '.join(places)}{more}, which nothing defines "
                           "any more", "drop or hook the uses too")


def hook_targets(step: steps_mod.Step, file: Path) -> list[str]:
    """The base's files that the hooks edit; neither new files nor removals."""
    text = file.read_text()
    if re.search(r"^(?:---|\+\+\+) /dev/null", text, re.MULTILINE):
        raise LabError(f"{step.called('hooks.patch')} adds or removes a file",
                       "add files in the overlay, and remove them by 'drop'")
    targets = trees.patched_paths(file)
    if not targets:
        raise LabError(f"{step.called('hooks.patch')} is no unified diff", "make it with diff -up")
    return targets


def hook_error(step: steps_mod.Step, output: str, reject: Path) -> LabError:
    """Names the file and the hunks that do not apply."""
    where = f"see {paths.shown(reject)}" if reject.exists() else "correct the patch"
    return LabError(f"{step.called('hooks.patch')} does not apply to {grow.refused(output)}", where)


def fuzzy(output: str) -> list[str]:
    file, found = "", []
    for line in output.splitlines():
        if match := grow.FILE.search(line):
            file = match[1]
        elif match := FUZZ.search(line):
            found.append(f"hunk {match[1]} fits {file}:{match[2]} only with fuzz {match[3]}")
    return found


def tree(name: str = paths.SERIES) -> Path:
    return paths.in_build("src", f"linux-{name}")


def inputs_hash() -> str:
    return steps_mod.inputs_hash(steps_mod.read())


def assemble(steps: Iterable[steps_mod.Step], base: Path, root: Path) -> layer_mod.Layer:
    """The layer that all the steps make of the base."""
    assembly = Assembly(layer_mod.Layer(base, root))
    for step in steps:
        assembly.apply(step)
    return assembly.layer


def _changed_file(name: str) -> Path:
    """Which files of the tree are not the base's, also if an update was cut short."""
    return paths.in_build("stamps", f"changed-linux-{name}")


def changed_paths(name: str = paths.SERIES) -> list[str]:
    """Files of the tree that are not the base's, those that it lacks included."""
    try:
        return _changed_file(name).read_text().splitlines()[1:]
    except OSError:
        return []


def _prepare_tree(name: str) -> set[str]:
    """A tree of this base, and the paths in it that may differ from the base."""
    version, record = stamp.read("version-linux"), _changed_file(name)
    if tree(name).exists() and record.exists():
        lines = record.read_text().splitlines()
        if lines[0] == version:
            return set(lines[1:])
    for directory in (tree(name), *paths.in_build("kernel").glob(f"{name}*")):
        shutil.rmtree(directory, ignore_errors=True)
    partial = tree(name).with_name(f"linux-{name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    trees.link_tree(sources.kernel(), partial)
    paths.to_write(record).write_text(version + "\n")
    os.rename(partial, tree(name))
    return set()


def _update(target: Path, layer: layer_mod.Layer, path: str) -> bool:
    """Bring one file of the tree to what the layer has; true if it had to change."""
    if not layer.exists(path):
        existed = target.exists()
        target.unlink(missing_ok=True)
        return existed
    source = layer.file(path)
    if (target.exists() and trees.same(source, target)
            and trees.is_executable(source) == trees.is_executable(target)):
        return False
    trees.replace(source, target)
    return True


def bring(layer: layer_mod.Layer, name: str) -> int:
    """Make the tree in build/src what the layer is; the number of files that changed."""
    before, record = _prepare_tree(name), _changed_file(name)
    wanted, version = set(layer.touched()), stamp.read("version-linux")
    record.write_text("\n".join([version, *sorted(before | wanted)]) + "\n")
    count = sum(_update(tree(name) / path, layer, path) for path in sorted(before | wanted))
    record.write_text("\n".join([version, *sorted(wanted)]) + "\n")
    return count


def refuse_edited(base: tuple[Path, str], made: tuple[Path, str], ours: Collection[str],
                  manual: str = "Documentation/lab/series.rst") -> None:
    """
    Refuse trees in which a file of the base or of ours was written after they were made.

    They share their files, so an edit of one may be in both, and in the patches made of them. What
    others leave in a tree, such as an index of its functions, is not looked at. Each of the two is
    a directory and its stamp.
    """
    for place, key in (base, made):
        for path in trees.written_after(place, stamp.file(key)) if place.exists() else ():
            if path in ours or (base[0] / path).exists():
                both = " ".join(paths.shown(one) for one, _ in (base, made))
                raise LabError(f"{paths.shown(place / path)} was edited, and the base's file may "
                               "have changed with it",
                               f"bring the change into a step ({manual}), then run "
                               f"'rm -r {both}' and build again")


def check_edited(name: str) -> None:
    """Refuse a source of the kernel, and a tree of it, that somebody has edited."""
    refuse_edited((sources.kernel(), "src-linux"), (tree(name), f"tree-{name}"),
                  set(changed_paths(name)))


def up_to_date(step: ui.Step, name: str = paths.SERIES, count: int | None = None) -> None:
    """Assemble build/src/linux-series if anything that it is made of has changed.

    With a count, only that many steps are applied.
    """
    bases.check()
    check_edited(name)
    found = steps_mod.read()[:count]
    for path in steps_mod.unlisted(found) if count is None else []:
        ui.say(f"  {path}: no step brings this file")
    want = steps_mod.inputs_hash(found)
    if stamp.is_current(f"tree-{name}", want) and tree(name).exists():
        step.note = f"{len(found)} steps, up to date"
        return
    stamp.clear(f"tree-{name}")
    work = paths.in_build("src", f"linux-{name}.layer")
    shutil.rmtree(work, ignore_errors=True)
    try:
        count = bring(assemble(found, sources.kernel(), work), name)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    stamp.write(f"tree-{name}", want)
    step.note = f"{len(found)} steps, {count} files replaced"
