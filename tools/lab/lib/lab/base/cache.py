# SPDX-License-Identifier: GPL-2.0-only
"""The cache outside of the checkout: compiled objects, and files from the package mirror.

LAB_CACHE names its directory, and LAB_CACHE=off turns it off. A clone made again builds from it.
It holds nothing that a build needs: without it, or where it cannot be written, a build takes
longer and comes to the same. ccache finds an object by the compiler, its options and the contents
of all files that were read; a fetched file counts only if it has the checksum that the mirror's
signed index states.
"""

import functools
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths

OFF = "off"
DEFAULT = Path(".cache") / "aux-lab"
# Names of directories that nobody else would choose, as they are emptied.
COMPILED, FETCHED, FUZZED = "lab-compiled", "lab-fetched", "lab-fuzzed"
LIMITS = {COMPILED: 4 << 30, FETCHED: 2 << 30, FUZZED: 8 << 20}
# With less room on its disk, which a build may need, nothing is added.
ROOM = 2 << 30
# Debian's ccache has links here, named as the compilers.
LINKS = Path("/usr/lib/ccache")
MIB = 1 << 20


@dataclass(frozen=True)
class State:
    """Which directory is used, whether anything is added to it, and what is wrong with it."""

    directory: Path | None = None
    writable: bool = False
    problem: str = ""


class Without:
    """Whether this process calls compilers without ccache: it has failed, or is not worth while."""

    decided = False


def directory() -> Path | None:
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


def examine(wanted: Path) -> State:
    """The state of a directory; it is not made, but whether it can be is looked at."""
    if not os.path.lexists(wanted):
        return _examine_parent(wanted)
    places = [wanted, *(wanted / name for name in LIMITS if os.path.lexists(wanted / name))]
    for place in places:
        if reason := _distrusted(place):
            within = "" if place == wanted else f" has a part {place.name} that"
            return State(problem=f"{within} {reason}".strip())
    try:
        for place in places:
            _try_to_write(place)
    except OSError as error:
        return State(wanted, problem=f"cannot be written: {error.strerror}")
    free = shutil.disk_usage(wanted).free
    if free < ROOM:
        return State(wanted, problem=f"is on a full disk ({free // MIB} MiB free)")
    return State(wanted, True)


def _examine_parent(wanted: Path) -> State:
    parent = next(place for place in wanted.parents if os.path.lexists(place))
    if not parent.is_dir():
        return State(problem="is not a directory")
    if not os.access(parent, os.W_OK | os.X_OK):
        return State(problem=f"cannot be made in {parent}")
    return State(wanted, True)


def _distrusted(place: Path) -> str:
    """Why what is in a directory may not be what the lab has put there; empty if it is."""
    try:
        status = place.stat()
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory"
    if status.st_uid not in (os.geteuid(), 0):
        return f"belongs to another user ({_user(status.st_uid)})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by other users"
    if not os.access(place, os.R_OK | os.X_OK):
        return "cannot be read"
    return ""


def _try_to_write(place: Path) -> None:
    """Make a directory and a file: ccache ends the compiler where it cannot."""
    with tempfile.TemporaryDirectory(prefix="try.", dir=place) as directory:
        Path(directory, "file").write_bytes(b"x" * 4096)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


@functools.cache
def state() -> State:
    """Looked at once, before the first build: what has begun with a cache goes on with it."""
    wanted = directory()
    return examine(wanted) if wanted else State()


def warning() -> str:
    """What a user is told about a cache that cannot be used as asked for; empty if it can."""
    found = state()
    if not found.problem:
        return ""
    does = "reading it only" if found.directory else "building without a cache"
    return (f"lab: the cache {directory()} {found.problem}, {does}: "
            "set LAB_CACHE to a directory of yours, or to 'off'")


def part(name: str) -> Path | None:
    """A part of the cache in use, or None."""
    place = state().directory
    return place / name if place else None


def use_ccache() -> bool:
    return state().directory is not None and not Without.decided and (LINKS / "gcc").exists()


def has_failed(text: str) -> bool:
    """Whether what a build has said shows that ccache, not the compiler, ended it."""
    if "ccache: error:" not in text or Without.decided:
        return False
    Without.decided = True
    return True


def leave_empty() -> None:
    """
    Compile without the cache if it has no objects yet.

    Filling it adds a third to the time of a build. A later build would gain by that, but the user
    of 'make run' waits for a first trace.
    """
    place = part(COMPILED)
    if place and not place.exists():
        Without.decided = True


def make() -> None:
    """Make the directory, so that its mode is right, and have its state looked at again."""
    wanted = state().directory
    if wanted and not wanted.exists():
        try:
            wanted.mkdir(parents=True, mode=0o700)
        except OSError:
            pass
        state.cache_clear()


@functools.cache
def toolchain() -> str:
    """The packages of what the compiler's driver, which ccache looks at itself, runs."""
    packages = subprocess.run(["dpkg-query", "-W", "gcc-*", "cpp-*", "g++-*", "binutils*"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return packages.stdout.decode(errors="replace")


def namespace(*texts: str) -> str:
    """
    CCACHE_NAMESPACE for a build: objects of another namespace are not found.

    TEXTS is what an object depends on and ccache leaves out of account: options that map paths,
    packages of another compiler. The build directory's own path is the same in each clone.
    """
    said = "\0".join([toolchain(), *texts]).replace(str(paths.build_dir()), "BUILD")
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def base_directory() -> Path:
    """Paths below it are taken relative to where the compiler runs, the same in each clone."""
    build = paths.build_dir()
    return paths.ROOT if build.is_relative_to(paths.ROOT) else build


def of_any_clone(*texts: str) -> dict[str, str]:
    """
    Variables for a build whose objects other clones are to find; for TEXTS see namespace().

    ccache makes paths relative then, in lists of dependencies as well. Kbuild and QEMU do not take
    an object's own name from those, and perf is built from nothing if its source changes. A Makefile
    that includes them as they are would: if it names objects by absolute paths, an altered header
    would make it compile nothing.
    """
    return {"CCACHE_NAMESPACE": namespace(*texts), "CCACHE_BASEDIR": str(base_directory())}


def environment(path: str) -> dict[str, str]:
    """Variables by which the compilers that PATH finds are ccache's; only PATH without a cache."""
    path = ":".join(place for place in path.split(":") if Path(place) != LINKS)
    if not use_ccache():
        return {"PATH": path}
    env = {"PATH": f"{LINKS}:{path}", "CCACHE_DIR": str(part(COMPILED)),
           # Neither the machine's nor the user's settings change what counts as equal.
           "CCACHE_CONFIGPATH": "/dev/null",
           "CCACHE_COMPILERCHECK": "content", "CCACHE_NAMESPACE": namespace(),
           "CCACHE_MAXSIZE": f"{LIMITS[COMPILED] // MIB}Mi",
           "CCACHE_TEMPDIR": str(paths.in_build("ccache-tmp"))}
    return env if state().writable else {**env, "CCACHE_READONLY": "1"}


def clear_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The same variables without those that would change how ccache works."""
    return {name: value for name, value in env.items() if not name.startswith("CCACHE_")}


def _entry(checksum: str) -> Path | None:
    fetched = part(FETCHED)
    return fetched / checksum if fetched else None


def checksum_of(file: Path) -> str:
    with open(file, "rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def take(checksum: str, target: Path) -> None:
    """Copy a fetched file out of the cache, if it is there and is what its name says."""
    entry, partial = _entry(checksum), target.with_name(target.name + ".cached")
    if not entry or not entry.exists():
        return
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(entry, partial)
        if checksum_of(partial) == checksum:
            os.replace(partial, target)
            os.utime(entry)
        else:
            _remove(entry)
    except OSError:
        # The disk is full, or the cache is only read.
        pass
    _remove(partial)


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError:
        pass


def put(checksum: str, file: Path) -> None:
    """Keep a file whose checksum was compared; those unused for longest make room."""
    entry = _entry(checksum)
    if not entry or not state().writable or entry.exists():
        return
    partial = entry.with_name(f"{checksum}.{os.getpid()}")
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(entry.parent).free >= ROOM:
            shutil.copyfile(file, partial)
            os.replace(partial, entry)
    except OSError:
        _remove(partial)
    shrink(entry.parent, LIMITS[FETCHED])


def shrink(place: Path, limit: int) -> None:
    """Remove the files that were not used for longest until the rest is within the limit."""
    found = sorted(files_of(place), key=lambda file: file[1].st_mtime, reverse=True)
    total = 0
    for file, status in found:
        total += status.st_size
        if total > limit:
            _remove(file)


def files_of(place: Path) -> list[tuple[Path, os.stat_result]]:
    """(file, status) of each file below a directory; those that go meanwhile are left out."""
    found = []
    for top, _, names in os.walk(place):
        for name in names:
            try:
                found.append((Path(top, name), os.lstat(os.path.join(top, name))))
            except OSError:
                pass
    return found


def sizes() -> dict[str, int]:
    """{part: bytes that it takes} of the cache in use."""
    return {name: sum(status.st_size for _, status in files_of(place)) for name in LIMITS
            if (place := part(name))}


def empty() -> None:
    """Remove what the lab has put there, and the directory if nothing else is in it."""
    top = state().directory
    if not top:
        return
    for name in LIMITS:
        shutil.rmtree(top / name, ignore_errors=True)
    try:
        top.rmdir()
    except OSError:
        pass
