# SPDX-License-Identifier: GPL-2.0-only
"""Reading of TAP and KTAP: results, plans, nesting, skips with a reason.

What does not add up is a failure: no plan, fewer or more results than
planned, a failure in the middle of a line that looks like a success.
"""

import re
from dataclasses import dataclass, field

RESULT = re.compile(r"(\s*)(not ok|ok)\b\s*(\d+)?\s*(?:-\s*)?(.*)$")
PLAN = re.compile(r"(\s*)1\.\.(\d+)\s*(?:#\s*(.*))?$")
DIRECTIVE = re.compile(r"#\s*(SKIP|TODO|XFAIL|TIMEOUT|ERROR)\b:?\s*(.*)$", re.IGNORECASE)
BAIL_OUT = re.compile(r"\s*Bail out!\s*(.*)")
# Kernel lines in a console that was passed through: "[    1.234567] ok 1 ..."
STAMP = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ")


@dataclass
class Test:
    """One result line that has no results below it."""

    name: str
    passed: bool
    skip: str = ""


@dataclass
class Level:
    """The results at one depth of indentation."""

    indent: int
    planned: int = -1
    seen: int = 0
    start: int = 0


@dataclass
class Report:
    """All that a test file said."""

    tests: list[Test] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> int:
        return sum(t.passed and not t.skip for t in self.tests)

    @property
    def failed(self) -> int:
        return sum(not t.passed for t in self.tests)

    @property
    def skipped(self) -> list[Test]:
        return [t for t in self.tests if t.passed and t.skip]


class Parser:
    """Feed it lines, then ask for the report."""

    def __init__(self) -> None:
        self.report = Report()
        self.levels: list[Level] = []
        self.top_plan = False

    def _level(self, indent: int) -> Level:
        """The level of this indentation; deeper ones are left alone."""
        for level in self.levels:
            if level.indent == indent:
                return level
        self.levels.append(Level(indent, start=len(self.report.tests)))
        return self.levels[-1]

    def _close_below(self, indent: int) -> bool:
        """End the levels below a result; true if there were any with results."""
        below = [level for level in self.levels if level.indent > indent]
        self.levels = [level for level in self.levels if level.indent <= indent]
        for level in below:
            self._check_plan(level)
        return any(level.seen for level in below)

    def _check_plan(self, level: Level) -> None:
        if level.planned < 0:
            self.report.problems.append("no plan (1..N)")
        elif level.planned != level.seen:
            self.report.problems.append(
                f"planned {level.planned} results, got {level.seen}")

    def line(self, text: str) -> None:
        text = STAMP.sub("", text.rstrip("\r\n"))
        if match := PLAN.match(text):
            self._plan(match)
        elif match := BAIL_OUT.match(text):
            self.report.problems.append(f"bailed out: {match[1]}")
        elif match := RESULT.match(text):
            self._result(match)

    def _plan(self, match: re.Match[str]) -> None:
        indent, planned = len(match[1].expandtabs()), int(match[2])
        self._level(indent).planned = planned
        if planned == 0 and indent == 0:
            reason = DIRECTIVE.search("# " + (match[3] or ""))
            if reason and reason[2]:
                self.report.tests.append(Test("all", True, reason[2]))
            else:
                self.report.problems.append("plan of no tests without '# SKIP reason'")

    def _result(self, match: re.Match[str]) -> None:
        indent, passed = len(match[1].expandtabs()), match[2] == "ok"
        before = len(self.report.tests)
        start = min((lv.start for lv in self.levels if lv.indent > indent), default=before)
        group = self._close_below(indent)
        level = self._level(indent)
        level.seen += 1
        if match[3] and int(match[3]) != level.seen:
            self.report.problems.append(f"result {level.seen} is numbered {match[3]}")
        children_failed = any(not t.passed for t in self.report.tests[start:])
        if group and passed and children_failed:
            self.report.problems.append(f"'{match[4]}' is ok but a result below it is not")
        if not group or (not passed and not children_failed):
            self.report.tests.append(self._test(match[4], passed))

    def _test(self, text: str, passed: bool) -> Test:
        directive = DIRECTIVE.search(text)
        name = (text[:directive.start()] if directive else text).strip()
        if not directive:
            return Test(name, passed)
        kind, reason = directive[1].upper(), directive[2].strip()
        if kind in ("TIMEOUT", "ERROR"):
            return Test(f"{name} ({kind.lower()})", False)
        if kind == "SKIP" and not reason:
            self.report.problems.append(f"'{name}' is skipped without a reason")
        if kind in ("TODO", "XFAIL"):
            return Test(name, True, f"expected to fail: {reason}")
        return Test(name, passed, reason or "no reason")

    def finish(self) -> Report:
        self._close_below(-1)
        if not self.report.tests and not self.report.problems:
            self.report.problems.append("no results")
        return self.report


def parse(text: str) -> Report:
    parser = Parser()
    for line in text.splitlines():
        parser.line(line)
    return parser.finish()
