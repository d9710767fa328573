# SPDX-License-Identifier: GPL-2.0-only
"""'lab deb': Debian packages of the series' kernel, its headers, perf and kselftests.

The kernel's own 'make bindeb-pkg' makes those of the kernel. Each name has the commit in it, or is
none of Debian's: the packages are installed beside Debian's own and replace nothing.
"""

import functools
import lzma
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.assembling import assemble
from lab.base import apt, bases, host, paths, proc, stamp, ui
from lab.building import build
from lab.compiling import compiled, kconfig, kernel, perftool
from lab.packaging import kit
from lab.base.errors import LabError

TOOLS = ["debhelper", "rsync", "kmod", "cpio", "fakeroot"]
# What perf in the package has and the lab's does not: the options that leave it out, its packages.
PERF_ALSO = {"NO_SLANG": "libslang2-dev", "NO_LZMA": "liblzma-dev", "NO_LIBZSTD": "libzstd-dev",
             "NO_LIBCAP": "libcap-dev", "NO_LIBNUMA": "libnuma-dev"}
# The name and the version of Python's library are of one release of Debian.
PERF_WITHOUT = ["NO_LIBPYTHON=1"]
# Debian's configuration has debug information in the form that BPF reads.
FULL_TOOLS = ["dwarves"]
# Of the build directory, in GiB
NEEDED, NEEDED_FULL = 5, 40
# The files that a build makes, in the default configuration
EXPECTED_OBJECTS = 3550
SOURCE = "linux-aux"
MAINTAINER = {"DEBFULLNAME": "Local build", "DEBEMAIL": "root@localhost"}
PERF, SELFTESTS = "linux-perf-aux", "linux-selftests-aux"
DESCRIPTIONS = {
    PERF: """perf of the perf AUX series
        perf-aux is perf with what the series brings: events that pause and
        resume a trace of Intel PT, whole snapshots, timelines, and
        'perf-aux calltrace'. It is installed beside linux-perf, which has
        what is missing here: scripts in Python and Perl.""",
    SELFTESTS: """kselftests of AUX areas
        Tests of the kernel's interface for hardware that traces, for any
        kernel. /usr/lib/linux-selftests-aux/perf_events/aux_report.sh, run
        as root, names the known defects of the kernel that runs, by commit;
        run_kselftest.sh runs them as other kselftests are run. For machines
        without such hardware, perf_events/perf_aux_synth has the source of a
        module for kernels from Linux 6.1 on.""",
}
# What its module is built with
SUGGESTS = {SELFTESTS: "make, linux-headers-amd64"}
COPYRIGHT = """The source is the Linux kernel with the perf AUX series.
It is licensed under version 2 of the GNU General Public License, with the exception for system
calls; single files have further terms, which they name.

On Debian systems, the text is in /usr/share/common-licenses/GPL-2.
"""


@dataclass(frozen=True)
class Names:
    """What the packages are called."""

    # of the kernel, as 'uname -r' says it
    release: str
    # of each package
    version: str

    @property
    def revision(self) -> str:
        """The number of the build, as the kernel's packaging has it."""
        return self.version.rpartition("-")[2]


@functools.cache
def names(full: bool = False) -> Names:
    """
    The same for all packages, also if a commit is made meanwhile.

    A kernel in Debian's own configuration is another one: both can be installed. What another release
    of Debian makes of the same commit, with other compilers and libraries, is another version.
    """
    base, own = stamp.read("version-linux"), kit.version()
    return Names(f"{base.partition('-')[0]}-aux{own}{'-full' if full else ''}",
                 f"{base}+aux{own.replace('-', '.')}+deb{host.os_release()['VERSION_ID']}")


def directory(full: bool = False) -> Path:
    return paths.in_build("deb-full" if full else "deb")


def log() -> Path:
    return paths.log_file("deb")


def fragments(full: bool) -> list[Path]:
    """What the configuration must have beyond the one that it starts from."""
    base = paths.base_name()
    wished = ["deb-full" if full else "deb", "deb-both"]
    return [file for name in wished for part in (name, f"{name}-{base}")
            if (file := paths.CONFIG_DIR / f"{part}.config").exists()]


def newest_config(private: apt.Apt, package: str) -> str:
    """Its version: that of the kernel's source, unless the mirror has none of it any more."""
    suites, own = bases.current().suites, re.escape(stamp.read("version-linux"))
    try:
        return private.newest(package, own, suites)
    except LabError:
        return private.newest(package, suites=suites)


def debian_config(step: ui.Step) -> str:
    """The configuration of Debian's own kernel of this base."""
    base = bases.current()
    private = apt.Apt(host.codename())
    private.refresh(step)
    package = base.package.replace("-source-", "-config-")
    version = newest_config(private, package)
    file = private.download(package, version, paths.in_build("dl"), step.progress)
    place = paths.in_build("deb-config")
    shutil.rmtree(place, ignore_errors=True)
    proc.run(["dpkg-deb", "-x", file, place], log(), failed=f"cannot unpack {file.name}")
    step.note = f"{package} {version}"
    with lzma.open(next(place.glob("usr/src/*/config.amd64_none_amd64.xz")), "rt") as text:
        return text.read()


def configure(step: ui.Step, full: bool = False) -> None:
    """Make .config again; each line of the fragments must be in it."""
    place = directory(full) / "kernel"
    place.mkdir(parents=True, exist_ok=True)
    tree = assemble.tree(paths.SERIES)
    start = debian_config(step) if full else \
        (tree / "arch/x86/configs/x86_64_defconfig").read_text()
    wanted = kconfig.merge(fragments(full))
    wanted["CONFIG_LOCALVERSION"] = f'"-{names(full).release.partition("-")[2]}"'
    (place / ".config").write_text(start + kconfig.as_text(wanted))
    kernel.make(paths.SERIES, place, ["olddefconfig"], log(),
                failed="cannot configure the packaged kernel")
    kconfig.check(wanted, (place / ".config").read_text(), log())


def build_kernel(step: ui.Step, full: bool) -> None:
    place = directory(full) / "kernel"
    progress = compiled.Progress(step, place.parent.name, place, 0 if full else EXPECTED_OBJECTS)
    called = names(full)
    kernel.make(paths.SERIES, place, [f"KBUILD_BUILD_VERSION={called.revision}", "all"], log(),
                on_line=progress.line, failed="cannot build the packaged kernel")
    progress.complete()
    step.note = called.release


def pack_kernel(step: ui.Step, full: bool) -> None:
    """
    The packages of the image and the headers.

    What the C library is built with stays Debian's, and 6.1 knows no profile without the symbols.
    """
    place, called = directory(full), names(full)
    for old in place.glob("linux-*"):
        old.unlink()
    kernel.make(paths.SERIES, place / "kernel",
                [f"KBUILD_BUILD_VERSION={called.revision}", f"KDEB_PKGVERSION={called.version}",
                 f"KDEB_SOURCENAME={SOURCE}", "KDEB_CHANGELOG_DIST=unstable", "DPKG_FLAGS=-d",
                 "bindeb-pkg"], log(),
                env={**MAINTAINER, "DEB_BUILD_PROFILES": f"pkg.{SOURCE}.nokerneldbg",
                     "SOURCE_DATE_EPOCH": str(kit.time_of_commit())},
                on_line=step.progress, failed="cannot pack the kernel")
    for other in (*place.glob("linux-libc-dev_*"), *place.glob("linux-image-*-dbg_*")):
        other.unlink()


def stage(name: str) -> Path:
    """The empty directory that becomes a package."""
    place = directory() / "stage" / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return place


def perf_options() -> list[str]:
    left_out = {*PERF_ALSO, "JEVENTS_MODEL", "prefix"}
    kept = [word for word in perftool.options() if word.partition("=")[0] not in left_out]
    return [*kept, *PERF_WITHOUT, f"prefix=/usr/lib/{PERF}"]


def pack_perf(step: ui.Step) -> None:
    place, made = stage(PERF), directory() / "perf"
    made.mkdir(parents=True, exist_ok=True)
    source = assemble.tree(paths.SERIES) / "tools/perf"
    proc.run(["make", "-C", source, f"-j{proc.jobs()}", f"O={made}", f"DESTDIR={place}",
              *perf_options(), "install-bin"], log(),
             on_line=step.progress, failed="cannot build the packaged perf")
    (place / "usr/bin").mkdir(exist_ok=True)
    (place / "usr/bin/perf-aux").symlink_to(f"../lib/{PERF}/bin/perf")
    # The same once more, and what no perf of 64 bits runs
    home = place / "usr/lib" / PERF
    (home / "bin/trace").unlink()
    (home / "libexec/perf-core/perf-read-vdsox32").unlink(missing_ok=True)
    # Where scripts such as perf-calltrace find the perf that has started them
    (home / "libexec/perf-core/perf").symlink_to("../../bin/perf")
    # Its manual, whether or not this machine can make pages of it
    for text in (source / "Documentation").glob("perf*.txt"):
        shutil.copyfile(text, document(place, PERF) / text.name)
    pack(PERF, [f"usr/lib/{PERF}/bin/perf"])


def pack_selftests(step: ui.Step) -> None:
    place, made = stage(SELFTESTS), directory() / "kernel"
    home = place / "usr/lib" / SELFTESTS
    kernel.make(paths.SERIES, made,
                ["TARGETS=perf_events", f"INSTALL_PATH={home}", "kselftest-install"], log(),
                on_line=step.progress, failed="cannot build the packaged kselftests")
    # Beside them, what is no part of the kernel's source, with the headers of the kernel
    for room in (paths.FUZZ_DIR, paths.REPORT_DIR):
        proc.run(["make", "-s", "-C", room, f"O={home / 'perf_events'}",
                  f"KSELFTEST={assemble.tree(paths.SERIES) / 'tools/testing/selftests'}",
                  f"CFLAGS_MORE=-isystem {made / 'usr/include'}", room.name], log(),
                 failed=f"cannot build what is packaged of {paths.shown(room)}")
    pack(SELFTESTS, [file.relative_to(place) for file in place.rglob("aux_*")
                     if os.access(file, os.X_OK) and file.read_bytes()[:4] == b"\x7fELF"])


def control(name: str, depends: str, size: int) -> str:
    """The file of this name in a package."""
    title, *text = [line.strip() for line in DESCRIPTIONS[name].splitlines()]
    suggests = f"Suggests: {SUGGESTS[name]}\n" if name in SUGGESTS else ""
    return (f"Package: {name}\nVersion: {names().version}\nArchitecture: amd64\n"
            f"Maintainer: {MAINTAINER['DEBFULLNAME']} <{MAINTAINER['DEBEMAIL']}>\n"
            f"Installed-Size: {size // 1024}\nDepends: {depends}\n{suggests}Section: kernel\n"
            f"Priority: optional\nDescription: {title}\n" + "".join(f" {line}\n" for line in text))


def libraries(place: Path, programs: Sequence[str | Path]) -> str:
    """The packages of the libraries that programs need."""
    (place / "debian").mkdir()
    (place / "debian/control").write_text("Source: none\n\nPackage: none\nArchitecture: any\n")
    text = proc.output(["sh", "-c", 'cd "$0" && dpkg-shlibdeps -O "$@"', place, *programs])
    shutil.rmtree(place / "debian")
    return text.strip().partition("=")[2]


def document(place: Path, name: str) -> Path:
    """Where a package has its documents."""
    directory_of = place / "usr/share/doc" / name
    directory_of.mkdir(parents=True, exist_ok=True)
    return directory_of


def pack(name: str, programs: Sequence[str | Path]) -> None:
    """A package of a staged directory, whose programs these are."""
    place = directory() / "stage" / name
    proc.run(["strip", "--strip-unneeded", *(place / one for one in programs)], log())
    depends = libraries(place, programs)
    (document(place, name) / "copyright").write_text(COPYRIGHT)
    size = sum(file.lstat().st_size for file in place.rglob("*") if not file.is_dir())
    (place / "DEBIAN").mkdir()
    (place / "DEBIAN/control").write_text(control(name, depends, size))
    proc.run(["dpkg-deb", "--root-owner-group", "--build", place, directory()], log(),
             env={"SOURCE_DATE_EPOCH": str(kit.time_of_commit())}, failed=f"cannot pack {name}")


def check_room(full: bool) -> None:
    """Before anything is fetched, and so where nothing may have made the build directory yet."""
    host.check_build_dir((NEEDED_FULL if full else NEEDED) * host.GIB)


def prepare(full: bool) -> None:
    build.check_kernel(paths.SERIES)
    check_room(full)
    build.prepare_tree()
    with ui.step("Installing what packages are made with") as step:
        host.install_packages(step, [*TOOLS, *PERF_ALSO.values(), *(FULL_TOOLS if full else [])])


def make(full: bool = False) -> None:
    """All packages, below build/deb; of FULL, those of the kernel, below build/deb-full."""
    # What is packed is to be read by all.
    os.umask(0o022)
    prepare(full)
    build.part("deb", "Configuring the packaged kernel", configure, full)
    build.part("deb", "Building the packaged kernel", build_kernel, full)
    build.part("deb", "Packing the kernel", pack_kernel, full)
    if not full:
        build.part("deb", "Building and packing perf", pack_perf)
        build.part("deb", "Building and packing the kselftests", pack_selftests)
    made = sorted(directory(full).glob("*.deb"))
    for file in made:
        print(f"{file.stat().st_size / (1 << 20):6.1f} MiB  {paths.shown(file)}")
    # apt takes a name for that of a package unless there is a slash at its begin.
    files = (os.path.join(".", paths.shown(file)) for file in made)
    print(f"install them with 'apt-get install {' '.join(files)}'")
    print("remove them with 'apt-get purge --auto-remove "
          f"{' '.join(f.name.partition('_')[0] for f in made)}'")
