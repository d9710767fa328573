# SPDX-License-Identifier: GPL-2.0-only
"""Kernel configuration from fragments, with the proof that each line holds.

Kconfig drops without a word what it does not know or what lacks a
dependency, and a test of something that is not compiled in passes or fails
for the wrong reason. So every line of a fragment must be in the result.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.base import paths
from lab.base.errors import LabError

SET = re.compile(r"(CONFIG_\w+)=(.*)")
UNSET = re.compile(r"# (CONFIG_\w+) is not set")


def parse(text: str) -> dict[str, str | None]:
    """{symbol: value}, value None where it is to be off; comments ignored."""
    symbols: dict[str, str | None] = {}
    for line in text.splitlines():
        if match := SET.fullmatch(line.strip()):
            symbols[match[1]] = match[2]
        elif match := UNSET.fullmatch(line.strip()):
            symbols[match[1]] = None
    return symbols


def needs(debug: bool) -> list[Path]:
    """Those that the lab cannot do without: guests, tracing, KASAN and the like."""
    return _files(["base", "x86_64", "trace"] + (["debug"] if debug else []))


def _files(names: Iterable[str]) -> list[Path]:
    """Fragments, each with what is otherwise on this base, if it has a file for that."""
    base = paths.base_name()
    return [file for name in names for part in (name, f"{name}-{base}")
            if (file := paths.CONFIG_DIR / f"{part}.config").exists()]


def of_other(machines: Iterable[str]) -> list[Path]:
    """All that the series' kernel of another processor is made of; arches.py names its own."""
    return _files(["base", *machines, "other", "series-other"])


def fragments(kernel: str, debug: bool) -> list[Path]:
    """All that the lab makes a kernel's configuration of."""
    small = _files(["small"]) if kernel == paths.SMALL else []
    return needs(debug) + own_fragments(kernel, debug) + small


def own_fragments(kernel: str, debug: bool) -> list[Path]:
    """Those of options that only the series has."""
    return _files(["series"] + (["series-debug"] if debug else []) if kernel != "stock" else [])


def packaged() -> list[Path]:
    """What each packaged kernel has of them, and for perf: drivers, no test within the kernel."""
    return _files(["deb-both"])


def racing() -> list[Path]:
    """What makes of the debug kernel the one that finds data races."""
    return _files(["races"])


def counting() -> list[Path]:
    """What a kernel that counts which of its lines run is built with in addition."""
    return _files(["coverage"])


def saved(kernel: str) -> dict[str, str | None]:
    """{symbol: value} of what 'lab menuconfig' has saved, for the kernels of the series."""
    file = paths.saved_config()
    return parse(file.read_text()) if kernel == paths.SERIES and file.is_file() else {}


def differences(own: str, chosen: str) -> dict[str, str | None]:
    """{symbol: value} of what a configuration sets otherwise than another one."""
    before = parse(own)
    return {name: value for name, value in parse(chosen).items() if before.get(name) != value}


def defines(text: str, symbol: str) -> bool:
    """Whether a Kconfig file defines a symbol, CONFIG_..."""
    name = symbol.removeprefix("CONFIG_")
    return bool(re.search(rf"^\s*(?:menu)?config {name}$", text, re.MULTILINE))


def merge(files: Iterable[Path]) -> dict[str, str | None]:
    """All fragments as one; a later one overrides an earlier one."""
    symbols: dict[str, str | None] = {}
    for file in files:
        symbols.update(parse(file.read_text()))
    return symbols


def as_text(symbols: Mapping[str, str | None]) -> str:
    return "".join(f"# {name} is not set\n" if value is None else f"{name}={value}\n"
                   for name, value in symbols.items())


def violations(wanted: Mapping[str, str | None], config: str) -> list[str]:
    """What the final configuration does not have as the fragments want it."""
    have = parse(config)
    return [f"{name}={'n' if value is None else value}"
            for name, value in wanted.items() if have.get(name) != value]


def check(wanted: Mapping[str, str | None], config: str, log: Path) -> None:
    bad = violations(wanted, config)
    if bad:
        raise LabError(
            f"the kernel's configuration did not take {', '.join(bad)}",
            f"see what it depends on with 'make menuconfig' and fix {paths.CONFIG_DIR}",
            log=log)


def check_saved(needed: Mapping[str, str | None], chosen: Mapping[str, str | None], config: str,
                log: Path | None) -> None:
    """The saved options are in the configuration, and the lab can still use it."""
    remedy = f"choose again by 'make menuconfig', or remove {paths.shown(paths.saved_config())}"
    if bad := violations(needed, config):
        raise LabError(f"with the saved options the kernel lacks what the lab needs: "
                       f"{', '.join(bad)}", remedy, log=log)
    if bad := violations(chosen, config):
        raise LabError(f"the kernel does not take these saved options: {', '.join(bad)}", remedy,
                       log=log)
