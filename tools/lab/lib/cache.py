# SPDX-License-Identifier: GPL-2.0-only
"""The cache outside of the checkout: compiled objects, and files from the package mirror.

LAB_CACHE names its directory, and LAB_CACHE=off turns it off. A clone made anew builds from it.
It holds nothing that a build needs: without it, or where it cannot be written, a build takes
longer and comes to the same. What ccache finds there it compares by the compiler, its options and
the contents of all files that were read; a fetched file counts only if it has the checksum that
the mirror's signed index states.
"""

import functools
import hashlib
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import paths

OFF = "off"
DEFAULT = Path(".cache") / "aux-lab"
COMPILED, FETCHED = "compiled", "fetched"
# The debug kernel is a third of a GiB here, another kernel a tenth.
LIMITS = {COMPILED: 4 << 30, FETCHED: 2 << 30}
# With less room on its disk, nothing is added.
ROOM = 512 << 20
# Debian's ccache has links here, named as the compilers.
LINKS = Path("/usr/lib/ccache")
MIB = 1 << 20


@dataclass(frozen=True)
class State:
    """Which directory is used, whether it may be written, and what is wrong with it if anything is."""

    directory: Path = None
    writable: bool = False
    problem: str = ""


def directory():
    """The directory that is asked for; None for no cache."""
    given = os.environ.get("LAB_CACHE", "")
    if given == OFF:
        return None
    if given:
        return Path(given).absolute()
    top = os.environ.get("XDG_CACHE_HOME") or ""
    if top.startswith("/"):
        return Path(top) / DEFAULT.name
    return Path(os.environ.get("HOME") or "/") / DEFAULT


def examine(wanted):
    """The state of a directory, which is made if it is not there."""
    try:
        wanted.mkdir(parents=True, exist_ok=True, mode=0o700)
        owner = wanted.stat().st_uid
    except (FileExistsError, NotADirectoryError):
        return State(problem="is not a directory")
    except OSError as error:
        return State(problem=f"cannot be made: {error.strerror}")
    if owner not in (os.geteuid(), 0):
        return State(problem=f"belongs to another user ({_user(owner)})")
    if not os.access(wanted, os.R_OK | os.X_OK):
        return State(problem="cannot be read")
    if not os.access(wanted, os.W_OK):
        return State(wanted, problem="cannot be written")
    free = shutil.disk_usage(wanted).free
    if free < ROOM:
        return State(wanted, problem=f"is on a full disk ({free // MIB} MiB free)")
    return State(wanted, True)


def _user(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


@functools.cache
def state():
    """Looked at once, before the first build: what has begun with a cache goes on with it."""
    wanted = directory()
    return examine(wanted) if wanted else State()


def warning():
    """What a user is told about a cache that cannot be used as asked for; empty if it can."""
    found = state()
    if not found.problem:
        return ""
    does = "reading it only" if found.directory else "building without a cache"
    return (f"lab: the cache {directory()} {found.problem}, {does}: "
            "set LAB_CACHE to a directory of yours, or to 'off'")


def part(name):
    """A part of the cache in use, or None."""
    return state().directory / name if state().directory else None


def use_ccache():
    return state().directory is not None and (LINKS / "gcc").exists()


@functools.cache
def toolchain():
    """
    What an object depends on beside the compiler's program, the options and the sources.

    That is what the compiler runs, and the packages that system headers are of: ccache takes the
    headers from the compiler's list of dependencies, and -MMD leaves those of the system out.
    """
    packages = subprocess.run(["dpkg-query", "-W", "gcc-*", "cpp-*", "g++-*", "binutils*", "*-dev"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return hashlib.sha256(packages.stdout).hexdigest()[:16]


def base_directory():
    """Paths below it are taken relative to where the compiler runs, the same in each clone."""
    build = paths.build_dir()
    return paths.ROOT if build.is_relative_to(paths.ROOT) else build


def environment(path):
    """Variables by which the compilers that PATH finds are ccache's; only PATH without a cache."""
    if not use_ccache():
        return {"PATH": path}
    env = {"PATH": f"{LINKS}:{path}", "CCACHE_DIR": str(part(COMPILED)),
           # Neither the machine's nor the user's settings change what counts as equal.
           "CCACHE_CONFIGPATH": "/dev/null", "CCACHE_BASEDIR": str(base_directory()),
           "CCACHE_COMPILERCHECK": "content", "CCACHE_NAMESPACE": toolchain(),
           "CCACHE_DEPEND": "1",
           "CCACHE_MAXSIZE": str(LIMITS[COMPILED]),
           "CCACHE_TEMPDIR": str(paths.in_build("ccache-tmp"))}
    return env if state().writable else {**env, "CCACHE_READONLY": "1"}


def clear_environment(env):
    """The same variables without those that would change how ccache works."""
    return {name: value for name, value in env.items() if not name.startswith("CCACHE_")}


def _entry(checksum):
    return part(FETCHED) / checksum if part(FETCHED) else None


def take(checksum, target):
    """Copy a fetched file out of the cache; it is the caller's to compare its checksum."""
    entry = _entry(checksum)
    if not entry or target.exists():
        return
    try:
        shutil.copyfile(entry, target)
        os.utime(entry)
    except OSError:
        # Nothing there, or a cache that is only read.
        pass


def drop(checksum):
    """Forget a file that was not what its name says."""
    if entry := _entry(checksum):
        _remove(entry)


def _remove(file):
    try:
        file.unlink(missing_ok=True)
    except OSError:
        pass


def put(checksum, file):
    """Keep a file whose checksum was compared; those unused for longest make room."""
    entry = _entry(checksum)
    if not entry or not state().writable or entry.exists():
        return
    partial = entry.with_name(f"{checksum}.{os.getpid()}")
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, partial)
        os.replace(partial, entry)
    except OSError:
        _remove(partial)
    shrink(entry.parent, LIMITS[FETCHED])


def shrink(place, limit):
    """Remove the files that were not used for longest until the rest is within the limit."""
    found = sorted(files_of(place), key=lambda file: file[1].st_mtime, reverse=True)
    total = 0
    for file, status in found:
        total += status.st_size
        if total > limit:
            _remove(file)


def files_of(place):
    """(file, status) of each file below a directory; those that go meanwhile are left out."""
    found = []
    for top, _, names in os.walk(place):
        for name in names:
            try:
                found.append((Path(top, name), os.lstat(os.path.join(top, name))))
            except OSError:
                pass
    return found


def sizes():
    """{part: bytes that it takes} of the cache in use."""
    return {name: sum(status.st_size for _, status in files_of(part(name))) for name in LIMITS}


def empty():
    """Remove what the lab has put there, and the directory if nothing else is in it."""
    for name in LIMITS:
        shutil.rmtree(part(name), ignore_errors=True)
    try:
        state().directory.rmdir()
    except OSError:
        pass
