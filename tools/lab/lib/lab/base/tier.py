# SPDX-License-Identifier: GPL-2.0-only
"""The tiers of tests: 'make check' has each kind of test, 'make check-all' each case of it.

A test asks here how much it has to do. What 'make check' leaves out of a long list is drawn again
with each commit, so that the whole list is met in time; LAB_DRAW repeats a draw. On the other bases
'make check' has the tier 'smoke': few tests, with what each commit is to meet and nothing drawn.
'make check-host' has the tier 'host': the tests of 'make check' that need nothing built.
"""

import os
import random
import sys
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TypeVar

from lab.base.errors import LabError

T = TypeVar("T")
CHECK, ALL, SMOKE, HOST = "check", "all", "smoke", "host"


def is_all() -> bool:
    return os.environ.get("LAB_TIER") == ALL


def pick(check: T, everything: T) -> T:
    """The size, seed or number that is right for the tier."""
    return everything if is_all() else check


def patience() -> float:
    """What limits of time are multiplied by: tests ask for more, as their machine may be busy."""
    try:
        return max(1.0, float(os.environ.get("LAB_PATIENCE") or 1))
    except ValueError:
        raise LabError(f"bad LAB_PATIENCE '{os.environ['LAB_PATIENCE']}'",
                       "it multiplies time limits; use a number such as 3") from None


def some(items: Iterable[T], count: int) -> list[T]:
    """All items in the tier 'all', a drawn few of them in 'check', in their order; else none."""
    items = list(items)
    if os.environ.get("LAB_TIER") == SMOKE:
        return []
    if is_all() or count >= len(items):
        return items
    draw = os.environ.get("LAB_DRAW", "")
    chosen = sorted(random.Random(draw).sample(range(len(items)), count))
    print(f"# {count} of {len(items)}, drawn by LAB_DRAW={draw}; all of them with LAB_TIER={ALL}",
          flush=True)
    return [items[index] for index in chosen]


def asked(items: Iterable[T], count: int | None = None,
          name: Callable[[T], str] = attrgetter("name")) -> list[T]:
    """
    The items whose name holds an argument of this test, which 'lab test -k' gives it. Without one
    all of them or, with a count, some().
    """
    parts = [part.lower() for part in sys.argv[1:]]
    if not parts:
        return list(items) if count is None else some(items, count)
    return [one for one in items if any(part in name(one).lower() for part in parts)]
