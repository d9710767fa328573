# SPDX-License-Identifier: GPL-2.0-only
"""One line a step with its time, and what it is at while it runs.

On a terminal that is a live line. Elsewhere, as in the log of a CI, a line of
its own is printed every REPORT_EVERY seconds, marked by a dot, so that a
reader sees that a long step moves; short steps have none.
"""

import re
import shutil
import sys
import threading
import time
from contextlib import contextmanager

LABEL_WIDTH = 46
# (label, seconds) of each step of this process that has ended.
TIMES = []
REDRAW_EVERY = 0.2
REPORT_EVERY = 30.0
# What tools print may be coloured; cut off in the middle, that would stay.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def fraction(done, total):
    """'37 %  544 of 1470'; of a build that has more to do than was expected, the number alone."""
    if total and done <= total:
        return f"{100 * done // total:3d} %  {done} of {total}"
    return f"{done} done"


class Step:
    """A step that is running. progress() may be called as often as one likes.

    From the first call on its line is kept up to date, also where nothing calls for a while:
    a clock that stands still looks like a machine that hangs.
    """

    def __init__(self, label):
        self.label = label
        self.note = ""
        self.start = time.monotonic()
        self.live = sys.stderr.isatty()
        self.shown = 0.0 if self.live else self.start
        self.text = ""
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.ticker = None

    def progress(self, text):
        self.text = COLOUR.sub("", text)
        self._show()
        if not self.ticker:
            self.ticker = threading.Thread(target=self._tick, daemon=True)
            self.ticker.start()

    def count(self, done, total, text=""):
        """How many of how many are done, and the one that is at hand."""
        self.progress(f"{fraction(done, total)}  {text}".rstrip())

    def _tick(self):
        while not self.ended.wait(1.0 if self.live else REPORT_EVERY / 10):
            self._show()

    def _show(self):
        with self.lock:
            now = time.monotonic()
            if self.ended.is_set() or now - self.shown < (
                    REDRAW_EVERY if self.live else REPORT_EVERY):
                return
            self.shown = now
            mark = " " if self.live else "."
            line = f"{mark} {self.label:<{LABEL_WIDTH}} {now - self.start:6.0f} s  {self.text}"
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + line[:width] if self.live else line.rstrip() + "\n")
            sys.stderr.flush()

    @contextmanager
    def hidden(self):
        """Another may print in this block; the live line comes back with the next progress()."""
        with self.lock:
            self._wipe()
            yield
            if self.live:
                self.shown = 0.0

    def _wipe(self):
        if self.live:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def clear(self):
        """End of the step: nothing is shown from here on."""
        with self.lock:
            self.ended.set()
            self._wipe()

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
        current.progress("")
        yield current
    except BaseException:
        current.finish(failed=True)
        raise
    current.finish()


def say(text):
    print(text, file=sys.stderr, flush=True)
