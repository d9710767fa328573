# SPDX-License-Identifier: GPL-2.0-only
"""Tests of files in user space, and whether they notice faults in them.

The files of a directory are compiled as they are, under the address and undefined-behaviour
sanitizers, by the Makefile of a directory of tests (CODE= and O=, directories; SANITIZE=, the
compiler's flags). Then operators, constants and statements of them are mutated, one at a time, and
each time the tests must fail.
"""

import os
import queue
import re
import resource
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from lab.base import tier
from lab.testing.points import Points, bail_out

# Seconds of a processor that a program may use up while a fault is in it. It needs about one, and
# hardly more on a busy machine; many faults make a loop endless.
PROCESSOR_LIMIT = 10
WORKERS = 2

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# What is mutated, and into what.
FAULTS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - (?=\S)", " + "), (r" - 1\b", ""), (r" / 2\b", " / 3"),
    (r" \|= ", " = "), (r" \+= ", " -= "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<=[ (])!(?=[a-z])", ""), (r"\bU32_MAX\b", "(U32_MAX - 1)"),
    (r"\bmin\(", "max("), (r"\bmin_t\(", "max_t("), (r"\bilog2\(", "1 + ilog2("),
    (r"-EINVAL\b", "0"), (r"\breturn 0;", "return -EINVAL;"),
]


@dataclass
class Code:
    """Where it is, how it is tested, and which faults in it are none."""

    directory: Path
    # The Makefile there makes a program of the same name.
    tests: Path
    # its files that are mutated
    mutated: list[str]
    # the least number of faults that there are
    minimum: int
    # what is mutated, and into what
    faults: list[tuple[str, str]] = field(default_factory=lambda: FAULTS)
    # how many faults the tier 'check' draws; None: all
    drawn: int | None = None
    # faults that are none: nothing changes, or nothing that is promised; by the mutated line, or
    # by (file, mutated line)
    harmless: set[str | tuple[str, str]] = field(default_factory=set)
    # statements without which nothing changes, likewise
    unneeded: set[str | tuple[str, str]] = field(default_factory=set)
    # seconds
    limit: int = 10
    # enough to find each fault; the tests of the code itself take more
    few_steps: str = "1000"


def make(tests: Path, directory: Path, *variables: str) -> subprocess.CompletedProcess[str]:
    """Build the test of a directory elsewhere; what is compiled once needs no cache."""
    return subprocess.run(["make", "-s", "-C", tests, f"O={directory}", *variables],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "CCACHE_DISABLE": "1"}, check=False)


def run(program: Path, *args: str, limit: float) -> tuple[list[str], int]:
    """The lines of a test program and its status; one that hangs has failed."""
    try:
        done = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=limit * tier.patience(), text=True, errors="replace",
                              check=False)
    except subprocess.TimeoutExpired:
        return [], -1
    return done.stdout.splitlines(), done.returncode


def fails(program: Path, *args: str, limit: float) -> bool:
    """Whether a test program with a fault has a result that is not ok, or does not end well."""
    with subprocess.Popen([program, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace") as process:
        timer = threading.Timer(limit * tier.patience(), process.kill)
        timer.start()
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (PROCESSOR_LIMIT, PROCESSOR_LIMIT))
        assert process.stdout is not None
        failed = any(line.startswith("not ok") for line in process.stdout)
        if failed:
            process.kill()
        timer.cancel()
    return failed or process.returncode != 0


def check_program(tap: Points, program: Path, limit: float) -> bool:
    """The results of the program; it must reach its plan and say the same in its status."""
    lines, status = run(program, limit=limit)
    points, failed, plan = tap.relay(lines)
    tap.result(points and points == plan and (status == 1) == bool(failed) and status in (0, 1),
               f"the program reaches its end: {points} of {plan} results, status {status}")
    return not failed and status == 0


def faults(text: str,
           patterns: Iterable[tuple[str, str]] | None = None) -> Iterator[tuple[int, str, str]]:
    """(line number, mutated line, mutated text) for each fault that can be made."""
    # Comments keep their length, so that positions stay right.
    code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    code = re.sub(r"^#.*", lambda m: " " * len(m[0]), code, flags=re.MULTILINE)
    for pattern, replacement in patterns or FAULTS:
        for match in re.finditer(pattern, code):
            mutated = text[:match.start()] + replacement + text[match.end():]
            number = text.count("\n", 0, match.start())
            yield number + 1, mutated.splitlines()[number].strip(), mutated


def check_code(tap: Points, code: Code, directory: Path) -> bool:
    """The results of the program on the code as it is."""
    done = make(code.tests, directory, f"CODE={code.directory}")
    if done.returncode:
        for line in done.stdout.splitlines()[-15:]:
            print(f"# {line}")
        bail_out("the test does not build; gcc, libasan and libubsan are needed")
    return check_program(tap, directory / code.tests.name, code.limit)


class Mutants:
    """Copies of the code, in each of which one file at a time is mutated: the rest is built."""

    def __init__(self, code: Code, directory: Path) -> None:
        self.code = code
        self.free: queue.Queue[Path] = queue.Queue()
        for number in range(WORKERS):
            place = directory / str(number)
            shutil.copytree(code.directory, place / "code")
            self.free.put(place)

    def is_noticed(self, file: str = "", text: str = "") -> bool | None:
        """Whether the tests fail with a mutated file, or None if it does not even compile."""
        place = self.free.get()
        try:
            if file:
                (place / "code" / file).write_text(text)
            if make(self.code.tests, place / "build", f"CODE={place}/code",
                    "SANITIZE=-w").returncode:
                return None
            return fails(place / "build" / self.code.tests.name, self.code.few_steps,
                         limit=self.code.limit)
        finally:
            if file:
                shutil.copy(self.code.directory / file, place / "code" / file)
            self.free.put(place)


def exemption(code: Code, file: str, statement: str, line: str) -> str | tuple[str, str] | None:
    """Why a fault is none: by what has become of the line, or of the statement that it was."""
    exempt, text = (code.unneeded, statement) if line == ";" else (code.harmless, line)
    either: tuple[tuple[str, str] | str, ...] = ((file, text), text)
    return next((entry for entry in either if entry in exempt), None)


def wanted(code: Code) -> tuple[list[tuple[str, int, str, str]], set[str | tuple[str, str]]]:
    """(file, line number, line, mutated text) of all faults but those that are none, and the
    exemptions that are of no fault that can be made."""
    found, unused = [], code.harmless | code.unneeded
    for file in code.mutated:
        text = (code.directory / file).read_text()
        lines = text.splitlines()
        for number, line, mutated in faults(text, code.faults):
            if entry := exemption(code, file, lines[number - 1].strip(), line):
                unused.discard(entry)
            else:
                found.append((file, number, line, mutated))
    return found, unused


def check_faults(tap: Points, code: Code, is_noticed: Callable[..., bool | None]) -> None:
    """Each fault must cost a result; the tier 'check' has a drawn few."""
    found, unused = wanted(code)
    tap.result(len(found) >= code.minimum, f"{len(found)} faults to make")
    tap.result(not unused, "each exemption is of a fault that can be made", *map(str, unused))
    found = tier.some(found, code.drawn or len(found))
    tap.result(is_noticed() is False, "without a fault, the quick test notices none")
    with ThreadPoolExecutor(WORKERS) as pool:
        noticed = pool.map(lambda fault: is_noticed(fault[0], fault[3]), found)
        for (file, number, line, _), good in zip(found, noticed):
            tap.result(good, f"noticed: {file}: line {number}: {line}" +
                       (" (does not compile)" if good is None else ""))


def check(tap: Points, code: Code) -> None:
    """The code's own results, then that each fault costs one."""
    with tempfile.TemporaryDirectory(prefix="mutants.", dir=os.environ.get("LAB_BUILD")) as name:
        directory = Path(name)
        if check_code(tap, code, directory / "own"):
            check_faults(tap, code, Mutants(code, directory).is_noticed)
        else:
            print("# nothing is mutated while the code itself is wrong")
