# SPDX-License-Identifier: GPL-2.0-only
"""'lab kit': the archive for people with an Intel machine; see Documentation/lab/hardware.rst.

It holds the kit, static programs, the source of all of them, and the licences. Of the same commit
and compiler, it is the same byte by byte.
"""

import datetime
import hashlib
import io
import os
import shutil
import tarfile
from collections.abc import Collection
from pathlib import Path

from lab.base import paths, proc, stamp, ui
from lab.building import build
from lab.base.errors import LabError

SOURCE = paths.LAB_DIR / "kit"
SELFTESTS = paths.ROOT / "tools/testing/selftests/perf_events"
NATIVE = paths.TESTS_DIR / "native"
HARNESS = ("kselftest.h", "kselftest_harness.h")
PARTNER = ("partner.c", "partner.h")
# Where Debian has the texts of licences: ours, and that of the C library, which is in the programs.
LICENCES = Path("/usr/share/common-licenses")
TEXTS = ("GPL-2", "LGPL-2.1")
NAME = "perf-aux-kit"
# The programs of the kit but for 'known' and the kselftests
OURS = ("cost", "cpu")


def _git(*args: str) -> str:
    return proc.output(["git", "-c", "safe.directory=*", "-C", paths.ROOT, *args]).strip()


def _new_files() -> str:
    """
    The name and a hash of each file that git does not know yet, and is not to ignore.

    Of another repository within this one, git tells the directory alone.
    """
    found = _git("ls-files", "-z", "--others", "--exclude-standard").split("\0")
    files = [name for name in found if (paths.ROOT / name).is_file()]
    return "".join(f"{name} {stamp.of_files([paths.ROOT / name])}\n" for name in files)


def version() -> str:
    """
    The second (UTC) and the name of the commit, so a later commit's is above an earlier one's.

    What is changed, or new, and not committed has a name by its contents.
    """
    seconds, name = _git("log", "-1", "--abbrev=12", "--format=%ct %h").split()
    when = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    changed = _git("diff", "HEAD", "--binary") + _new_files()
    mark = hashlib.sha256(changed.encode()).hexdigest()[:8]
    return f"{when:%Y%m%d.%H%M%S}-{name}{f'-changed{mark}' if changed else ''}"


def time_of_commit() -> int:
    return int(_git("log", "-1", "--format=%ct"))


def selftests_of_kernel() -> Path:
    """tools/testing/selftests of the base, which has the harness."""
    place = paths.in_build("src/linux-stock/tools/testing/selftests")
    if not (place / HARNESS[1]).is_file():
        raise LabError(f"there is no kernel source at {paths.shown(place)}", "run 'lab build'")
    return place


def c_library() -> str:
    """The version of the C library in the programs, as their licence wants it said."""
    return proc.output(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}",
                        "libc6-dev"])


def selftests() -> list[str]:
    """The names of the kselftests."""
    return sorted(file.stem for file in SELFTESTS.glob("aux_*_test.c"))


def make_programs(place: Path, log: Path) -> None:
    """All that is compiled, without symbols but for those that perf's filters go by."""
    made = paths.in_build("kit", "programs")
    proc.run(["make", "-s", "-C", SOURCE, f"O={made}", f"SELFTESTS={SELFTESTS}",
              f"KSELFTEST={selftests_of_kernel()}", f"PARTNER={NATIVE}", f"-j{proc.jobs()}"], log,
             failed="cannot build the programs of the kit")
    place.mkdir()
    for program in [*selftests(), *OURS]:
        proc.run(["strip", "-o", place / program, made / program], log)
    shutil.copy(made / "known", place)


def copy_source(place: Path) -> None:
    """What 'make -C source' in the archive builds the programs of."""
    tests = place / "perf_events"
    tests.mkdir(parents=True)
    for file in [*SOURCE.glob("*.c"), SOURCE / "Makefile", *(NATIVE / one for one in PARTNER),
                 *(selftests_of_kernel() / one for one in HARNESS)]:
        shutil.copy(file, place)
    for file in [*SELFTESTS.glob("aux_*.[ch]"), SELFTESTS / "aux_tests.mk"]:
        shutil.copy(file, tests)


def copy_kit(place: Path, name: str) -> None:
    for file in (SOURCE / "kit", paths.REPORT_DIR / "aux_defects"):
        shutil.copy(file, place)
    shutil.copytree(SOURCE / "lib", place / "lib", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "VERSION").write_text(name + "\n")
    text = (SOURCE / "README").read_text().replace("@VERSION@", name)
    (place / "README").write_text(text.replace("@LIBC@", c_library()))
    (place / "licences").mkdir()
    for text in TEXTS:
        shutil.copyfile(LICENCES / text, place / "licences" / text)


def fill(place: Path, name: str, log: Path) -> None:
    """The directory that the archive unpacks to."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    copy_kit(place, name)
    copy_source(place / "source")
    make_programs(place / "programs", log)


def pack(place: Path, archive: Path, when: int) -> None:
    """All files of a directory, in order, of nobody's and of one time."""
    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = when
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member
    new = archive.with_name(archive.name + ".new")
    data = io.BytesIO()
    with tarfile.TarFile.xzopen(None, "w", data, preset=3, format=tarfile.USTAR_FORMAT) as tar:
        for path in [place, *sorted(place.rglob("*"))]:
            tar.add(path, arcname=str(path.relative_to(place.parent)), recursive=False,
                    filter=plain)
    new.write_bytes(data.getvalue())
    os.replace(new, archive)


def remove_others(directory: Path, kept: Collection[Path]) -> None:
    """Kits of other commits: there is one archive, the newest."""
    for path in directory.glob(f"{NAME}-*"):
        if path not in kept and path.is_dir():
            shutil.rmtree(path)
        elif path not in kept:
            path.unlink()


def make() -> Path:
    """build/kit/perf-aux-kit-VERSION.tar.xz; its path."""
    build.prepare()
    name = version()
    directory = paths.in_build("kit")
    place = directory / f"{NAME}-{name}"
    archive = directory / f"{place.name}.tar.xz"
    with build.locked("kit"), ui.step("Writing the kit for hardware") as step:
        fill(place, name, paths.log_file("kit"))
        pack(place, archive, time_of_commit())
        remove_others(directory, (place, archive))
        step.note = f"{paths.shown(archive)}, {archive.stat().st_size >> 10} KiB"
    return archive
