# SPDX-License-Identifier: GPL-2.0-only
"""Tables of what the stock kernel and ours cost, for benchmarks that run in guests."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths, ui
from lab.base.errors import LabError

STOCK, OURS = "stock", "series"
KERNELS = (STOCK, OURS)
RUNS = 2
LIMIT = 600


@dataclass
class Row:
    """A line of the table, or with no key the title of those that follow.

    MOST is what ours may cost at most, as a part of stock's. Where the two kernels do not do the
    same, a note says so in the place of a target. What stock cannot do at all has no figure of it.
    """

    key: str
    label: str
    most: float = 1.0
    note: str = ""


@dataclass
class Guest:
    """What is run on a kernel, with which options; a FILE may have more figures when it has ended."""

    command: Sequence[str | Path]
    options: Sequence[str | Path] = ("--cpus", "1")
    file: Path | None = None


def figures(kernel: str, guest: Guest) -> dict[str, float]:
    """One guest's figures, by name."""
    line: list[str | Path] = [paths.LAB_DIR / "lab", "run", "--kernel", kernel,
                              "--timeout", str(LIMIT), *guest.options, "--", *guest.command]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        # The lab's own line, with what to do
        if len(lines) == 1 and lines[0].startswith("lab: "):
            raise LabError(lines[0].removeprefix("lab: "), "")
        raise LabError(f"the guest with the kernel '{kernel}' failed "
                       f"({'; '.join(lines[:3]) or 'no message'})",
                       f"try 'lab run --kernel {kernel} -- true'")
    said = done.stdout + (guest.file.read_text() if guest.file else "")
    return {key: float(value) for key, value in
            (line.split() for line in said.splitlines() if not line.startswith("#"))}


def measure(bench: str, guests: Mapping[str, Guest]) -> dict[str, list[dict[str, float]]]:
    """Run each kernel's guest RUNS times, in turn; {kernel: figures of each run}."""
    results: dict[str, list[dict[str, float]]] = {kernel: [] for kernel in KERNELS}
    with ui.step(f"{bench}: measure") as step:
        for number in range(RUNS):
            for kernel, runs in results.items():
                step.progress(f"{kernel}, run {number + 1} of {RUNS}")
                runs.append(figures(kernel, guests[kernel]))
    return results


def _smallest(runs: list[dict[str, float]], key: str) -> float:
    return min(run[key] for run in runs)


def _spread(runs: list[dict[str, float]], key: str) -> float:
    """How much larger the largest is than the smallest, as a part of it."""
    least = _smallest(runs, key)
    return max(run[key] for run in runs) / least - 1 if least else 0


def _print_row(row: Row, results: dict[str, list[dict[str, float]]], digits: int) -> None:
    if not all(row.key in run for run in results[STOCK]):
        print(f"  {row.label:<30} {'none':>14} {_smallest(results[OURS], row.key):14,.{digits}f}"
              f"{'':19}stock cannot do it")
        return
    stock, ours = (_smallest(results[name], row.key) for name in KERNELS)
    apart = max(_spread(runs, row.key) for runs in results.values())
    ratio = ours / stock if stock else 1.0 if not ours else math.inf
    # Timer interrupts fall as they may: half a percent is no difference, nor is what two runs of
    # the same kernel differ by.
    met = "met" if ours <= stock * (row.most + max(0.005, apart)) else "missed"
    print(f"  {row.label:<30} {stock:14,.{digits}f} {ours:14,.{digits}f} {ratio:7.3f} "
          f"{100 * apart:6.1f} %   {row.note or f'{row.most:.1f} {met}'}")


def print_table(title: str, rows: Iterable[Row], results: dict[str, list[dict[str, float]]],
                digits: int = 0) -> None:
    print(f"{title:<32} {STOCK:>14} {'ours':>14} {'ratio':>7} {'repeats':>8}   target")
    for row in rows:
        if row.key:
            _print_row(row, results, digits)
        else:
            print(f"\n{row.label}")


def run(name: str, title: str, rows: Iterable[Row],
        build: Callable[[Path], Mapping[str, Guest]], digits: int = 0) -> int:
    """A whole benchmark; BUILD makes, with a log file, what each kernel runs. The exit status."""
    try:
        with ui.step(f"{name}: build"):
            guests = build(paths.log_file(f"bench-{name}"))
        print_table(title, rows, measure(name, guests), digits)
    except LabError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 1
    return 0
