# SPDX-License-Identifier: GPL-2.0-only
"""The kselftests of AUX areas: each of their results is one of the report."""

import re
import subprocess
from functools import partial

import expected
from checks import Check
from common import PROGRAMS, read, run
from settings import PARANOID

RESULT = re.compile(r"^(not ok|ok) (\d+) (?:- )?(.*?)(?:\s*# SKIP *(.*))?$", re.MULTILINE)
PLAN = re.compile(r"^1\.\.(\d+)(?: *# SKIP *(.*))?$", re.MULTILINE)
NO_REASON = "it says no reason"
# An assertion has a line of its own before the one that tells of its end.
EXPECTED = re.compile(r"^# +(\w+\.c:\d+:\w+:.*|\w+: Test (?!terminated by assertion).*)$")
# What the largest areas need, pages of the lists included.
GIB_MEMORY = 16 << 20
QUICK_WITHOUT = ("aux_big_test",)
# A kernel with the fault that it is about has CPU 1 count nothing from then on.
LAST = "aux_cgroup_test"


def memory_kib():
    found = re.search(r"^MemAvailable:\s+(\d+) kB", read("/proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) if found else 0


def programs(quick):
    names = sorted((file.name for file in PROGRAMS.glob("aux_*")),
                   key=lambda name: (name == LAST, name))
    return [name for name in names if not quick or name not in QUICK_WITHOUT]


def arguments(name):
    """Where the memory is not there for them, without the largest areas."""
    if name != "aux_big_test" or memory_kib() >= GIB_MEMORY:
        return []
    return [word for size in (2, 4) for pmu in ("synth", "pt", "bts")
            for word in ("-V", "gib_%d_%s" % (size, pmu))]


def why(lines, number):
    """What the harness says of a failure, before its result."""
    at = next((i for i, line in enumerate(lines) if line.startswith("not ok %d " % number)), 0)
    for line in reversed(lines[:at]):
        if line.startswith(("ok ", "not ok ")):
            break
        found = EXPECTED.match(line)
        if found:
            return found.group(1)[:200]
    return "it failed"


def result(name, verdict, reason=""):
    return {"name": name, "verdict": verdict, "reason": reason}


def results(name, status, output):
    """A result for each of the program's, and one more if it did not come to its end."""
    lines, found = output.splitlines(), []
    for match in RESULT.finditer(output):
        word, number, test, skip = match.groups()
        title = "%s: %s" % (name, test)
        if skip is not None:
            found.append(result(title, "skip", skip or NO_REASON))
        elif word == "ok":
            found.append(result(title, "pass"))
        else:
            found.append(result(title, "fail", why(lines, int(number))))
    plan = PLAN.search(output)
    if plan and plan.group(1) == "0" and not found and status in (0, 4):
        return [result(name, "skip", plan.group(2) or NO_REASON)]
    if not plan or int(plan.group(1)) != len(found) or status not in (0, 1, 4):
        found.append(result(name + ": comes to its end", "fail",
                            "status %d after %d results" % (status, len(found))))
    return found


def run_program(context, name):
    settings = context.settings
    # Their children have no privileges, and trace themselves.
    if settings.number(PARANOID) > 2:
        settings.set(PARANOID, 2)
    settings.note_for(name)
    # Not on small cores, whose counters are another PMU's than those that the tests use.
    # The harness says on standard error why a test fails.
    status, out, _ = run([PROGRAMS / name, *arguments(name)], context.work, context.large,
                         errors=subprocess.STDOUT)
    return results(name, status, out)


def checks(context, quick):
    mark = partial(expected.mark, series=context.series)
    return [Check("selftests", name, "", partial(run_program, context, name), mark)
            for name in programs(quick)]
