# SPDX-License-Identifier: GPL-2.0-only
"""What has changed in each patch since the version that was sent before: 'git range-diff' of it.

The steps of that version are read from this repository's history, and applied to the same base. Those
that it had by the same name are compared one by one, so that nothing has to be guessed.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from lab.assembling import steps as steps_mod
from lab.base import bases, paths, proc
from lab.series import series
from lab.base.errors import LabError

# The last commit of the version that was sent before, and what that is called
EARLIER, NAME = "d69ca4be92d5245074ce876072770233633bf266", "version 2"
BRANCH = "earlier"
FILE = "range-diff"
# How 'git range-diff' heads a pair of commits
HEAD = re.compile(r"^\s*1:\s+\w+ (.) 1:\s+\w+ ", re.MULTILINE)


def unpack(place: Path) -> None:
    """Have this repository's files as of the version before."""
    if not series.own_git("rev-parse", "--verify", "--quiet", f"{EARLIER}^{{commit}}"):
        raise LabError(f"the history of this clone does not reach {NAME}, commit {EARLIER[:12]}",
                       "run 'git fetch --unshallow', or leave --range-diff away")
    with subprocess.Popen([proc.require("git"), "-C", str(paths.OVERLAY_DIR), "archive", EARLIER],
                          env=proc.environment(), stdout=subprocess.PIPE) as packed:
        subprocess.run(["tar", "-x", "-C", str(place)], stdin=packed.stdout, check=True)


def commit_earlier(target: series.Target, place: Path, work: Path, sender: series.Sender | None
                   ) -> dict[str, str]:
    """Commit the steps of the version before on a branch; {step: commit}, empty for no such base."""
    home = place / "patches"
    if bases.current().name not in bases.names(home):
        return {}
    found = steps_mod.read(bases.read(bases.current().name, home), place)
    shutil.rmtree(work, ignore_errors=True)
    taken = series.snapshots(found, target.source, work, place)
    first = {path: series.content(target.source / path) for path in set().union(*taken)}
    target.git("checkout", "-q", "-b", BRANCH, "base")
    for path, what in first.items():
        series.put(target.repository / path, what)
    series.commit(target, target.title, series.identity("base", "base", "@0 +0000"))
    for step, changed in zip(found, taken, strict=True):
        series.commit_step(target, step, changed, first, sender)
    commits = target.git("rev-list", "--reverse", f"-{len(found)}", BRANCH).split()
    target.git("checkout", "-q", "-f", "series")
    return {step.name: commit for step, commit in zip(found, commits, strict=True)}


def compare(target: series.Target, before: dict[str, str], step: steps_mod.Step, commit: str) -> str:
    """What has changed in a patch, under a line with its subject."""
    if step.name not in before:
        return f"+ {step.subject}\n"
    said = target.git("range-diff", "--no-color", "--creation-factor=999", f"{before[step.name]}^!",
                      f"{commit}^!")
    return HEAD.sub(r"\1 ", said)


def of_steps(target: series.Target, found: list[steps_mod.Step], work: Path,
             sender: series.Sender | None) -> dict[str, str]:
    """{step: what has changed in its patch}."""
    with tempfile.TemporaryDirectory() as place:
        unpack(Path(place))
        before = commit_earlier(target, Path(place), work, sender)
    commits = target.git("rev-list", "--reverse", f"-{len(found)}", "series").split()
    return {step.name: compare(target, before, step, commit)
            for step, commit in zip(found, commits, strict=True)}


def write(place: Path, steps: list[steps_mod.Step], texts: dict[str, str]) -> None:
    """A file beside the patches: '=' is as it was, '!' has changed, and '+' is new."""
    head = f"Since {NAME}: = as it was, ! changed, + new\n\n"
    (place / FILE).write_text(head + "".join(f"{number}: {texts[step.name]}"
                                             for number, step in enumerate(steps, 1)))
