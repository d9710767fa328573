# SPDX-License-Identifier: GPL-2.0-only
"""The tests within the kernel: which suites there are, and what they say, relayed."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from lab.testing import tap as reader
from lab.testing.points import Points, bail_out

# Below these are the tests of the core, on any processor; and with Intel's PMUs
CORE = ("kernel/events/aux",)
X86 = (*CORE, "arch/x86/events/intel")
SUITE = re.compile(r'\.name\s*=\s*"(\w+)"')
SCRIPT = """
for suite in {}; do
    echo "@@ $suite"
    cat /sys/kernel/debug/kunit/$suite/results
done
"""


def suites(root: Path, directories: Sequence[str]) -> list[str]:
    """Names of the suites in tests below directories; each file has one."""
    sources = [path for directory in directories
               for path in sorted((root / directory).rglob("tests/*_kunit.c"))]
    found = [SUITE.findall(path.read_text()) for path in sources]
    if not found or not all(found):
        bail_out(f"a file has no KUnit suite below {', '.join(directories)}")
    return [name for names in found for name in names]


def script(names: Iterable[str]) -> str:
    """What a shell in the guest does to have the results of all suites."""
    return SCRIPT.format(" ".join(names))


def _relay(points: Points, suite: str, text: str, prefix: str) -> None:
    """The results of one suite; what the kernel says about a test is behind it."""
    report = reader.parse(text)
    notes = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    for test in report.tests:
        skipped = [f"skipped: {test.skip}"] if test.skip else []
        points.result(test.passed and not skipped, f"{prefix}{suite}.{test.name}", *skipped, *notes)
    points.result(report.tests and not report.problems, f"{prefix}{suite} reaches its end",
                  *report.problems, text)


def relay(points: Points, names: Iterable[str], text: str, prefix: str = "") -> None:
    """The results of all suites, of what the script has printed. A skipped test has failed."""
    parts = dict(part.split("\n", 1) for part in text.split("@@ ")[1:])
    for suite in names:
        _relay(points, suite, parts.get(suite, ""), prefix)
