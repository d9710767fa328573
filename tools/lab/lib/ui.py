# SPDX-License-Identifier: GPL-2.0-only
"""One line a step with its time; on a terminal, a live line while it runs."""

import shutil
import sys
import time
from contextlib import contextmanager

LABEL_WIDTH = 46
# (label, seconds) of each step of this process that has ended.
TIMES = []


class Step:
    """A step that is running. progress() may be called as often as one likes."""

    def __init__(self, label):
        self.label = label
        self.note = ""
        self.start = time.monotonic()
        self.live = sys.stderr.isatty()
        self.shown = 0.0

    def progress(self, text):
        now = time.monotonic()
        if not self.live or now - self.shown < 0.2:
            return
        self.shown = now
        width = shutil.get_terminal_size().columns - 1
        line = f"  {self.label:<{LABEL_WIDTH}} {now - self.start:6.0f} s  {text}"
        sys.stderr.write("\r\033[K" + line[:width])
        sys.stderr.flush()

    def clear(self):
        if self.live:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def finish(self, failed=False):
        self.clear()
        seconds = time.monotonic() - self.start
        TIMES.append((self.label, seconds))
        mark = "x" if failed else " "
        note = f"  {self.note}" if self.note else ""
        print(f"{mark} {self.label:<{LABEL_WIDTH}} {seconds:6.1f} s{note}",
              file=sys.stderr, flush=True)


@contextmanager
def step(label):
    """Run a block as a step; its line is printed also if the block fails."""
    current = Step(label)
    try:
        yield current
    except BaseException:
        current.finish(failed=True)
        raise
    current.finish()


def say(text):
    print(text, file=sys.stderr, flush=True)
