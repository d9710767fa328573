# SPDX-License-Identifier: GPL-2.0-only
"""'lab check' without a base: the default one as a whole, then the others.

Of these, 'make check' has the tier 'smoke': kernel and perf are built, they boot, record each kind
of trace, and pass the kselftests and KUnit tests. 'make check-all' has all tests on each of them.

Where nothing is in the cache, building all takes long. Who has a limit of time, as continuous
integration has, sets LAB_LATEST: so many minutes after its start, 'make check' begins with no other
base, and says which ones it has left out.
"""

import argparse
import os
import subprocess
import time

from lab.base import bases, paths, tier, ui
from lab.testing import tests
from lab.base.errors import LabError

START = time.monotonic()


def latest() -> float:
    """In minutes from the start of this process"""
    text = os.environ.get("LAB_LATEST") or "inf"
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    # What is no number (nan) is not less than 0, nor is it more.
    if not value >= 0:
        raise LabError(f"bad LAB_LATEST '{text}'", "after so many minutes 'check' begins with no other "
                       "base; use a number such as 40")
    return value


def is_late(options: argparse.Namespace) -> bool:
    return options.tier != tier.ALL and time.monotonic() - START > latest() * 60


def check(options: argparse.Namespace, status: int) -> int:
    """
    Check the other bases, each by a lab of its own, and print the sum of all.

    'status' is that of the default base, whose tests this process has run.
    """
    totals = [list(tests.TOTAL)]
    for name in reversed(bases.names()):
        if name == paths.base_name():
            continue
        if is_late(options):
            ui.say(f"       skipped: base {name}: {latest():g} minutes have passed: run 'lab --base "
                   f"{name} check --smoke'")
            totals.append([0, 0, 1])
            continue
        ui.say(f"Base {name}:")
        build = paths.build_dir() / name
        (build / "results/latest").unlink(missing_ok=True)
        # QEMU is the same for each.
        status |= subprocess.run(command(name, options), check=False,
                                 env={**os.environ, "LAB_QEMU": str(paths.qemu())}).returncode
        # Without results it was not built, which is one failure.
        totals.append(tests.latest_total(build) or [0, 1, 0])
    ui.say("All bases:")
    tests.show_total(*map(sum, zip(*totals)))
    return min(status, 1)


def command(name: str, options: argparse.Namespace) -> list[str]:
    which = "--all" if options.tier == tier.ALL else "--smoke"
    jobs = ["--jobs", str(options.jobs)] if options.jobs else []
    return [str(paths.LAB_DIR / "lab"), "--base", name, "check", which, *jobs]
