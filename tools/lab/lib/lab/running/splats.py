# SPDX-License-Identifier: GPL-2.0-only
"""Which lines of a guest's console say that its kernel has met a bug."""

import re
from collections.abc import Iterable, Sequence

from lab.base.errors import LabError

SPLATS = re.compile("|".join((
    r"WARNING: CPU: \d+",
    # Newer kernels: WARNING: FILE:LINE at FUNCTION, CPU#N: COMM/PID
    r"WARNING: .*\bat \S+, CPU#\d+: ",
    r"WARNING: .*(?:lock|recursion|circular|inconsistent|suspicious)",
    r"BUG: ",
    r"kernel BUG at",
    r"KASAN: ",
    r"UBSAN: ",
    r"Oops: ",
    # The number of an oops, whatever an architecture calls it
    r"\[#\d+\]",
    r"Internal error: ",
    r"general protection fault",
    r"Unable to handle kernel",
    r"Kernel panic - not syncing",
    r"possible (?:circular|recursive) locking",
    r"possible irq lock inversion",
    r"INFO: rcu_\w+ (?:self-)?detected",
    r"rcu: INFO: .*detected",
    r"INFO: task .* blocked for more than",
    r"INFO: trying to register non-static key",
    r"soft lockup",
    r"hard LOCKUP",
    r"Uhhuh\. NMI received",
    r"Dazed and confused",
    r"perfevents: irq loop stuck",
    r"unchecked MSR access error",
    r"scheduling while atomic",
    r"sleeping function called from invalid context",
    r"suspicious RCU usage",
    r"double fault",
    r"stack segment fault",
    r"refcount_t: ",
    r"DEBUG_LOCKS_WARN_ON",
)))
# The kernel's time stamp, and the CPU or thread with PRINTK_CALLER.
PREFIX = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ?")


def compile_allowed(patterns: Iterable[str]) -> list[re.Pattern[str]]:
    try:
        return [re.compile(pattern) for pattern in patterns]
    except re.error as error:
        raise LabError(f"bad regular expression in --allow-splat: {error}",
                       "use Python's syntax, for example 'lkdtm'") from None


def find(text: str, allowed: Sequence[re.Pattern[str]] = ()) -> list[str]:
    """The lines that are splats, without those that a pattern allows."""
    found = []
    for line in text.splitlines():
        line = PREFIX.sub("", line.strip("\r"))
        if SPLATS.search(line) and not any(p.search(line) for p in allowed):
            found.append(line.strip())
    return found
