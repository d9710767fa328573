# SPDX-License-Identifier: GPL-2.0-only
"""Source trees made from a stock one: shared by hard links, changed by copies.

A file of such a tree is never written in place, as the stock file would
change with it: it is replaced by a copy.
"""

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from lab.base import proc

# A date so many seconds from now is not yet in the future.
SLACK = 2


def link_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=os.link, symlinks=True)


def unshare(file: Path) -> None:
    """Replace a hard link by a copy, so that the stock file is safe."""
    copy = file.with_name(file.name + ".lab-copy")
    shutil.copy2(file, copy)
    os.replace(copy, file)


def replace(source: Path, target: Path) -> None:
    """Make target a copy of source, new to make and ninja, whole or not at all."""
    copy = target.with_name(target.name + ".lab-copy")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, copy)
    copy.chmod(0o755 if is_executable(source) else 0o644)
    os.replace(copy, target)


def is_executable(file: Path) -> bool:
    return bool(file.stat().st_mode & 0o100)


def patched_paths(patch: Path) -> list[str]:
    """The files that a patch changes, from its +++ lines."""
    lines = patch.read_text().splitlines()
    return [line.split()[1].partition("/")[2] for line in lines
            if line.startswith("+++ ") and not line.startswith("+++ /dev/null")]


def same(one: Path, other: Path) -> bool:
    """Equal without reading them where they are links to one file."""
    if one.is_symlink() or other.is_symlink():
        return (one.is_symlink() and other.is_symlink()
                and os.readlink(one) == os.readlink(other))
    return other.exists() and (os.path.samefile(one, other)
                               or one.read_bytes() == other.read_bytes())


def written_after(tree: Path, file: Path) -> list[str]:
    """Paths below a tree whose contents are newer than a file; none without that file."""
    if not file.exists():
        return []
    text = proc.output(["find", tree, "-type", "f", "-newer", file, "-printf", "%P\\n"])
    return sorted(text.splitlines())


def is_later(path: Path, now: float) -> bool:
    """Whether a file is there and was written later than now, in seconds."""
    try:
        return path.lstat().st_mtime > now + SLACK
    except FileNotFoundError:
        return False


def later_files(directories: Collection[Path], now: float) -> dict[Path, list[Path]]:
    """{directory: its files that were written later than now, in seconds}."""
    if not directories:
        return {}
    text = proc.output(["find", *directories, "-type", "f", "-newermt", f"@{now + SLACK:.3f}",
                        "-printf", "%H\\t%p\\n"])
    found: dict[Path, list[Path]] = {directory: [] for directory in directories}
    for line in text.splitlines():
        directory, _, file = line.partition("\t")
        found[Path(directory)].append(Path(file))
    return {directory: files for directory, files in found.items() if files}


def sync(new: Path, old: Path) -> None:
    """Move into old what differs in new, and drop what new lacks."""
    wanted = {file.relative_to(new) for file in new.rglob("*")}
    for path in sorted(wanted):
        file, target = new / path, old / path
        if file.is_dir() and not file.is_symlink():
            target.mkdir(exist_ok=True)
        elif not same(file, target):
            os.replace(file, target)
            if not target.is_symlink():
                # The new date is not for the stock file.
                unshare(target)
                os.utime(target)
    for file in list(old.rglob("*")):
        if (file.is_file() or file.is_symlink()) and file.relative_to(old) not in wanted:
            file.unlink()
