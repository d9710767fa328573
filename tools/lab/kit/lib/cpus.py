# SPDX-License-Identifier: GPL-2.0-only
"""Which CPU things are measured on: not the first core, and of a hybrid processor a large one."""

from pathlib import Path

from common import read


def listed(text):
    """{0, 1, 2, 3, 8} of "0-3,8"."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


class Choice:
    """Of the CPUs that can be used: the one to measure on, large ones, and a small one or None.

    Only a hybrid processor has large and small ones.
    """

    def __init__(self, usable, sys="/sys"):
        devices = Path(sys, "bus/event_source/devices")
        self.large = usable & listed(read(devices / "cpu_core/cpus"))
        small = usable & listed(read(devices / "cpu_atom/cpus"))
        # It has more interrupts than others, and so has what shares its core.
        topology = Path(sys, "devices/system/cpu/cpu0/topology")
        first = {0} | listed(read(topology / "thread_siblings_list"))
        among = self.large or usable
        self.cpu = min(among - first or among)
        self.kind = "core" if self.large else "atom" if small else ""
        self.small = min(small) if small and self.large else None
