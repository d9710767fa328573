# SPDX-License-Identifier: GPL-2.0-only
"""QEMU with the PT model: assembled from Debian's source, then built.

tools/lab/qemu/ holds files of our own at their paths in QEMU's tree, and
patches/*.patch, the hooks in QEMU's files. The assembled tree shares (by hard
links) every other file with the pristine one. A change replaces only the
files that differ, so that ninja rebuilds only what depends on them.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import cache
import guest
import paths
import proc
import sources
import stamp
import trees
from errors import LabError

CONFIGURE = """
    --target-list=x86_64-softmmu --without-default-features --enable-tcg
    --enable-virtfs --enable-attr --enable-cap-ng --enable-fdt=system
    --enable-plugins --disable-docs --disable-download --disable-install-blobs
    --disable-user --disable-tools --disable-guest-agent --disable-debug-info
""".split()
# 953 files are compiled in place of 1581. The pristine tree has no such list of devices.
DEVICES = ["--without-default-devices", "--with-devices-x86_64=lab"]
PROGRESS = re.compile(r"\[(\d+)/(\d+)\]")
# Notes beside the sources are for readers, not for QEMU's tree.
NOT_SOURCES = {"README.md", "README.rst"}


def tree():
    return paths.in_build("src", "qemu")


def own_files():
    """(file, path in QEMU's tree) for each file of ours."""
    files = []
    for file in sorted(paths.QEMU_DIR.rglob("*")):
        path = file.relative_to(paths.QEMU_DIR)
        if file.is_file() and path.parts[0] != "patches" and path.name not in NOT_SOURCES:
            files.append((file, path))
    return files


def patches():
    return sorted((paths.QEMU_DIR / "patches").glob("*.patch"))


def inputs_hash():
    parts = [stamp.of_files(patches())]
    parts += [f"{path} {stamp.of_files([file])}" for file, path in own_files()]
    return stamp.of_text(stamp.read("version-qemu"), *parts)


def _apply(patch, directory):
    for path in trees.patched_paths(patch):
        if (directory / path).exists():
            trees.unshare(directory / path)
    proc.run(["patch", "-p1", "--no-backup-if-mismatch", "-s", "-i", patch],
             paths.log_file("qemu-patch"), cwd=directory,
             failed=f"cannot apply {patch.name} to QEMU's source")


def assemble_into(directory):
    for patch in patches():
        _apply(patch, directory)
    for file, path in own_files():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy(file, target)


def assemble():
    """Bring src/qemu up to date with the pristine source and our files."""
    want = inputs_hash()
    if stamp.is_current("qemu-tree", want) and tree().exists():
        return
    stamp.clear("qemu-tree")
    staging = tree().with_name("qemu.partial")
    guest.remove(staging)
    trees.link_tree(sources.qemu_pristine(), staging)
    try:
        assemble_into(staging)
        if tree().exists():
            trees.sync(staging, tree())
        else:
            os.rename(staging, tree())
    finally:
        guest.remove(staging)
    stamp.write("qemu-tree", want)


def options(source, build):
    """configure's arguments; messages name a source file by its place in QEMU's tree."""
    relative = os.path.relpath(source, build)
    maps = " ".join(f"-ffile-prefix-map={place}/=" for place in (source, relative))
    devices = DEVICES if source == tree() else []
    return [*CONFIGURE, *devices, f"--extra-cflags={maps}"]


def configure(source, build, log, on_line=None):
    version = stamp.read("version-qemu")
    key = f"configure-{build.name}"
    want = stamp.of_text(source, version, *options(source, build))
    if stamp.is_current(key, want) and (build / "build.ninja").exists():
        return
    stamp.clear(key)
    build.mkdir(parents=True, exist_ok=True)
    proc.run([source / "configure", "--python=/usr/bin/python3", *options(source, build)], log,
             cwd=build, env={"PYTHONPATH": str(sources.meson())}, on_line=on_line,
             failed="cannot configure QEMU")
    stamp.write(key, want)


def build(step, pristine=False):
    """ninja decides what has to be done; with nothing to do it takes a second."""
    if not pristine:
        assemble()
    source = sources.qemu_pristine() if pristine else tree()
    binary = paths.in_build("qemu-pristine" if pristine else "qemu", "qemu-system-x86_64")
    key = f"ninja-{binary.parent.name}"
    want = stamp.of_text(source, stamp.read("version-qemu"),
                         "" if pristine else inputs_hash(), *options(source, binary.parent))
    if stamp.is_current(key, want) and binary.exists():
        step.note = "up to date"
        return
    log = paths.log_file(binary.parent.name)
    configure(source, binary.parent, log, lambda line: step.progress(f"configuring: {line}"))

    def progress(line):
        if match := PROGRESS.match(line):
            step.count(int(match[1]), int(match[2]), line[match.end():].strip())
    stamp.clear(key)
    proc.run(["ninja", f"-j{proc.jobs()}", binary.name], log, cwd=binary.parent,
             env={"PYTHONPATH": str(sources.meson()),
                  **cache.of_any_clone(*options(source, binary.parent))},
             on_line=progress, failed="cannot build QEMU")
    check_binary(binary)
    stamp.write(key, want)
    step.note = f"QEMU {stamp.read('version-qemu')}"


def check_binary(binary):
    done = subprocess.run([str(binary), "--version"], capture_output=True, check=False)
    if done.returncode:
        raise LabError(f"{Path(binary).name} was built but does not run",
                       f"see {paths.log_file(binary.parent.name)}")
