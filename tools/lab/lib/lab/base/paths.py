# SPDX-License-Identifier: GPL-2.0-only
"""Where things are: the checkout, and the build directory below or beside it."""

import os
from pathlib import Path

LAB_DIR = Path(__file__).resolve().parents[3]
ROOT = LAB_DIR.parent.parent
CONFIG_DIR = LAB_DIR / "config"
GUEST_DIR = LAB_DIR / "guest"
EMULATOR_DIR = ROOT / "tools/emulator"
QEMU_DIR = EMULATOR_DIR / "qemu"
TESTS_DIR = LAB_DIR / "tests"
BENCH_DIR = LAB_DIR / "bench"
FUZZ_DIR = LAB_DIR / "fuzz"
REPORT_DIR = LAB_DIR / "report"
WORKLOADS_DIR = LAB_DIR / "workloads"
# The repository as the kernel sees it: our files at their in-tree paths.
OVERLAY_DIR = ROOT
PATCHES_DIR = ROOT / "patches"
# The base where nobody asks for another one, see bases.py.
DEFAULT_BASE = "6.12"
# The kernel that is built of both, by name; the other one is the base's own, stock.
SERIES = "series"
# The same source with fewer options: what 'make run' boots, see small.config.
SMALL = f"{SERIES}-small"
# What the names of debug kernels end with
DEBUG, RACES = "-debug", "-races"
# What the names of kernels end with that count which of their lines run.
COUNTS = "-coverage"
# What debug information has in the place of the build directory, which differs between clones.
DEBUG_ROOT = "/lab"


def base_name() -> str:
    """The base of this command."""
    return os.environ.get("LAB_BASE") or DEFAULT_BASE


def build_dir() -> Path:
    """LAB_BUILD lets several checkouts share one build directory; another base has its own."""
    usual = ROOT / "build"
    if base_name() != DEFAULT_BASE:
        usual /= base_name()
    return Path(os.environ.get("LAB_BUILD") or usual).resolve()


def in_build(*parts: str | Path) -> Path:
    """A path in the build directory, whether it exists or not."""
    return build_dir().joinpath(*parts)


def saved_config() -> Path:
    """What 'lab menuconfig' has saved."""
    return in_build("saved.config")


def shown(path: str | Path) -> str:
    """The path as a message has it: relative if it is below this directory."""
    path = Path(path)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def to_write(path: Path) -> Path:
    """The path, in a directory that exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def log_file(step: str) -> Path:
    return to_write(in_build("log", f"{step}.log"))


def default_kernel() -> str:
    """What is built, booted and tested where nobody asks for another one."""
    return os.environ.get("LAB_KERNEL") or SERIES


def counts_coverage(name: str = SERIES) -> bool:
    """Whether a kernel is one that counts which lines run; those of the series may be."""
    return name == SERIES and bool(os.environ.get("LAB_COVERAGE"))


def finds_races(debug: bool = True) -> bool:
    """Whether the debug kernel is the one with KCSAN, which KASAN excludes."""
    return debug and bool(os.environ.get("LAB_RACES"))


def kernel_name(name: str, debug: bool) -> str:
    counts = COUNTS if counts_coverage(name) else ""
    finds = RACES if finds_races(debug) else DEBUG if debug else ""
    return f"{name}{finds}{counts}"


def kernel_dir(name: str, debug: bool = False) -> Path:
    return in_build("kernel", kernel_name(name, debug))


def vmlinux(name: str, debug: bool = False) -> Path:
    return kernel_dir(name, debug) / "vmlinux"


def tree_name(kernel: str) -> str:
    """The tree that a kernel is built of, by name."""
    return SERIES if kernel == SMALL else kernel


def is_image(kernel: str) -> bool:
    """Whether --kernel names a file rather than one of the lab's kernels."""
    return "/" in kernel or Path(kernel).is_file()


def image(kernel: str, debug: bool = False) -> Path:
    return Path(kernel).resolve() if is_image(kernel) else vmlinux(kernel, debug)


def perf(name: str = SERIES) -> Path:
    """perf of the series, which host and guest use, or of the base, to compare with."""
    return in_build("perf" if name == SERIES else f"perf-{name}", "perf")


def qemu(stock: bool = False) -> Path:
    """LAB_QEMU replaces the emulator that the lab builds."""
    given = os.environ.get("LAB_QEMU")
    if given and not stock:
        return Path(given)
    directory = "qemu-stock" if stock else "qemu"
    return in_build(directory, "qemu-system-x86_64")


def firmware() -> Path:
    return in_build("firmware", "share")
