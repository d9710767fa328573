# SPDX-License-Identifier: GPL-2.0-only
"""Sources and firmware: fetched, checked, and unpacked as a whole or not at all."""

import os
import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from lab.base import bases, paths, proc, stamp, ui
from lab.base.apt import Apt
from lab.base.errors import LabError

# The release of QEMU that the lab builds
QEMU_RELEASE = "10.0"
# Of a release, by Debian's numbers
QEMU_VERSIONS = r"1:{}\..*"
QEMU_VERSION = QEMU_VERSIONS.format(re.escape(QEMU_RELEASE))
MESON_VERSION = r"1\.(?:[5-9]|\d\d)\..*"
# The first that knows event trace; Debian 12 has an older one.
LIBIPT_VERSION = r"(?:2\.[1-9]|[3-9]).*"
# The firmware is that of the QEMU which is built: a suite of the base may have a newer one.
FIRMWARE_VERSIONS = {"qemu-system-data": QEMU_VERSION}
FIRMWARE_FILES = {
    "qemu-system-data": ("usr/share/qemu", ("qboot.rom", "linuxboot_dma.bin", "pvh.bin",
                                            "kvmvapic.bin", "linuxboot.bin",
                                            "multiboot_dma.bin", "s390-ccw.img")),
    "seabios": ("usr/share/seabios", ("bios-microvm.bin", "bios-256k.bin")),
}


def kernel() -> Path:
    return paths.in_build("src", "linux-stock")


def qemu_stock(release: str = QEMU_RELEASE) -> Path:
    return paths.in_build("src", "qemu-stock" if release == QEMU_RELEASE
                          else f"qemu-{release}-stock")


def qemu_key(release: str = QEMU_RELEASE) -> str:
    """What the version of a release's source is kept as."""
    return "version-qemu" if release == QEMU_RELEASE else f"version-qemu-{release}"


def meson() -> Path:
    """Directory for PYTHONPATH that has a meson which is new enough."""
    return paths.in_build("meson", "usr", "lib", "python3", "dist-packages")


def libipt() -> Path:
    """Root of an unpacked libipt: headers and library."""
    return paths.in_build("libipt")


def downloads() -> Path:
    return paths.in_build("dl")


class Staging:
    """A directory that appears under its name only when it is complete."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(target.name + ".partial")

    def __enter__(self) -> Path:
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        return self.path

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            shutil.rmtree(self.target, ignore_errors=True)
            os.rename(self.path, self.target)
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def all_there(names: Collection[str] = ()) -> bool:
    """Whether nothing of all or of some has to be fetched; then the network is not touched."""
    return all(is_there(name, path) for name, path in parts().items()
               if not names or name in names)


def is_there(name: str, path: Path) -> bool:
    """Whether a part was fetched as a whole; the firmware, with the files that are wanted now."""
    files = FIRMWARE_FILES.values() if name == "firmware" else ()
    return stamp.is_current(f"src-{name}", "1") and path.exists() and all(
        (path / file).exists() for _, group in files for file in group)


def parts() -> dict[str, Path]:
    return {"linux": kernel(), "qemu": qemu_stock(), "meson": meson(),
            "libipt": libipt(), "firmware": paths.firmware()}


def fetch(apt: Apt, step: ui.Step, names: Collection[str] = ()) -> None:
    """Each part, or those named, that is not there yet; an interrupted one starts again."""
    getters: dict[str, Callable[[Apt, ui.Step], None]] = {
        "linux": fetch_kernel, "qemu": fetch_qemu, "meson": fetch_meson,
        "libipt": fetch_libipt, "firmware": fetch_firmware}
    for name, path in parts().items():
        if names and name not in names or is_there(name, path):
            continue
        stamp.clear(f"src-{name}")
        getters[name](apt, step)
        stamp.write(f"src-{name}", "1")


def newest_kernel(apt: Apt) -> str:
    """The newest release of the base; the mirror may have lost its package, as of backports."""
    base = bases.current()
    try:
        return apt.newest(base.package, suites=base.suites)
    except LabError:
        raise LabError(f"the package mirror has no {base.package}",
                       f"choose a mirror with {' or '.join(base.suites)}, or name what it has in "
                       f"{paths.shown(base.directory / 'base')}") from None


def fetch_kernel(apt: Apt, step: ui.Step) -> None:
    version = newest_kernel(apt)
    unpack_kernel(apt, version, kernel(), step)
    stamp.write("version-linux", version)


def unpack_kernel(apt: Apt, version: str, target: Path, step: ui.Step, name: str = "") -> None:
    """A release of the base's source in a directory, or of another package's."""
    name = name or bases.current().package
    step.progress(f"fetching {name} {version}")
    package = apt.download(name, version, downloads(), step.progress)
    step.progress(f"unpacking {package.name}")
    log = paths.log_file("unpack")
    with Staging(target) as staging:
        proc.run(["dpkg-deb", "-x", package, staging / "deb"], log,
                 failed=f"cannot unpack {package.name}")
        archive = next((staging / "deb/usr/src").glob("linux-source-*.tar.xz"))
        proc.run(["tar", "-C", staging, "--strip-components=1", "-xf", archive], log,
                 env={"XZ_OPT": "-T0"}, failed=f"cannot unpack {archive.name}")
        shutil.rmtree(staging / "deb", ignore_errors=True)


def fetch_qemu(apt: Apt, step: ui.Step, release: str = QEMU_RELEASE) -> None:
    version = apt.newest_source("qemu", QEMU_VERSIONS.format(re.escape(release)))
    step.progress(f"fetching qemu {version}")
    dsc = apt.download_source("qemu", version, downloads(), step.progress)
    step.progress(f"unpacking {dsc.name}")
    with Staging(qemu_stock(release)) as staging:
        # dpkg-source checks each file against the .dsc once more.
        proc.run(["dpkg-source", "-x", dsc, staging / "tree"],
                 paths.log_file("unpack"), failed=f"cannot unpack {dsc.name}")
        for entry in list((staging / "tree").iterdir()):
            os.rename(entry, staging / entry.name)
        os.rmdir(staging / "tree")
    stamp.write(qemu_key(release), version)


def unpack_package(apt: Apt, package: str, pattern: str, target: Path, step: ui.Step) -> str:
    """The files of a binary package, below a directory; its version."""
    version = apt.newest(package, pattern, apt.tool_suites())
    step.progress(f"fetching {package} {version}")
    file = apt.download(package, version, downloads(), step.progress)
    proc.run(["dpkg-deb", "-x", file, target], paths.log_file("unpack"),
             failed=f"cannot unpack {file.name}")
    return version


def fetch_meson(apt: Apt, step: ui.Step) -> None:
    with Staging(paths.in_build("meson")) as staging:
        unpack_package(apt, "meson", MESON_VERSION, staging, step)


def fetch_libipt(apt: Apt, step: ui.Step) -> None:
    with Staging(libipt()) as staging:
        for package in ("libipt2", "libipt-dev"):
            unpack_package(apt, package, LIBIPT_VERSION, staging, step)


def fetch_firmware(apt: Apt, step: ui.Step) -> None:
    """QEMU's firmware is not in Debian's source of QEMU: take the binaries."""
    with Staging(paths.firmware()) as staging:
        for package, (directory, names) in FIRMWARE_FILES.items():
            unpack_package(apt, package, FIRMWARE_VERSIONS.get(package, ".*"), staging / package,
                           step)
            for name in names:
                shutil.copy(staging / package / directory / name, staging / name)
            shutil.rmtree(staging / package, ignore_errors=True)
