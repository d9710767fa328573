# SPDX-License-Identifier: GPL-2.0-only
"""What a timeline says: a file of Chrome trace events, read line by line.

perf's dlfilter-timeline.so writes an event a line, and a call behind the calls in it. A page can
show so much, so that of a long one only calls above some duration go there; holes all do.
"""

import heapq
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.base.errors import LabError

# Characters of events; more than this makes a browser slow.
LIMIT = 24 << 20
TOP = 10
# A comma and a new line
SEPARATOR = 2
# Slices that are no calls of functions.
NO_CALLS = ("interrupt", "syscall", "running", "hole", "untraced")
# Slices that are shown however short they are.
ALWAYS = ("running", "hole")
# Durations fall into classes, each a twentieth longer than the one before; the shortest is 1 ns.
SHORTEST, STEP = 0.001, 1.05


@dataclass
class Facts:
    """A whole timeline in figures; times in microseconds."""

    begin: float = float("inf")
    end: float = 0.0
    calls: int = 0
    holes: dict[str, int] = field(default_factory=dict)
    # what was written with the events: {"trace": "Intel PT", ...}
    about: dict[str, Any] = field(default_factory=dict)
    # (duration, function, object, thread) of the longest calls
    longest: list[tuple[float, str, str, str]] = field(default_factory=list)
    # {(function, object): time in it and in nothing that it calls}
    own: Counter[tuple[str, str]] = field(default_factory=Counter)
    # slices that are not shown, and the duration up to which they are not; 0: all are shown
    left_out: int = 0
    threshold: float = 0.0
    # of slices that are as long as that, each so-many-th is shown; 0: none
    every: int = 0

    def duration(self) -> float:
        return max(self.end - self.begin, 0.0)

    def busiest(self) -> Sequence[tuple[tuple[str, str], float]]:
        return self.own.most_common(TOP)


def text_of(event: dict[str, Any]) -> str:
    """
    How a page has an event. What is said of a slice beside its name would be part of the name in
    the viewer, and calls of one function be different ones.
    """
    if event["ph"] == "X":
        event = {key: value for key, value in event.items() if key != "args"}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def events(path: Path) -> Iterator[dict[str, Any]]:
    """Each event of a timeline; last, what else is in the file."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        try:
            if not next(lines, "").startswith("{"):
                raise ValueError("no object")
            for line in lines:
                text = line.rstrip(",\n")
                if text.startswith("]"):
                    yield json.loads("{" + "".join(lines) if text == "]" else "{}")
                    return
                yield json.loads(text)
        except ValueError as error:
            raise LabError(f"the timeline {path} is damaged ({error})",
                           "make it again") from None
    raise LabError(f"the timeline {path} has no end", "make it again; the disk may be full")


def _class_of(duration: float) -> int:
    """The number of the class whose upper bound is the shortest not below a duration."""
    return max(math.ceil(math.log(max(duration, SHORTEST) / SHORTEST, STEP) - 1e-9), 0)


def _bound_of(number: int) -> float:
    return SHORTEST * STEP ** number


class _Reader:
    """Collects the facts, and how many characters slices of which duration take."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.threads: dict[int, str] = {}
        # {thread: [(begin, duration)] of slices that have no caller yet}
        self.waiting: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
        self.sizes: Counter[int] = Counter()
        self.numbers: Counter[int] = Counter()
        self.always = 0
        self.longest: list[tuple[float, int, dict[str, Any]]] = []
        self.serial = 0

    def event(self, event: dict[str, Any]) -> None:
        text = text_of(event)
        if event["ph"] == "M" and event["name"] == "thread_name":
            self.threads[event["tid"]] = event["args"]["name"]
        if event["ph"] != "X" or event["cat"] in ALWAYS:
            self.always += len(text) + SEPARATOR
        else:
            self._slice(text, event)

    def _slice(self, text: str, event: dict[str, Any]) -> None:
        facts, begin, duration = self.facts, event["ts"], event["dur"]
        facts.begin, facts.end = min(facts.begin, begin), max(facts.end, begin + duration)
        number = _class_of(duration)
        self.sizes[number] += len(text) + SEPARATOR
        self.numbers[number] += 1
        inside, waiting = 0.0, self.waiting[event["tid"]]
        while waiting and waiting[-1][0] >= begin:
            inside += waiting.pop()[1]
        waiting.append((begin, duration))
        if event["cat"] in NO_CALLS:
            return
        facts.calls += 1
        facts.own[event["name"], event["cat"]] += max(duration - inside, 0.0)
        self.serial += 1
        heapq.heappush(self.longest, (duration, -self.serial, event))
        if len(self.longest) > TOP:
            heapq.heappop(self.longest)

    def end(self, about: dict[str, Any]) -> None:
        facts = self.facts
        facts.about = about.get("otherData", {})
        facts.holes = facts.about.get("holes", {})
        facts.longest = [(event["dur"], event["name"], event["cat"],
                          self.threads.get(event["tid"], str(event["tid"])))
                         for _, _, event in sorted(self.longest, reverse=True)]
        if facts.begin > facts.end:
            facts.begin = facts.end

    def choose(self, limit: int) -> None:
        """
        Up to which duration slices are left out, so that the rest has room. Calls may all be alike:
        what room is left has some of the longest class that does not fit, from all of the time.
        """
        room, facts = limit - self.always, self.facts
        for number in sorted(self.sizes, reverse=True):
            if self.sizes[number] > room:
                facts.threshold = _bound_of(number)
                facts.every = -(-self.sizes[number] // room) if room > 0 else 0
                facts.left_out = sum(count for other, count in self.numbers.items()
                                     if other <= number)
                if facts.every:
                    facts.left_out -= -(-self.numbers[number] // facts.every)
                return
            room -= self.sizes[number]


def read(path: Path, limit: int = LIMIT) -> Facts:
    """The facts of a timeline, and what of it a page of so many characters leaves out."""
    reader = _Reader()
    for event in events(path):
        if "ph" in event:
            reader.event(event)
        else:
            reader.end(event)
    reader.choose(limit)
    return reader.facts


def coarse(path: Path, facts: Facts, write: Callable[[str], object]) -> None:
    """Write the events that are to be shown, as Chrome has them; calls of each other stay nested."""
    first = True
    write('{"displayTimeUnit":"ns","traceEvents":[\n')
    last, alike = _class_of(facts.threshold) if facts.threshold else -1, 0

    def is_shown(event: dict[str, Any]) -> bool:
        nonlocal alike
        if event["ph"] != "X" or event["cat"] in ALWAYS:
            return True
        number = _class_of(event["dur"])
        if number != last or not facts.every:
            return number > last
        alike += 1
        return alike % facts.every == 1 % facts.every

    for event in events(path):
        if "ph" in event and is_shown(event):
            write(text_of(event) if first else f",\n{text_of(event)}")
            first = False
    write("\n]}\n")
