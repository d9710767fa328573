# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tests: operators and constants of a C file are altered, one at a time, and each time a
user-space test must fail.

The test is a directory whose Makefile makes one program, O=DIR; a variable of it says where the
file under test is. SANITIZE= are its compiler's flags, which are not needed to notice a fault.
"""

import os
import re
import resource
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import tier

LIMIT = 10
# Seconds of a processor that a program may use up while a fault is in it. It needs about one, and
# hardly more on a busy machine; many faults make a loop endless.
PROCESSOR_LIMIT = 10
WORKERS = 2

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# What is altered, and into what.
FAULTS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - (?=\S)", " + "), (r" - 1\b", ""), (r" / 2\b", " / 3"),
    (r" \|= ", " = "), (r" \+= ", " -= "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<=[ (])!(?=[a-z])", ""), (r"\bU32_MAX\b", "(U32_MAX - 1)"),
    (r"\bmin\(", "max("), (r"\bmin_t\(", "max_t("), (r"\bilog2\(", "1 + ilog2("),
    (r"-EINVAL\b", "0"), (r"\breturn 0;", "return -EINVAL;"),
]


def make(tests, directory, *variables):
    """Build the test of a directory elsewhere; what is compiled once needs no cache."""
    return subprocess.run(["make", "-s", "-C", tests, f"O={directory}", *variables],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "CCACHE_DISABLE": "1"}, check=False)


def run(program, *args, limit=LIMIT):
    """The lines of a test program and its status; one that hangs has failed."""
    try:
        done = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=limit * tier.patience(), text=True, errors="replace",
                              check=False)
    except subprocess.TimeoutExpired:
        return [], -1
    return done.stdout.splitlines(), done.returncode


def fails(program, *args, limit=LIMIT):
    """Whether a test program with a fault has a result that is not ok, or does not end well."""
    with subprocess.Popen([program, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace") as process:
        timer = threading.Timer(limit * tier.patience(), process.kill)
        timer.start()
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (PROCESSOR_LIMIT, PROCESSOR_LIMIT))
        failed = any(line.startswith("not ok") for line in process.stdout)
        if failed:
            process.kill()
        timer.cancel()
    return failed or process.returncode != 0


def check_program(tap, program, limit=LIMIT):
    """The results of the program; it must reach its plan and say the same in its status."""
    lines, status = run(program, limit=limit)
    points, failed, plan = tap.relay(lines)
    tap.result(points and points == plan and (status == 1) == bool(failed) and status in (0, 1),
               f"the program reaches its end: {points} of {plan} results, status {status}")
    return not failed and status == 0


def faults(text, patterns=None):
    """(line number, altered line, altered text) for each fault that can be made."""
    # Comments keep their length, so that positions stay right.
    code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    code = re.sub(r"^#.*", lambda m: " " * len(m[0]), code, flags=re.MULTILINE)
    for pattern, replacement in patterns or FAULTS:
        for match in re.finditer(pattern, code):
            altered = text[:match.start()] + replacement + text[match.end():]
            number = text.count("\n", 0, match.start())
            yield number + 1, altered.splitlines()[number].strip(), altered


def check_faults(tap, wanted, minimum, drawn, is_noticed):
    """
    Each fault must cost a result; the tier 'check' has that many, drawn. wanted: (file, line
    number, line, altered text), the last for is_noticed(name of a directory, file, text); that
    returns None if it does not even compile.
    """
    tap.result(len(wanted) >= minimum, f"{len(wanted)} faults to make")
    wanted = tier.some(wanted, drawn)
    tap.result(is_noticed("none", None, None) is False,
               "without a fault, the quick test notices none")
    with ThreadPoolExecutor(WORKERS) as pool:
        noticed = list(pool.map(lambda job: is_noticed(str(job[0]), job[1][0], job[1][3]),
                                enumerate(wanted)))
    for (file, number, line, _), good in zip(wanted, noticed):
        place = f"{file}: line {number}" if file else f"line {number}"
        tap.result(good, f"noticed: {place}: {line}" +
                   (" (does not compile)" if good is None else ""))
