# SPDX-License-Identifier: GPL-2.0-only
"""herd7, which says what the kernel's memory model allows: Debian's own, never installed.

Of Debian's suites only sid has it, and it needs sid's C library: the loader of that library
starts it.
"""

import os
import re
import shutil
from pathlib import Path

from lab.base import apt, paths, proc, sources, stamp, ui

# Its stamp
KEY = "src-herd"
SUITE = "sid"
PACKAGES = ("herdtools7", "libc6", "libgmp10")
PROGRAM = "usr/bin/herd7"
MODELS = "usr/share/herdtools7/herd"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = f"{LIBRARIES}/ld-linux-x86-64.so.2"
# Of what the packages hold, what is kept: the other tools in them take 250 MB.
KEPT = (PROGRAM, MODELS, LIBRARIES)


def root() -> Path:
    return paths.in_build("herd")


def fetch(step: ui.Step, codename: str) -> None:
    """Have herd7; without the network if it is there."""
    if stamp.is_current(KEY, SUITE) and root().exists():
        step.note = "up to date"
        return
    stamp.clear(KEY)
    private = apt.Apt(codename, apt.only(SUITE, "deb"), "apt-herd")
    private.refresh(step)
    with sources.Staging(root()) as staging:
        for package in PACKAGES:
            sources.unpack_package(private, package, ".*", staging / "all", step)
        for name in KEPT:
            os.renames(staging / "all" / name, staging / name)
        shutil.rmtree(staging / "all")
    stamp.write(KEY, SUITE)


def observe(test: Path) -> tuple[str, list[str]]:
    """What a litmus test's condition is under the base's model, 'Never' for example, and flags."""
    argv: list[str | Path] = [
        root() / LOADER, "--library-path", root() / LIBRARIES, root() / PROGRAM,
        "-set-libdir", root() / MODELS, "-conf", "linux-kernel.cfg", test]
    said = proc.output(argv, cwd=sources.kernel() / "tools/memory-model")
    observation = re.search(r"^Observation \S+ (\w+)", said, re.MULTILINE)
    return (observation[1] if observation else "no observation",
            re.findall(r"^Flag (\S+)", said, re.MULTILINE))
