# SPDX-License-Identifier: GPL-2.0-only
"""Kernel configuration from fragments, with the proof that each line holds.

Kconfig drops without a word what it does not know or what lacks a
dependency, and a test of something that is not compiled in passes or fails
for the wrong reason. So every line of a fragment must be in the result.
"""

import re

import paths
from errors import LabError

SET = re.compile(r"(CONFIG_\w+)=(.*)")
UNSET = re.compile(r"# (CONFIG_\w+) is not set")


def parse(text):
    """{symbol: value}, value None where it is to be off; comments ignored."""
    symbols = {}
    for line in text.splitlines():
        if match := SET.fullmatch(line.strip()):
            symbols[match[1]] = match[2]
        elif match := UNSET.fullmatch(line.strip()):
            symbols[match[1]] = None
    return symbols


def fragments(kernel, debug):
    """Those that begin with series, if there are any, hold the options that only the series has."""
    names = ["base", "trace"] + (["debug"] if debug else [])
    files = [paths.CONFIG_DIR / f"{name}.config" for name in names]
    own = ["series"] + (["series-debug"] if debug else []) if kernel != "stock" else []
    return files + [file for name in own
                    if (file := paths.CONFIG_DIR / f"{name}.config").exists()]


def merge(files):
    """All fragments as one; a later one overrides an earlier one."""
    symbols = {}
    for file in files:
        symbols.update(parse(file.read_text()))
    return symbols


def as_text(symbols):
    return "".join(f"# {name} is not set\n" if value is None else f"{name}={value}\n"
                   for name, value in symbols.items())


def violations(wanted, config):
    """What the final configuration does not have as the fragments want it."""
    have = parse(config)
    return [f"{name}={'n' if value is None else value}"
            for name, value in wanted.items() if have.get(name) != value]


def check(wanted, config, log):
    bad = violations(wanted, config)
    if bad:
        raise LabError(
            f"the kernel's configuration did not take {', '.join(bad)}",
            f"see what it depends on with 'make menuconfig' and mend {paths.CONFIG_DIR}",
            log=log)
