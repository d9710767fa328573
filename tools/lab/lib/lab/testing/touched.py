# SPDX-License-Identifier: GPL-2.0-only
"""What perf's functions touch: cache lines, shared locks, other CPUs; see bench/aux/touched.c."""

from pathlib import Path

from lab.base import paths
from lab.building import auxmodule
from lab.running import plugin
from lab.testing.comparison import Guest

SOURCE = paths.BENCH_DIR / "aux"


def guest(kernel: str, work: Path, log: Path) -> Guest:
    """One in which QEMU's plugin counts; built in a directory that is emptied."""
    module = auxmodule.make(kernel, work, log)
    program = auxmodule.make_program(SOURCE / "rounds.c", work / "rounds", log)
    counter = plugin.make(SOURCE / "touched.c", work / "touched.so", log)
    figures, system_map = work / "touched", paths.vmlinux(kernel).with_name("System.map")
    qemu = plugin.stand_in(work / "qemu", paths.qemu(), f"{counter},map={system_map},out={figures}")
    return Guest([program, module], ("--cpus", "2", "--qemu", qemu), figures)
