# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints test results as TAP: numbered points, the plan at the end, an exit status.

tap.py is the reader of what this writes.
"""

import re
import sys
from collections.abc import Iterable
from typing import NoReturn, TypeVar

NOTES_SHOWN = 60
POINT = re.compile(r"(not )?ok \d+ - (.*)")
Good = TypeVar("Good")


class Points:
    """Counts results; leave() prints the plan and ends the program."""

    def __init__(self) -> None:
        self.count = self.failed = 0
        print("TAP version 14", flush=True)

    def result(self, good: Good, name: str, *notes: str) -> Good:
        """One result; the notes are shown where it is bad."""
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for line in "\n".join(notes).splitlines()[-NOTES_SHOWN:]:
                print(f"# {line}")
        sys.stdout.flush()
        return good

    def skip(self, name: str, reason: str) -> None:
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def relay(self, lines: Iterable[str], prefix: str = "") -> tuple[int, int, int | None]:
        """A program's own results among these; (results, failed, its plan or None)."""
        count, failed, plan = self.count, self.failed, None
        for line in lines:
            if match := POINT.fullmatch(line):
                self.result(not match[1], prefix + match[2])
            elif re.fullmatch(r"1\.\.\d+", line):
                plan = int(line[3:])
            elif not line.startswith("TAP version"):
                print(line if line.startswith("#") else f"# {line}")
        return self.count - count, self.failed - failed, plan

    def leave(self) -> NoReturn:
        if not self.count and sys.argv[1:]:
            skip_all(f"no case has {' or '.join(sys.argv[1:])} in its name")
        print(f"1..{self.count}", flush=True)
        sys.exit(1 if self.failed or not self.count else 0)


def skip_all(reason: str) -> NoReturn:
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def bail_out(reason: str) -> NoReturn:
    """The test could not be made; the reason is one line."""
    print(f"Bail out! {reason}")
    sys.exit(1)
