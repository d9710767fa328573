# SPDX-License-Identifier: GPL-2.0-only
"""What the machine must be and have before anything is built on it."""

import contextlib
import errno
import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab.base import cache, paths, proc, ui
from lab.base.errors import LabError

RELEASES = {"12": "bookworm", "13": "trixie"}
GIB = 1 << 30
# Sources 2.6, kernel 0.3, perf, two QEMUs 0.6, downloads and indices 0.6;
# the kernels that the tests build are within that, too.
NEEDED_GIB = 6
# With less room, in bytes, a disk is full.
FULL = 1 << 20
NO_TEMPORARY = "No usable temporary directory"

# Names that Debian 12 and 13 share.
PACKAGES = """
    gcc libc6-dev libc6-dbg make bc bison flex patch tar xz-utils dpkg-dev
    debian-archive-keyring ca-certificates
    libelf-dev libdw-dev libssl-dev zlib1g-dev libtraceevent-dev libiberty-dev g++
    ninja-build pkg-config python3-venv python3-dev python3-setuptools libglib2.0-dev
    libattr1-dev libcap-ng-dev libfdt-dev gcc-multilib gdb
    git universal-ctags perl
""".split()


def os_release(path: str | Path = "/etc/os-release") -> dict[str, str]:
    try:
        text = Path(path).read_text()
    except OSError:
        return {}
    pairs = (word.partition("=") for word in shlex.split(text, comments=True))
    return {key: value for key, _, value in pairs}


def check_system(release: Mapping[str, str], machine: str) -> str:
    """The code name of a supported Debian, or the error."""
    if machine != "x86_64":
        raise LabError(f"unsupported architecture {machine}",
                       "the lab emulates x86-64 on x86-64; use an amd64 machine")
    name = release.get("PRETTY_NAME", "this system")
    version = release.get("VERSION_ID", "")
    if release.get("ID") != "debian" or version not in RELEASES:
        raise LabError(f"unsupported distribution: {name}",
                       "use Debian 12 or 13, for example in a container or chroot")
    return RELEASES[version]


def codename() -> str:
    return check_system(os_release(), platform.machine())


def check_space(directory: str | Path, needed: float) -> None:
    """Room for a build; what an earlier build holds already counts."""
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise LabError(
            f"not enough disk space at {directory}: {free / GIB:.1f} GiB free, "
            f"{needed / GIB:.1f} GiB needed",
            "free some or set LAB_BUILD to a directory with more room")


def is_full_disk(error: OSError) -> bool:
    """Whether an OSError is about room; of all directories for temporary files, Python says this."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or NO_TEMPORARY in str(error)


def _is_full(place: str | Path) -> bool:
    """Whether a directory has no room, or no more files."""
    try:
        status = os.statvfs(place)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize < FULL or bool(status.f_files and not status.f_favail)


def full_disk(error: OSError) -> LabError:
    """What a user is told of such an error; most do not say where, so the places are looked at."""
    places: dict[str, str | Path | None] = {
        "LAB_BUILD": paths.build_dir(), "TMPDIR": os.environ.get("TMPDIR") or "/tmp",
        "LAB_CACHE": cache.directory()}
    full = {name: str(place) for name, place in places.items() if place and _is_full(place)}
    if full:
        return LabError(f"no space left at {' and '.join(full.values())}",
                        f"free some or set {' and '.join(full)} to a directory with more room")
    if NO_TEMPORARY in str(error):
        return LabError(error.strerror, "set TMPDIR to a directory that can be written")
    where = f"at {error.filename}" if error.filename else "where the output goes"
    return LabError(f"no space left {where}, or a quota is used up", "free some")


@contextlib.contextmanager
def told_if_full() -> Iterator[None]:
    """An OSError of a disk that is full becomes what a user is told of it."""
    try:
        yield
    except OSError as error:
        if is_full_disk(error):
            raise full_disk(error) from None
        raise


def told(error: LabError) -> LabError | str:
    """What a user is told of a LabError: also of room, if the command that failed had none."""
    try:
        text = Path(error.log).read_text(errors="replace") if error.log else ""
    except OSError:
        return error
    # proc.run() begins with the command; earlier ones are in the log as well.
    _, mark, said = f"\n{text}".rpartition("\n$ ")
    if not mark or not any(os.strerror(number) in said for number in (errno.ENOSPC, errno.EDQUOT)):
        return error
    return f"{error}; {full_disk(OSError(errno.ENOSPC, '', str(paths.build_dir())))}"


def needed_space() -> float:
    """Less is needed once the largest parts are there."""
    kernel = any(paths.vmlinux(name).exists() for name in (paths.SERIES, paths.SMALL))
    done = sum((kernel, paths.qemu().exists()))
    return (NEEDED_GIB - 2.5 * done) * GIB


def check_build_dir(needed: float | None = None) -> None:
    """The build directory can be made, written, named to QEMU and make, and has room."""
    directory = paths.build_dir()
    if any(c in str(directory) for c in " :,\t'\""):
        raise LabError(f"cannot build in '{directory}'",
                       "make and QEMU need a path without spaces, colons, commas and quotes")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"cannot make {directory}: {error.strerror}",
                       "set LAB_BUILD to a directory that can be written") from None
    if not os.access(directory, os.W_OK):
        raise LabError(f"cannot write in {directory}",
                       "set LAB_BUILD to a directory that can be written")
    check_space(directory, needed_space() if needed is None else needed)


def is_installed(package: str) -> bool:
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() == "installed"


def missing_packages(packages: Sequence[str] | None = None) -> list[str]:
    proc.require("dpkg-query")
    wanted = packages or [*PACKAGES, *(["ccache"] if cache.state().directory else [])]
    return [package for package in wanted if not is_installed(package)]


def authorize(more: Sequence[str] = ()) -> None:
    """Let sudo ask for its password here, where no line is drawn over the question."""
    if os.geteuid() and shutil.which("sudo") and (more or missing_packages()):
        subprocess.run(["sudo", "-v"], check=False)


def root_prefix(command: str) -> list[str]:
    """sudo where needed; without it, the command that the user can give."""
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo"):
        raise LabError("packages are missing and neither root nor sudo is at hand",
                       f"as root, run '{command}'")
    return ["sudo", "DEBIAN_FRONTEND=noninteractive"]


def _candidate(package: str) -> bool:
    text = proc.output(["apt-cache", "policy", package])
    return "Candidate: " in text and "Candidate: (none)" not in text


def install_packages(step: ui.Step, packages: Sequence[str] | None = None) -> None:
    """Only what is missing; says so before it starts. Without a list, what a build needs."""
    missing = missing_packages(packages)
    if not missing:
        step.note = "nothing is missing"
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    prefix = root_prefix(" ".join(install))
    ui.say(f"  installing: {' '.join(missing)}")
    log = paths.log_file("packages")
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    remedy = f"cannot install {' '.join(missing)}"
    if not all(_candidate(package) for package in missing):
        proc.run([*prefix, "apt-get", "update"], log, env=env,
                 failed="cannot reach the package mirror; check the network "
                        "and /etc/apt/sources.list*")
    proc.run([*prefix, *install], log, env=env, on_line=step.progress, failed=remedy, whole=True)
    left = missing_packages(packages)
    if left:
        raise LabError(f"still not installed: {' '.join(left)}", f"see {log}")
    cache.toolchain.cache_clear()
    step.note = f"{len(missing)} installed"
