# SPDX-License-Identifier: GPL-2.0-only
"""'lab clean' and 'lab distclean': removal of what the lab itself has made.

Only names that the lab uses are removed, because LAB_BUILD may name a
directory that holds other things as well.
"""

import os
import shutil
from pathlib import Path

from lab.base import cache, paths, trees, ui
from lab.compiling import cross, qemu
from lab.series import abi, qemuseries, series
from lab.base.errors import LabError

BUILT = ("kernel", "perf", "perf-stock", "qemu", "qemu-stock", "guest", "kit", "run",
         "results", "log", "tests", "test-work", "bench", "checker", "checker-work", "workloads",
         "baremetal", "migrate", "packets", "steps", "mutants", "anytree", "series-git", "ccache-tmp",
         "dist", "deb", "deb-full", "deb-config", "qemu-other",
         "coverage", "fuzz", "fuzz-corpus", "selftests", "clock")
# 'make clean' keeps what a user has chosen.
CHOSEN = ("saved.config",)
# Where make and ninja build in what is there, by dates. Beside these, each kernel's directory does.
BY_DATE = ("perf", "perf-stock", "qemu", "qemu-stock", "qemu-other", "tests", "test-work", "checker",
           "workloads", "baremetal", "migrate", "packets", "steps", "mutants", "kit", "deb")
FETCHED = ("src", "dl", "apt", "meson", "libipt", "firmware", "stamps",
           "cross", "apt-cross", "herd", "apt-herd", "root",
           *(f"apt-{debian}" for debian in cross.DEBIAN.values()))
SOURCE_STAMPS = ("src-", "version-", "cross-", "packages-", "root-")


def built() -> tuple[str, ...]:
    """What is built, and the patches of this base and of kernels that are none."""
    qemus = [name for release in qemuseries.releases()
             for name in (qemuseries.patches_dir(release).name, f"qemu-series-{release}.git",
                          f"qemu-{release}")]
    others = [place.name for place in paths.build_dir().glob("series-[0-9]*.[0-9]*.[0-9]*")]
    return (*BUILT, series.patches_dir().name, *others, abi.file().name, *qemus)


def _remove(name: str) -> None:
    path = paths.build_dir() / name
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def clean() -> None:
    """Back to the fetched sources: the next build needs no network."""
    for name in built():
        _remove(name)
    for stamp in (paths.build_dir() / "stamps").glob("*"):
        if not stamp.name.startswith(SOURCE_STAMPS):
            stamp.unlink()
    trees = [qemu.tree(release).name for release in qemuseries.releases()]
    for tree in (*trees, "linux-series"):
        shutil.rmtree(paths.build_dir() / "src" / tree, ignore_errors=True)


def _now() -> float:
    """The date that a file of the build directory gets now: its disk may have a clock of its own."""
    file = paths.to_write(paths.in_build("clock"))
    file.write_text("")
    return file.stat().st_mtime


def _later_traces(now: float) -> list[Path]:
    """Logs, stamps and results of tests with a date to come; whatever is built leaves some of them."""
    return [file for name in ("log", "stamps", "results") for file in paths.in_build(name).glob("*")
            if trees.is_later(file, now)]


def clock_went_back() -> bool:
    """Whether something was built at a time that is still to come."""
    return bool(_later_traces(_now()))


def forget_future() -> None:
    """
    Make nothing depend on dates that are still to come.

    make and ninja go by dates: a source that is changed now would be older than the object that was
    made of it, so such objects go. So does the check that nobody has edited a tree: its files and its
    stamp have all been written now. An edit since the clock went back is not noticed.
    """
    now = _now()
    places = [paths.in_build(name) for name in (*BY_DATE, *(f"qemu-{release}" for release in
                                                             qemuseries.releases()))]
    kernels = paths.in_build("kernel")
    places += kernels.iterdir() if kernels.is_dir() else ()
    places = [place for place in places if place.is_dir() and not place.is_symlink()]
    for place in trees.later_files(places, now):
        ui.say(f"lab: the clock has gone back since {paths.shown(place)} was built, it is removed")
        shutil.rmtree(place, ignore_errors=True)
        if place.exists():
            raise LabError(f"cannot remove {place}", "remove it, it is older than it looks")
    source = paths.in_build("src")
    found = trees.later_files([source] if source.is_dir() else [], now).get(source, [])
    # The stamps last: what is newer than they are counts as edited.
    for file in [*found, *_later_traces(now)]:
        os.utime(file, (now, now), follow_symlinks=False)


def cache_only() -> None:
    """Empty the cache, which other clones share; they build without it, as the first one did."""
    wanted = cache.directory()
    if not wanted:
        raise LabError("there is no cache to empty", "LAB_CACHE is 'off'")
    found = cache.state()
    if not found.directory or found.problem.startswith("cannot be written"):
        raise LabError(f"cannot empty the cache {wanted}, which {found.problem}",
                       "set LAB_CACHE to a directory of yours")
    cache.empty()


def distclean() -> None:
    """As after a clone."""
    indices = tuple(f"apt-{suite}" for release in qemuseries.releases()
                    for suite in qemuseries.suites(release))
    for name in built() + FETCHED + CHOSEN + indices:
        _remove(name)
    for lock in paths.build_dir().glob("lock-*"):
        lock.unlink()
    directory = paths.build_dir()
    if directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
