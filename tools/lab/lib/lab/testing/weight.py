# SPDX-License-Identifier: GPL-2.0-only
"""What a step asks of its reader: how many lines, how many hooks, and whether its message helps."""

import re
from collections import Counter
from dataclasses import dataclass, field

from lab.assembling.steps import Step

KERNEL = ("arch/", "block/", "drivers/", "fs/", "include/", "init/", "kernel/", "lib/", "mm/",
          "security/")
CODE = re.compile(r"\.[chS]$|(^|/)Kconfig|(^|/)Makefile$")
TEST = re.compile(r"_kunit\.c$")
LINES_AT_MOST = 600
# A hook calls what a file of ours does; it does no work of its own.
HOOK_AT_MOST = 12
WORK = re.compile(r"\b(?:for|while|do|switch)\b\s*[({]|\b(?:list_)?for_each_\w+\(")
COLUMNS = 75
SUBJECT = re.compile(r"(?:perf(?:/\w+)*|perf (?:tools|test)|selftests/perf_events|"
                     r"Documentation: perf): [A-Z].*[^.]")
FIXES = re.compile(r'^Fixes: [0-9a-f]{12} \(".+"\)$', re.MULTILINE)
# checkpatch: GIT_COMMIT_ID
NAKED_COMMIT = re.compile(r'\bcommit ([0-9a-f]{12,40})\b(?!\s\(")')
TESTED = re.compile(r"aux_\w+$|[a-z]+/[\w-]+$|none, as \S")
TRAILER = re.compile(r"[A-Z][A-Za-z-]+: \S")


@dataclass
class Hunk:
    """Lines that a hunk adds, without those that it only moves or indents again."""

    path: str
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @property
    def new(self) -> list[str]:
        left = Counter(line.strip() for line in self.removed)
        new = []
        for line in self.added:
            if left[line.strip()] > 0:
                left[line.strip()] -= 1
            elif line.strip():
                new.append(line)
        return new


def hunks(patch: str) -> list[Hunk]:
    """The hunks of a unified diff, with their file."""
    path, found = "", []
    for line in patch.splitlines():
        if line.startswith("+++ "):
            path = line.split()[1].partition("/")[2]
        elif line.startswith("@@"):
            found.append(Hunk(path))
        elif found and line.startswith("+"):
            found[-1].added.append(line[1:])
        elif found and line.startswith("-") and not line.startswith("--- "):
            found[-1].removed.append(line[1:])
    return found


def is_kernel_code(path: str) -> bool:
    return path.startswith(KERNEL) and bool(CODE.search(path)) and not TEST.search(path)


def is_hooked_code(path: str) -> bool:
    """Code of the base in which hooks do no work: the kernel's, and perf's."""
    return is_kernel_code(path) or path.startswith("tools/perf/") and bool(CODE.search(path))


def kernel_lines(patch: str) -> int:
    """How many lines of kernel code a patch adds."""
    return sum(len(hunk.added) for hunk in hunks(patch) if is_kernel_code(hunk.path))


def hook_lines(patch: str) -> dict[str, int]:
    """{path: lines} that hooks add to code of the base."""
    lines: Counter[str] = Counter()
    for hunk in hunks(patch):
        if is_hooked_code(hunk.path):
            lines[hunk.path] += len(hunk.new)
    return {path: count for path, count in lines.items() if count}


def too_heavy(patch: str) -> list[str]:
    count = kernel_lines(patch)
    return [f"{count} lines of kernel code, {LINES_AT_MOST} at most"] * (count > LINES_AT_MOST)


def hooks_with_logic(patch: str) -> list[str]:
    """What in the hooks of a step does work that belongs into a file of ours."""
    bad = []
    for hunk in hunks(patch):
        if not hunk.path.endswith(".c") or not is_hooked_code(hunk.path):
            continue
        bad += [f"{hunk.path}: {line.strip()}" for line in hunk.new if WORK.search(line)]
        if len(hunk.new) > HOOK_AT_MOST:
            bad.append(f"{hunk.path}: {len(hunk.new)} new lines at a place, {HOOK_AT_MOST} at most")
    return bad


def bad_message(message: str, is_fix: bool) -> list[str]:
    """What a maintainer would send a message back for."""
    subject, _, body = message.strip().partition("\n\n")
    bad = []
    if not SUBJECT.fullmatch(subject) or len(subject) > COLUMNS:
        bad.append(f"subject: {subject}")
    text = [line for line in body.splitlines() if not TRAILER.match(line)]
    if not any(text):
        bad.append("it does not say why")
    bad += [f"more than {COLUMNS} columns: {line}" for line in text if len(line) > COLUMNS]
    bad += [f"commit {name} without its subject" for name in NAKED_COMMIT.findall(body)]
    if is_fix and not FIXES.search(body):
        bad.append("no 'Fixes: 123456789abc (\"subject\")' although it is a fix")
    return bad


def bad_step(step: Step) -> list[str]:
    """The same of a step; the message of a pick is mainline's. A fix says who is concerned."""
    bad = [] if step.upstream else bad_message(step.message, step.is_fix)
    if step.is_fix and (len(step.impact) != 4 or not TESTED.match(step.impact[3])):
        bad.append("no 'Impact: WHO; WHAT HAPPENS; PROCESSORS; TEST' although it is a fix; a test is "
                   "aux_NAME, DIRECTORY/NAME, or 'none, as ...'")
    return bad
