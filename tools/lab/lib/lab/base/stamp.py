# SPDX-License-Identifier: GPL-2.0-only
"""Stamps: a hash of a step's inputs, written when the step has succeeded."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from lab.base import paths


def of_text(*parts: object) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(str(part).encode() + b"\0")
    return digest.hexdigest()


def of_files(files: Iterable[str | Path]) -> str:
    """Hash of names and contents: a changed time alone rebuilds nothing."""
    digest = hashlib.sha256()
    for file in sorted(Path(f) for f in files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def file(step: str) -> Path:
    """Where the stamp of a step is; its date is that of the step's end."""
    return paths.in_build("stamps", step)


def read(step: str) -> str:
    """The stamp of a step, empty if it has not been done."""
    try:
        return file(step).read_text()
    except OSError:
        return ""


def is_current(step: str, want: str) -> bool:
    return read(step) == want


def write(step: str, value: str) -> None:
    paths.to_write(file(step)).write_text(value)


def clear(step: str) -> None:
    file(step).unlink(missing_ok=True)
