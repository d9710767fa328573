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
import trees
import ui
from errors import LabError

BUILT = ("kernel", "perf", "perf-stock", "qemu", "qemu-pristine", "guest", "kit", "run",
         "results", "log", "tests", "test-work", "bench", "judge", "judge-work", "workloads",
         "baremetal", "migrate", "packets", "steps", "altered", "series-git", "ccache-tmp",
         "deb", "deb-full", "deb-config", "qemu-other",
         "coverage", "fuzz", "fuzz-corpus", "selftests")
# 'make clean' keeps what a user has chosen.
CHOSEN = ("saved.config",)
# Of what is built, that which neither make nor ninja makes, or makes as a whole each time.
NOT_BY_DATE = ("results", "log", "run", "ccache-tmp", "fuzz", "fuzz-corpus")
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


def from_the_future():
    """
    What is built and has files with a date that is still to come: the clock has gone back.

    make and ninja go by dates. A file that is changed now would be older than what was made of it.
    Whatever is built leaves a log, a stamp or results of tests, which are few to look at.
    """
    traces = (file for name in ("log", "stamps", "results") for file in paths.in_build(name).glob("*"))
    if not any(trees.is_future(file) for file in traces):
        return []
    places = [paths.in_build(name) for name in built() if name not in NOT_BY_DATE]
    kernels = paths.in_build("kernel")
    places += kernels.iterdir() if kernels.is_dir() else ()
    return trees.with_future([place for place in places if place != kernels and place.is_dir()
                              and not place.is_symlink()])


def forget_future():
    """Remove what was built by a clock that has gone back since; it is built anew."""
    for place in from_the_future():
        ui.say(f"lab: the clock has gone back since {paths.shown(place)} was built, it is removed")
        guest.remove(place)


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
