# SPDX-License-Identifier: GPL-2.0-only
"""Files of ours that grow from step to step.

The repository has each file in its last form. What a step changes in a file that an earlier
step has brought, is in its 'grow.patch'. Undone from the last step back, these patches make the
form that a file has at each step. So a change of the file is made once, in the repository, and
reaches all forms; where a later step changes lines beside it, 'lab regrow' makes its patch again.
"""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lab.base import paths, proc, trees
from lab.base.errors import LabError

FAILED = re.compile(r"Hunk #(\d+) FAILED")
FILE = re.compile(r"(?:checking|patching) file '?(.*?)'?$")


class Step(Protocol):
    """What is asked here of a step of the series."""

    files: dict[str, Path]
    grow: Path | None
    forms: dict[str, bytes]

    @property
    def name(self) -> str:
        ...


def patch(file: Path, where: Path, *options: str) -> None:
    """Apply a patch exactly, without fuzz: undoing and doing it is the same then."""
    done = subprocess.run(
        [proc.require("patch"), "-p1", "--force", "--fuzz=0", "--no-backup-if-mismatch", "-r", "-",
         *options, "-i", str(file)], cwd=where, text=True, capture_output=True, check=False,
        env=proc.environment())
    if done.returncode:
        raise LabError(f"{paths.shown(file)} does not fit {refused(done.stdout + done.stderr)}",
                       "run 'lab regrow'")


def refused(output: str) -> str:
    """The hunks that do not apply, by file."""
    file, failed = "", []
    for line in output.splitlines():
        if match := FILE.search(line):
            file = match[1]
        elif match := FAILED.search(line):
            failed.append(f"{file} (hunk {match[1]})")
    return ", ".join(failed) or (output.strip().splitlines() or ["any file"])[-1]


def check(steps: Sequence[Step]) -> None:
    """A file grows only after a step has brought it."""
    brought: set[str] = set()
    for step in steps:
        for path in trees.patched_paths(step.grow) if step.grow else []:
            if path not in brought:
                raise LabError(f"{step.name}/grow.patch changes {path}, which no step before it "
                               "brings", "list it in the 'files' of an earlier step")
        brought.update(step.files)


def set_forms(steps: Sequence[Step]) -> None:
    """Fill in Step.forms, {path: bytes}: each file that a later step changes, as a step has it."""
    check(steps)
    final = {path: step.files[path] for step in steps for path in step.files}
    growing = {path for step in steps if step.grow for path in trees.patched_paths(step.grow)}
    if not growing:
        return
    with tempfile.TemporaryDirectory(prefix="lab-grow.") as name:
        work = Path(name)
        for path in growing:
            trees.replace(final[path], work / path)
        for step in reversed(steps):
            step.forms = {path: (work / path).read_bytes() for path in growing & step.files.keys()}
            if step.grow:
                patch(step.grow, work, "-R")
