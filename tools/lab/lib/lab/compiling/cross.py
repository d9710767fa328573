# SPDX-License-Identifier: GPL-2.0-only
"""Cross compilers for the kernel, Debian's own: fetched when asked for, never installed.

They come from the suite of this machine, so that the libraries which the
machine's gcc and binutils use fit them as well. gcc finds its parts by its own
place and binutils by its -B; only the libraries of binutils need to be named.
"""

import re
from pathlib import Path

from lab.base import apt, cache, paths, proc, sources, stamp, ui
from lab.base.errors import LabError

# {ARCH= of the kernel: what Debian calls the tools}
TRIPLETS = {"arm64": "aarch64-linux-gnu", "arm": "arm-linux-gnueabi", "s390": "s390x-linux-gnu",
            "powerpc": "powerpc64le-linux-gnu"}
DEBIAN = {"arm64": "arm64", "arm": "armel", "s390": "s390x", "powerpc": "ppc64el"}
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def root(arch: str) -> Path:
    """Where the packages of an architecture are unpacked."""
    return paths.in_build("cross", arch)


def prefix(arch: str) -> str:
    """What CROSS_COMPILE= is to be."""
    return f"{root(arch)}/usr/bin/{TRIPLETS[arch]}-"


def make_words(arch: str) -> list[str]:
    """What make needs to build a kernel for it."""
    compiler = [f"CC=ccache {prefix(arch)}gcc"] if cache.use_ccache() else []
    return [f"ARCH={arch}", f"CROSS_COMPILE={prefix(arch)}", *compiler]


def environment(arch: str) -> dict[str, str]:
    """Where binutils finds its libraries, and the packages that an object depends on."""
    return {"LD_LIBRARY_PATH": str(root(arch) / LIBRARIES),
            "CCACHE_NAMESPACE": stamp.read(f"packages-{arch}")}


def compiler_of(depends: str, triplet: str) -> str:
    """The package that the default compiler's one stands for, with its release."""
    match = re.search(rf"\bgcc-(\d+)-{triplet}\b", depends)
    if not match:
        raise LabError(f"gcc-{triplet} depends on no gcc-N-{triplet}", apt.NO_MIRROR)
    return match[1]


def packages(private: apt.Apt, arch: str) -> list[str]:
    """What a kernel's objects need, and programs that are linked statically.

    The compiler proper, its driver, assembler, linker; the libraries of C and of the compiler.
    """
    triplet, debian = TRIPLETS[arch], DEBIAN[arch]
    front = f"gcc-{triplet}"
    release = compiler_of(private.fields(front, private.newest(front)).get("Depends", ""), triplet)
    return [front, f"gcc-{release}-{triplet}", f"cpp-{release}-{triplet}", f"binutils-{triplet}",
            f"libgcc-{release}-dev-{debian}-cross", f"libc6-dev-{debian}-cross",
            f"linux-libc-dev-{debian}-cross"]


def fetch(step: ui.Step, arch: str, codename: str) -> None:
    """Have the compiler of an architecture; without the network if it is there."""
    # Another release of this list of packages
    key, want = f"cross-{arch}", f"{codename} 3"
    if (stamp.is_current(key, want) and stamp.read(f"packages-{arch}")
            and root(arch).exists()):
        step.note = "up to date"
        return
    stamp.clear(key)
    private = apt.Apt(codename, apt.own_lines, "apt-cross")
    private.refresh(step)
    with sources.Staging(root(arch)) as staging:
        found = [f"{package} {sources.unpack_package(private, package, '.*', staging, step)}"
                 for package in packages(private, arch)]
    stamp.write(f"packages-{arch}", "\n".join(found))
    check(arch)
    stamp.write(key, want)


def check(arch: str) -> None:
    """The tools run where they are now, and are found by each other."""
    test = paths.to_write(root(arch) / "check" / "one.c")
    test.write_text("int main(void) { return 1; }\n")
    log = paths.log_file("cross")
    commands: tuple[list[str | Path], ...] = (
        [f"{prefix(arch)}gcc", "-c", test, "-o", test.with_suffix(".o")],
        [f"{prefix(arch)}ld", "-r", test.with_suffix(".o"), "-o", test.with_suffix(".r")],
        [f"{prefix(arch)}gcc", "-static", test, "-o", test.with_suffix("")])
    for argv in commands:
        proc.run(argv, log, env=environment(arch),
                 failed=f"the unpacked compiler for {arch} does not work")
