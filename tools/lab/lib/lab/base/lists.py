# SPDX-License-Identifier: GPL-2.0-only
"""Lists in files of patches/: a line each, and what follows a '#' is a comment."""

from collections.abc import Iterator
from pathlib import Path


def without_comments(file: Path) -> Iterator[tuple[int, str]]:
    """(line number, text) of the lines that say something; none of a file that is not there."""
    for number, line in enumerate(file.read_text().splitlines() if file.is_file() else [], 1):
        text = line.partition("#")[0].strip()
        if text:
            yield number, text
