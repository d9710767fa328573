# SPDX-License-Identifier: GPL-2.0-only
"""One line a step with its time, and what it is at while it runs; several may run at once.

On a terminal that is a live line. Elsewhere, as in the log of a CI, a line of
its own is printed every REPORT_EVERY seconds, marked by a dot, so that a
reader sees that a long step moves; short steps have none.
"""

import re
import resource
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LABEL_WIDTH = 46
REDRAW_EVERY = 0.2
REPORT_EVERY = 30.0
# What tools print may be coloured; cut off in the middle, that would stay.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# The lock is for all that is printed, and for these: how long each step took of this process that
# has ended, and the CPU time of commands that a thread has waited for.
LOCK = threading.RLock()
TIMES: list["Time"] = []
SPENT: dict[int, float] = {}
BEGUN = time.monotonic()


@dataclass(frozen=True)
class Time:
    """How long a step took, and what it used of the CPUs."""

    label: str
    seconds: float
    cpu: float


class Screen:
    """The live lines of a terminal, one for each step that is running."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.drawn = 0

    def wipe(self) -> None:
        if self.drawn:
            sys.stderr.write("\r\033[K" + "\033[A\033[K" * (self.drawn - 1))
            sys.stderr.flush()
        self.drawn = 0

    def draw(self) -> None:
        width = shutil.get_terminal_size().columns - 1
        self.wipe()
        sys.stderr.write("\n".join(step.line()[:width] for step in self.steps))
        sys.stderr.flush()
        self.drawn = len(self.steps)


SCREEN = Screen()


def of_commands() -> float:
    """CPU time of all commands that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def spent(seconds: float) -> None:
    """A command has ended in this thread."""
    thread = threading.get_ident()
    with LOCK:
        SPENT[thread] = SPENT.get(thread, 0.0) + seconds


def cpu_of_thread() -> float:
    """
    CPU time of this thread and of its commands: of all but those of the others. Of short ones, that
    do not say spent(), one that ends in another thread meanwhile is taken for one of this.
    """
    with LOCK:
        others = sum(SPENT.values()) - SPENT.get(threading.get_ident(), 0.0)
        return time.thread_time() + of_commands() - others


def fraction(done: int, total: int) -> str:
    """'37 %  544 of 1470'; of a build that has more to do than was expected, the number alone."""
    if total and done <= total:
        return f"{100 * done // total:3d} %  {done} of {total}"
    return f"{done} done"


class Step:
    """A step that is running. progress() may be called as often as one likes.

    From the first call on its line is kept up to date, also where nothing calls for a while:
    a clock that stands still looks like a machine that hangs.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.note = ""
        self.start, self.cpu = time.monotonic(), cpu_of_thread()
        self.live = sys.stderr.isatty()
        self.shown = 0.0 if self.live else self.start
        self.text = ""
        self.ended = threading.Event()
        self.ticker: threading.Thread | None = None

    def progress(self, text: str) -> None:
        self.text = COLOUR.sub("", text)
        if not self.ticker:
            self.ticker = threading.Thread(target=self._tick, daemon=True)
            with LOCK:
                SCREEN.steps += [self] if self.live else []
            self.ticker.start()
        self._show()

    def count(self, done: int, total: int, text: str = "") -> None:
        """How many of how many are done, and the one that is at hand."""
        self.progress(f"{fraction(done, total)}  {text}".rstrip())

    def line(self) -> str:
        mark, seconds = " " if self.live else ".", time.monotonic() - self.start
        return f"{mark} {self.label:<{LABEL_WIDTH}} {seconds:6.0f} s  {self.text}".rstrip()

    def _tick(self) -> None:
        while not self.ended.wait(1.0 if self.live else REPORT_EVERY / 10):
            self._show()

    def _show(self) -> None:
        with LOCK:
            now = time.monotonic()
            if self.ended.is_set() or now - self.shown < (
                    REDRAW_EVERY if self.live else REPORT_EVERY):
                return
            self.shown = now
            if self.live:
                SCREEN.draw()
            else:
                sys.stderr.write(self.line() + "\n")
                sys.stderr.flush()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Another may print in this block; the live line comes back with the next progress()."""
        with LOCK:
            SCREEN.wipe()
            yield
            if self.live:
                self.shown = 0.0

    def clear(self) -> None:
        """End of the step: nothing is shown from here on."""
        with LOCK:
            self.ended.set()
            SCREEN.wipe()
            SCREEN.steps = [step for step in SCREEN.steps if step is not self]

    def finish(self, failed: bool = False) -> None:
        with LOCK:
            self.clear()
            spent_here = max(0.0, cpu_of_thread() - self.cpu)
            time_of = Time(self.label, time.monotonic() - self.start, spent_here)
            TIMES.append(time_of)
            mark = "x" if failed else " "
            note = f"  {self.note}" if self.note else ""
            print(f"{mark} {self.label:<{LABEL_WIDTH}} {time_of.seconds:6.1f} s{note}",
                  file=sys.stderr, flush=True)


@contextmanager
def step(label: str) -> Iterator[Step]:
    """Run a block as a step; its line is printed also if the block fails."""
    current = Step(label)
    try:
        current.progress("")
        yield current
    except BaseException:
        current.finish(failed=True)
        raise
    current.finish()


def say(text: str) -> None:
    with LOCK:
        SCREEN.wipe()
        print(text, file=sys.stderr, flush=True)
