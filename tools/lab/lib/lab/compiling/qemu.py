# SPDX-License-Identifier: GPL-2.0-only
"""QEMU with the PT model: assembled from Debian's source, then built.

tools/emulator/qemu/ holds files of our own at their paths in QEMU's tree, and
patches/, the steps that bring them and hook them in. The assembled tree is the
sum of the steps and what only the lab has. It shares (by hard links) every
other file with the stock one. A change replaces only the files that differ,
so that ninja rebuilds only what depends on them.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lab.assembling import assemble as assemble_mod, steps as steps_mod
from lab.base import bases, cache, paths, proc, sources, stamp, trees, ui
from lab.base.errors import LabError

CONFIGURE = """
    --without-default-features --enable-tcg
    --enable-virtfs --enable-attr --enable-cap-ng --enable-fdt=system
    --enable-plugins --disable-docs --disable-download --disable-install-blobs
    --disable-user --disable-tools --disable-guest-agent --disable-debug-info
""".split()
# The processors that one build emulates, by QEMU's names; arches.py has others.
TARGETS = ("x86_64",)
PROGRESS = re.compile(r"\[(\d+)/(\d+)\]")
# The release that the lab builds, of those that the steps fit
RELEASE = sources.QEMU_RELEASE
# What the lab has beside the steps: the devices of its machines, and which packages of Python
# configure asks for, where the release's own list has some that the build does not use.
LAB_ONLY = "configs/"
PYTHON_ONLY = "pythondeps.toml"


def of(name: str, release: str) -> str:
    """What belongs to a release has its number in its name, but for the lab's own."""
    return name if release == RELEASE else f"{name}-{release}"


def tree(release: str = RELEASE) -> Path:
    return paths.in_build("src", of("qemu", release))


def home() -> Path:
    """Where the releases and the steps are."""
    return paths.QEMU_DIR / "patches"


def steps(release: str = RELEASE) -> list[steps_mod.Step]:
    """The steps for a release of QEMU, in order."""
    return steps_mod.read(bases.read(release, home()), paths.QEMU_DIR)


def lab_files(release: str = RELEASE) -> list[tuple[Path, Path]]:
    """(file, path in QEMU's tree) of what the lab has beside the steps, as a release needs it."""
    found = {}
    roots = bases.read(release, home()).overlays(paths.QEMU_DIR)
    for root in (paths.QEMU_DIR, *roots):
        for file in (root / PYTHON_ONLY, *sorted((root / LAB_ONLY).rglob("*"))):
            if file.is_file():
                found[file.relative_to(root)] = file
    return [(file, path) for path, file in found.items()]


def unlisted(found: Iterable[steps_mod.Step]) -> list[str]:
    """Files in tools/emulator/qemu that are for QEMU's tree and that no step brings."""
    brought = {path for step in found for path in step.files}
    files = (file.relative_to(paths.QEMU_DIR) for file in sorted(paths.QEMU_DIR.rglob("*"))
             if file.is_file())
    return [str(path) for path in files
            if path.parts[0] not in ("patches", LAB_ONLY.rstrip("/"))
            and str(path) not in brought]


def inputs_hash(release: str = RELEASE) -> str:
    parts = [f"{file} {stamp.of_files([file])}" for step in steps(release)
             for file in step.inputs()]
    parts += [f"{path} {stamp.of_files([file])}" for file, path in lab_files(release)]
    return stamp.of_text(stamp.read(sources.qemu_key(release)), *parts)


def assemble_into(directory: Path, release: str = RELEASE, count: int | None = None) -> None:
    """The steps, or the first so many of them, and what the lab has."""
    path: str | Path
    work = directory.with_name(f"{directory.name}.layer")
    shutil.rmtree(work, ignore_errors=True)
    try:
        found = steps(release)[:count]
        layer = assemble_mod.assemble(found, sources.qemu_stock(release), work)
        for path in layer.changed():
            trees.replace(layer.file(path), directory / path)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for file, path in lab_files(release):
        trees.replace(file, directory / path)


def check_edited(release: str = RELEASE) -> None:
    """Refuse a source of QEMU, and a tree of it, that somebody has edited."""
    ours = {str(path) for step in steps(release) for path in step.files}
    ours |= {str(path) for _, path in lab_files(release)}
    assemble_mod.refuse_edited((sources.qemu_stock(release), of("src-qemu", release)),
                               (tree(release), of("qemu-tree", release)), ours,
                               "tools/emulator/README.md")


def assemble(release: str = RELEASE) -> None:
    """Bring src/qemu up to date with the stock source and our files."""
    want, key, target = inputs_hash(release), of("qemu-tree", release), tree(release)
    if stamp.is_current(key, want) and target.exists():
        return
    stamp.clear(key)
    staging = target.with_name(f"{target.name}.partial")
    shutil.rmtree(staging, ignore_errors=True)
    trees.link_tree(sources.qemu_stock(release), staging)
    try:
        assemble_into(staging, release)
        if target.exists():
            trees.sync(staging, target)
        else:
            os.rename(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    stamp.write(key, want)


def _devices(source: Path, targets: Sequence[str]) -> list[str]:
    """
    Only those that the lab lists; 'lab bench objects' counts what is compiled.

    The stock tree has no such lists.
    """
    listed = [f"--with-devices-{target}=lab" for target in targets
              if (source / LAB_ONLY / f"devices/{target}-softmmu/lab.mak").exists()]
    return ["--without-default-devices", *listed] if listed else []


def options(source: Path, build: Path, targets: Sequence[str] = TARGETS) -> list[str]:
    """configure's arguments; messages name a source file by its place in QEMU's tree."""
    relative = os.path.relpath(source, build)
    maps = " ".join(f"-ffile-prefix-map={place}/=" for place in (source, relative))
    return [f"--target-list={','.join(f'{target}-softmmu' for target in targets)}", *CONFIGURE,
            *_devices(source, targets), f"--extra-cflags={maps}"]


def configure(source: Path, build: Path, log: Path, release: str = RELEASE,
              on_line: Callable[[str], None] | None = None,
              targets: Sequence[str] = TARGETS) -> None:
    version = stamp.read(sources.qemu_key(release))
    key = f"configure-{build.name}"
    want = stamp.of_text(source, version, *options(source, build, targets))
    if stamp.is_current(key, want) and (build / "build.ninja").exists():
        return
    stamp.clear(key)
    build.mkdir(parents=True, exist_ok=True)
    proc.run([source / "configure", "--python=/usr/bin/python3",
              *options(source, build, targets)], log, cwd=build,
             env={"PYTHONPATH": str(sources.meson())}, on_line=on_line,
             failed="cannot configure QEMU")
    stamp.write(key, want)


def binary(release: str = RELEASE, stock: bool = False, target: str = "x86_64") -> Path:
    """The emulator of a processor; all but x86-64 are in one build."""
    name = "qemu-stock" if stock else of("qemu", release)
    return paths.in_build(name if target in TARGETS else "qemu-other", f"qemu-system-{target}")


def build(step: ui.Step, stock: bool = False, release: str = RELEASE,
          targets: Sequence[str] = TARGETS) -> None:
    """ninja decides what has to be done; with nothing to do it takes a second."""
    check_edited(release)
    if not stock:
        assemble(release)
    source = sources.qemu_stock() if stock else tree(release)
    programs = [binary(release, stock, target) for target in targets]
    place, version = programs[0].parent, stamp.read(sources.qemu_key(release))
    key, words = f"ninja-{place.name}", options(source, place, targets)
    want = stamp.of_text(source, version, "" if stock else inputs_hash(release), *words)
    if stamp.is_current(key, want) and all(made.exists() for made in programs):
        step.note = "up to date"
        return
    log = paths.log_file(place.name)
    configure(source, place, log, release,
              lambda line: step.progress(f"configuring: {line}"), targets)

    def progress(line: str) -> None:
        if match := PROGRESS.match(line):
            step.count(int(match[1]), int(match[2]), line[match.end():].strip())
    stamp.clear(key)
    proc.run(["ninja", f"-j{proc.jobs()}", *(made.name for made in programs)], log, cwd=place,
             env={"PYTHONPATH": str(sources.meson()), **cache.of_any_clone(*words)},
             on_line=progress, failed="cannot build QEMU")
    for made in programs:
        check_binary(made)
    stamp.write(key, want)
    step.note = f"QEMU {version}"


def check_binary(made: Path) -> None:
    done = subprocess.run([str(made), "--version"], capture_output=True, check=False)
    if done.returncode:
        raise LabError(f"{Path(made).name} was built but does not run",
                       f"see {paths.log_file(made.parent.name)}")
