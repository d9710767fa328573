# SPDX-License-Identifier: GPL-2.0-only
"""What Debian adds to the kernel.org release in its package, and its -rt patches.

Both are in the packaging of the source package 'linux'. The mirror may not have that of the newest
release; Debian's patches rarely change, and those of an older one can be taken back as well.
"""

import re
import subprocess
import tarfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from lab.base import apt, bases, paths, proc, stamp, ui
from lab.base.errors import LabError

# How many releases are asked for before it is given up.
ATTEMPTS = 20
KINDS = {"debian": "debian/patches", "rt": "debian/patches-rt"}


def packaging(private: apt.Apt, step: ui.Step, wanted: str = "") -> tuple[str, Path]:
    """(version, file) of the newest packaging that the mirror has of this base, or of a release."""
    wanted, source = wanted or stamp.read("version-linux"), "linux"
    release = re.escape(".".join(map(str, bases.numbers(wanted)[:2])))
    versions = private.source_versions(source, rf"{release}\..*")
    versions = [one for one in versions if bases.numbers(one) <= bases.numbers(wanted)]
    for version in versions[:ATTEMPTS]:
        step.progress(f"asking for the packaging of {version}")
        try:
            return version, private.download_packaging(source, version, paths.in_build("dl"))
        except LabError:
            continue
    raise LabError(f"the mirror has the packaging of no {source} {release}", apt.NO_MIRROR)


def _content_of(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file, f"{name} is no file"
    return file.read()


def read(file: Path, kind: str) -> list[tuple[str, str]]:
    """[(name, text)] of the patches, in their order; none if the release has none of that kind."""
    directory = KINDS[kind]
    with tarfile.open(file) as archive:
        if f"{directory}/series" not in archive.getnames():
            return []
        lines = _content_of(archive, f"{directory}/series").decode().splitlines()
        names = [words[0] for line in lines if (words := line.partition("#")[0].split())]
        return [(name, _content_of(archive, f"{directory}/{name}").decode(errors="replace"))
                for name in names]


def parts(text: str) -> dict[str, str]:
    """{path: unified diff} of a patch, by file."""
    found: dict[str, str] = {}
    for part in re.split(r"^(?=--- [^\n]*\n\+\+\+ )", text, flags=re.MULTILINE)[1:]:
        old, new = (line.split()[1] for line in part.splitlines()[:2])
        path = (old if new == "/dev/null" else new).partition("/")[2]
        found[path] = found.get(path, "") + re.split(r"^(?:diff|Index:|-- $)", part, maxsplit=1,
                                                     flags=re.MULTILINE)[0]
    return found


def of_files(patches: Iterable[tuple[str, str]],
             named: Collection[str]) -> list[tuple[str, str, str]]:
    """[(name, path, diff)] of what patches change in these files."""
    return [(name, path, diff) for name, text in patches for path, diff in parts(text).items()
            if path in named]


def apply(changes: Iterable[tuple[str, str, str]], place: Path, *options: str) -> list[str]:
    """Apply them below a directory, exactly unless told; what patch says of those that do not fit."""
    said = []
    for name, path, diff in changes:
        done = subprocess.run(["patch", "-p1", "--force", "--fuzz=0", "--no-backup-if-mismatch", "-r",
                               "-", *options], cwd=place, input=diff, env=proc.environment(),
                              text=True, capture_output=True, check=False)
        if done.returncode:
            said.append(f"{name}: {path}: {done.stdout.strip()}")
    return said


def take_back(changes: Sequence[tuple[str, str, str]], place: Path) -> list[str]:
    """Undo them, the last one first. What is beside a change may be that of a newer release."""
    return apply(list(reversed(changes)), place, "-R", "--fuzz=2")
