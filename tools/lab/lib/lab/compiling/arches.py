# SPDX-License-Identifier: GPL-2.0-only
"""The processors other than x86-64 on which the lab boots the series.

On each of them the synthetic AUX PMUs run, and whatever AUX PMU its machine has. There is one
kernel for each, of the default base, with debug options and the tests within the kernel. Its root
is a directory with a shell and what is built statically; programs of this machine cannot run there.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.base import apt, paths, sources, stamp, ui
from lab.compiling import cross, guest, kconfig, kernel, qemu
from lab.compiling.kernel import Plain
from lab.base.errors import LabError

TREE = paths.SERIES
# Of the emulators, which are built as one.
EMULATORS = ("aarch64", "s390x")
# Programs of the guest's shell; busybox has them all in one.
APPLETS = """
    [ cat chmod chown cp cut date dd dmesg echo env expr false find grep head id kill ln ls mkdir
    mount mv nproc printf ps pwd rm rmdir sed seq sh sleep sort stat sync tail taskset test timeout
    touch tr true umount uname uniq wc which whoami xargs
""".split()
ROOT_DIRS = ("bin", "dev", "etc", "proc", "run", "sys", "tmp", "root")
# The users of the guest, by this machine's numbers
USERS = {"root": 0, "nobody": 65534}
PASSWD = "".join(f"{name}:x:{number}:{number}:{name}:/:/bin/sh\n"
                 for name, number in USERS.items())


@dataclass(frozen=True)
class Arch:
    """What differs between processors."""

    name: str
    # ARCH= of the kernel, and of cross.py
    kernel: str
    # what of the kernel is booted
    image: str
    emulator: str
    machine: tuple[str, ...]
    console: str
    # the devices are virtio-9p-BUS and so on
    bus: str = "device"
    what: str = ""
    # options of the compiler for programs: an exchange of 64 bits at once takes no library
    flags: tuple[str, ...] = ()
    # fragments of its kernel's configuration, if they are not one of its name
    configs: tuple[str, ...] = ()

    @property
    def qemu(self) -> Path:
        return qemu.binary(target=self.emulator)

    @property
    def root(self) -> Path:
        """What the guest has as its root."""
        return paths.in_build("root", cross.TRIPLETS[self.kernel])

    @property
    def compiler(self) -> str:
        """What compiles programs for it."""
        return f"{cross.prefix(self.kernel)}gcc"

    @property
    def symbols(self) -> dict[str, str | None]:
        """Its kernel's configuration."""
        return kconfig.merge(kconfig.of_other(self.configs or (self.name,)))

    def plain(self) -> Plain:
        """Its kernel."""
        goals = ("vmlinux", self.image.rpartition("/")[2])
        return kernel.Plain(TREE, "allnoconfig", self.symbols, goals, f"on-{self.name}",
                            tuple(cross.make_words(self.kernel)), cross.environment(self.kernel))

    @property
    def kernel_name(self) -> str:
        """The directory of its kernel."""
        return f"{TREE}-on-{self.name}"

    @property
    def vmlinux(self) -> Path:
        """Where its kernel is, in the form that is booted."""
        return paths.kernel_dir(self.kernel_name) / self.image


VIRT = ("-M", "virt,gic-version=3")
ARM64: dict[str, Any] = {"kernel": "arm64", "image": "arch/arm64/boot/Image", "emulator": "aarch64",
         "machine": (*VIRT, "-cpu", "max,pauth-impdef=on"), "console": "ttyAMA0"}
ALL = {arch.name: arch for arch in (
    Arch("arm64", what="64 bits", **ARM64),
    Arch("arm64-64k", what="64 bits, pages of 64 KiB", configs=("arm64", "arm64-64k"), **ARM64),
    Arch("arm", "arm", "arch/arm/boot/zImage", "aarch64",
         ("-M", "virt", "-cpu", "cortex-a15"), "ttyAMA0", what="32 bits",
         flags=("-march=armv7-a",)),
    Arch("s390x", "s390", "arch/s390/boot/bzImage", "s390x",
         ("-M", "s390-ccw-virtio", "-cpu", "max"), "ttysclp0", "ccw", "64 bits, big endian"),
)}


def kernels() -> list[str]:
    """Kernels that do not boot on the lab's own machine."""
    return [arch.kernel_name for arch in ALL.values()]


def named(name: str) -> Arch | None:
    """The processor of this name; None for the lab's own."""
    if name and name not in ALL:
        raise LabError(f"no machine of the architecture '{name}'", f"use {', '.join(ALL)}")
    return ALL.get(name)


def busybox(root: Path) -> str:
    """Where the package has the program, as seen from bin: it differs between Debian's releases."""
    for place in ("bin/busybox", "usr/bin/busybox"):
        if (root / place).is_file():
            return os.path.relpath(place, "bin")
    raise LabError("Debian's busybox-static has no bin/busybox", apt.NO_MIRROR)


def build_root(step: ui.Step, arch: Arch, codename: str) -> None:
    """The guest's root: Debian's busybox for its processor, and links to it."""
    debian, key = cross.DEBIAN[arch.kernel], f"root-{arch.kernel}"
    # Another release of how the links are made
    want = stamp.of_text(codename, PASSWD, "2", *APPLETS, *ROOT_DIRS)
    if stamp.is_current(key, want) and arch.root.exists():
        step.note = "up to date"
        return
    stamp.clear(key)
    private = apt.Apt(codename, apt.own_lines, f"apt-{debian}", debian)
    private.refresh(step)
    with sources.Staging(arch.root) as staging:
        for name in ROOT_DIRS:
            (staging / name).mkdir(exist_ok=True)
        version = sources.unpack_package(private, "busybox-static", ".*", staging, step)
        for name in APPLETS:
            os.symlink(busybox(staging), staging / "bin" / name)
        (staging / "etc/passwd").write_text(PASSWD)
    step.note = f"busybox {version}"
    stamp.write(key, want)


def build_init(arch: Arch) -> Path:
    """The lab's init for its processor."""
    return guest.build_init(arch.name, arch.compiler, cross.environment(arch.kernel))
