# SPDX-License-Identifier: GPL-2.0-only
"""--pt CAPS: which Intel PT capabilities the guest's CPU shows.

The names are the user's; the table says which property of the emulated CPU
each one sets (tools/emulator/README.md describes the properties).
"""

from lab.base.errors import LabError

# name: (CPU property, what it is)
CAPABILITIES = {
    "cr3filter": ("x-pt-cr3filter", "CR3 filtering"),
    "psbcyc": ("x-pt-psbcyc", "configurable PSB period and CYC packets"),
    "ipfilter": ("x-pt-ipfilter", "IP filtering, TraceStop and MTC as one CPUID bit"),
    "mtc": ("x-pt-mtc", "MTC packets and their periods"),
    "ptwrite": ("x-pt-ptwrite", "the PTWRITE instruction"),
    "powerev": ("x-pt-powerev", "power event trace"),
    "event": ("x-pt-event", "event trace (CFE, EVD)"),
    "notnt": ("x-pt-notnt", "TNT packets can be disabled"),
    "topa": ("x-pt-topa", "ToPA output"),
    "multi": ("x-pt-multi", "several entries in a ToPA table"),
    "single": ("x-pt-single", "single-range output"),
    "psbpmi": ("x-pt-psbpmi", "PSB and PMI preservation"),
    "lip": ("x-pt-lip", "IP payloads are linear addresses"),
    "bts": ("x-bts", "branch trace store"),
    "dtes64": ("x-bts-dtes64", "words of 64 bits in the debug store"),
    "ds-cpl": ("x-bts-ds-cpl", "BTS by CPL"),
    "pebs": ("x-pebs", "PEBS, by which counters write records; off unless named"),
    "pebs-adaptive": ("x-pebs-adaptive", "PEBS of any counter, composed records; likewise"),
    "pebs-trace": ("x-pebs-trace", "and records that go to the trace; likewise"),
}
RANGES = ("ranges", "x-pt-ranges", "number of IP filter ranges, 0 to 4")
MAX_RANGES = 4
# What the SDM permits a processor and software must bear, off unless named.
MANNERS = ("pad", "mnt", "psb", "tnt", "cyc", "mtc", "ip", "psb-ip", "middle", "cbr", "defer",
           "topa")
RUDE = "rude"
# Errata of named processors, and those of them that show with an overflow.
ERRATA_OF_OVERFLOW = ("skd007", "skd010", "apl11", "apl12")
ERRATA = ("bdm70", "bdm106", "skl014", "skl168", "lbr-alone") + ERRATA_OF_OVERFLOW


def _capability(word: str) -> str:
    value = "off" if word.startswith("no-") else "on"
    name = word.removeprefix("no-")
    if name not in CAPABILITIES:
        known = " ".join([*CAPABILITIES, "ranges=N", "rude", "rude=SEED"])
        raise LabError(f"unknown PT capability '{word}'",
                       f"the known ones are {known}, each also as no-NAME")
    return f"{CAPABILITIES[name][0]}={value}"


def _ranges(word: str) -> str:
    number = word.partition("=")[2]
    if not number.isdecimal() or int(number) > MAX_RANGES:
        raise LabError(f"bad number of IP ranges '{word}'",
                       f"use ranges=0 to ranges={MAX_RANGES}")
    return f"{RANGES[1]}={int(number)}"


def _rude(word: str) -> list[str]:
    """'rude' or 'rude=SEED': all manners; 'rude-NAME': one."""
    if word.startswith(f"{RUDE}-"):
        name = word.removeprefix(f"{RUDE}-")
        if name not in MANNERS:
            raise LabError(f"unknown manner '{word}'",
                           "the known ones are " + " ".join(f"{RUDE}-{one}" for one in MANNERS))
        return [f"x-pt-{RUDE}-{name}=on"]
    seed = word.partition("=")[2] or "1"
    if not seed.isdecimal():
        raise LabError(f"bad seed '{word}'", f"use {RUDE}=1, {RUDE}=2 and so on")
    return [f"x-pt-{RUDE}-{one}=on" for one in MANNERS] + [f"x-pt-seed={seed}"]


def _erratum(word: str) -> str:
    name = word.removeprefix("erratum-")
    if name not in ERRATA:
        raise LabError(f"unknown erratum '{word}'",
                       "the known ones are " + " ".join(f"erratum-{one}" for one in ERRATA))
    return f"x-pt-erratum-{name}=on"


def _is_rude(word: str) -> bool:
    return word == RUDE or word.startswith((f"{RUDE}=", f"{RUDE}-"))


def cpu_properties(caps: str) -> list[str]:
    """CPU properties of a string such as 'no-mtc,ranges=2'.

    'off' hides Intel PT altogether. A word that starts with 'x-' is handed
    on as it is: the model's fault injection is switched on that way.
    """
    if caps == "off":
        return ["intel-pt=off"]
    properties = ["intel-pt=on"]
    for word in filter(None, (caps or "").split(",")):
        if word.startswith("x-"):
            properties.append(word)
        elif word.startswith("ranges="):
            properties.append(_ranges(word))
        elif _is_rude(word):
            properties += _rude(word)
        elif word.startswith("erratum-"):
            properties.append(_erratum(word))
        else:
            properties.append(_capability(word))
    return properties
