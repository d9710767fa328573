# SPDX-License-Identifier: GPL-2.0-only
"""--cpu MODEL: which processor the guest shows.

The table has those of QEMU's models with Intel PT that differ in what the kernel
makes of them: it goes by the model for what CPUID does not say. The capabilities
of PT are those of --pt on each of them. lab/models holds the table to guests.
"""

from dataclasses import dataclass

from lab.base.errors import LabError

DEFAULT = "Skylake-Server"


@dataclass(frozen=True)
class Model:
    """What a guest shows of its processor, and what the kernel makes of it."""

    # a part of its name in /proc/cpuinfo
    shown: str
    # by which of its tables the kernel names events
    events: str
    # whether a trace and last branch records may be on at a time
    together: bool
    # how many branches such a record has; 0: the kernel does not have them there
    depth: int = 32
    # whether there are traces without branches (intel_pt/branch=0/)
    branchless: bool = True

    def what(self) -> str:
        pair = "PT and LBR at a time" if self.together else "PT or LBR, never both"
        lbr = f"{pair}, {self.depth} branches deep" if self.depth else "PT, no LBR"
        more = "" if self.branchless else "; no trace without branches"
        return f"{self.events}; {lbr}{more}"


MODELS = {
    "Broadwell": Model("(Broadwell", "Broadwell events", False, depth=16, branchless=False),
    DEFAULT: Model("Xeon Processor (Skylake", "Skylake events", False),
    "Icelake-Server": Model("(Icelake", "Icelake events", True),
    "SapphireRapids": Model("(SapphireRapids", "Sapphire Rapids events", False, depth=0),
    "GraniteRapids": Model("(GraniteRapids", "Granite Rapids events", False, depth=0),
    "SierraForest": Model("(SierraForest", "Crestmont events", False, depth=0),
    "Denverton": Model("(Denverton", "Goldmont events", True),
    "Snowridge": Model("(Snowridge", "Tremont events", True),
}


def named(text: str) -> str:
    """The name of a model with Intel PT, or the error for any other name."""
    if text in MODELS:
        return text
    if text.isdecimal():
        raise LabError(f"no CPU model '{text}'", "--cpus N is how many CPUs there are")
    raise LabError(f"the lab knows no CPU model '{text}' with Intel PT",
                   f"use one of {' '.join(MODELS)}; 'lab list' says how they differ")
