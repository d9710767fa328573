# SPDX-License-Identifier: GPL-2.0-or-later
"""Test Anything Protocol: numbered results, a plan at the end, an exit status."""

import os
import sys


class Tap:
    """Counts results; leave() prints the plan and ends the program."""

    def __init__(self):
        self.count = self.failed = 0

    def result(self, good, name, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for line in detail.splitlines()[-60:]:
                print(f"# {line}")
        sys.stdout.flush()
        return good

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}")
        sys.stdout.flush()

    def leave(self):
        print(f"1..{self.count}")
        sys.stdout.flush()
        # Nothing may turn a failure into success after this.
        os._exit(1 if self.failed or not self.count else 0)


def skip_all(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)
