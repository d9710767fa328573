# SPDX-License-Identifier: GPL-2.0-only
"""'lab check' without a base: the default one as a whole, then the others.

Of these, 'make check' has the tier 'smoke': kernel and perf are built, they boot, record each kind
of trace, and pass the kselftests and KUnit tests. 'make check-all' has all tests on each of them.

Where nothing is in the cache, building all takes long: 'make check' begins with no other base
after LATEST, and says which ones it has left out.
"""

import os
import subprocess
import time

import bases
import paths
import tests
import tier
import ui

# In minutes from the start of this process
LATEST = 40
START = time.monotonic()


def is_late(options):
    return options.tier != tier.ALL and time.monotonic() - START > LATEST * 60


def check(options, status):
    """
    Check the other bases, each by a lab of its own, and print the sum of all.

    'status' is that of the default base, whose tests this process has run.
    """
    totals = [list(tests.TOTAL)]
    for name in reversed(bases.names()):
        if name == paths.base_name():
            continue
        if is_late(options):
            ui.say(f"       skipped: base {name}: {LATEST} minutes have passed: run 'lab --base "
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


def command(name, options):
    which = "--all" if options.tier == tier.ALL else "--smoke"
    jobs = ["--jobs", str(options.jobs)] if options.jobs else []
    return [str(paths.LAB_DIR / "lab"), "--base", name, "check", which, *jobs]
