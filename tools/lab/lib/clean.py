# SPDX-License-Identifier: GPL-2.0-only
"""'lab clean' and 'lab distclean': removal of what the lab itself has made.

Only names that the lab uses are removed, because LAB_BUILD may name a
directory that holds other things as well.
"""

import abi
import cache
import cross
import guest
import paths
import qemu
import qemuseries
import series
from errors import LabError

BUILT = ("kernel", "perf", "perf-stock", "qemu", "qemu-pristine", "guest", "kit", "run",
         "results", "log", "tests", "test-work", "bench", "judge", "judge-work", "workloads",
         "baremetal", "migrate", "packets", "steps", "altered", "series-git", "ccache-tmp",
         "deb", "deb-full", "deb-config", "qemu-other",
         "coverage", "fuzz", "fuzz-corpus")
# 'make clean' keeps what a user has chosen.
CHOSEN = ("saved.config",)
FETCHED = ("src", "dl", "apt", "meson", "libipt", "firmware", "stamps",
           "cross", "apt-cross", "root", *(f"apt-{debian}" for debian in cross.DEBIAN.values()))
SOURCE_STAMPS = ("src-", "version-", "cross-", "packages-", "root-")


def built():
    """What is built, and the patches of this base."""
    qemus = [name for release in qemuseries.releases()
             for name in (qemuseries.patches_dir(release).name, f"qemu-series-{release}.git",
                          f"qemu-{release}")]
    return (*BUILT, series.patches_dir().name, abi.file().name, *qemus)


def _remove(name):
    path = paths.build_dir() / name
    if path.is_dir() and not path.is_symlink():
        guest.remove(path)
    else:
        path.unlink(missing_ok=True)


def clean():
    """Back to the fetched sources: the next build needs no network."""
    for name in built():
        _remove(name)
    for stamp in (paths.build_dir() / "stamps").glob("*"):
        if not stamp.name.startswith(SOURCE_STAMPS):
            stamp.unlink()
    trees = [qemu.tree(release).name for release in qemuseries.releases()]
    for tree in (*trees, "linux-series"):
        guest.remove(paths.build_dir() / "src" / tree)


def cache_only():
    """Empty the cache, which other clones share; they build without it, as the first one did."""
    wanted = cache.directory()
    if not wanted:
        raise LabError("there is no cache to empty", "LAB_CACHE is 'off'")
    found = cache.state()
    if not found.directory or found.problem.startswith("cannot be written"):
        raise LabError(f"cannot empty the cache {wanted}, which {found.problem}",
                       "set LAB_CACHE to a directory of yours")
    cache.empty()


def distclean():
    """As after a clone."""
    indices = tuple(f"apt-qemu-{release}" for release in qemuseries.releases())
    for name in built() + FETCHED + CHOSEN + indices:
        _remove(name)
    for lock in paths.build_dir().glob("lock-*"):
        lock.unlink()
    directory = paths.build_dir()
    if directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
