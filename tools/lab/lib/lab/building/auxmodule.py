# SPDX-License-Identifier: GPL-2.0-only
"""The module with the AUX PMU that has no hardware, for one of the lab's kernels."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from lab.base import paths, proc
from lab.building import build
from lab.compiling import kernel
from lab.base.errors import LabError

SOURCE = paths.BENCH_DIR / "aux"
NATIVE = paths.TESTS_DIR / "native"
SELFTESTS = paths.ROOT / "tools/testing/selftests/perf_events"


def make(name: str, work: Path, log: Path, debug: bool = False) -> Path:
    """Build it in an empty directory, outside of the checkout; the module's path."""
    return make_of(SOURCE, ("Kbuild", "aux_bench.c", "aux_bench.h"), name, work, log, debug)


def make_of(source: Path, files: Sequence[str], name: str, work: Path, log: Path,
            debug: bool = False) -> Path:
    """The same of any module: the second of the files is its source; the module's path."""
    built = paths.kernel_dir(name, debug)
    if not paths.vmlinux(name, debug).exists():
        raise LabError(f"no kernel '{paths.kernel_name(name, debug)}'",
                       f"run 'lab build --kernel {name}{' --debug' if debug else ''}'")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for file in files:
        shutil.copy(source / file, work)
    module = (work / files[1]).with_suffix(".ko")
    failed = f"cannot build {module}"
    # make builds no modules with the lab's kernels, so nothing has prepared for one.
    with build.locked(f"kernel-{paths.kernel_name(name, debug)}"):
        kernel.make(name, built, ["modules_prepare"], log, failed=failed)
        proc.run(["make", "-C", built, f"M={work}", *kernel.reproducible(name, built),
                  f"KBUILD_EXTRA_SYMBOLS={built / 'vmlinux.symvers'}", "modules"], log,
                 env=kernel.compiling(name, built), failed=failed)
    return module


def make_program(source: Path, program: Path, log: Path,
                 selftests: Sequence[str] = ()) -> Path:
    """A program that drives it, static: so no dynamic linker has page faults.

    It may take more of the kselftests' files than those that several of them share.
    """
    sources = [source, SOURCE / "load.c", NATIVE / "points.c", NATIVE / "partner.c",
               *(SELFTESTS / file for file in ("aux_util.c", "aux_util_cgroup.c", *selftests))]
    includes = [f"-I{directory}" for directory in (SOURCE, NATIVE, SELFTESTS)]
    proc.run(["gcc", "-Wall", "-Wextra", "-O2", "-static", *includes, "-o",
              paths.to_write(Path(program)), *sources], log, failed=f"cannot build {source.name}")
    return program
