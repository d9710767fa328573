# SPDX-License-Identifier: GPL-2.0-only
"""Build of the lab's kernels, each in a build directory of its own."""

import kconfig
import paths
import proc
import sources
import stamp
from errors import LabError

# Lines that a build from nothing prints, for the progress line.
EXPECTED_LINES = {False: 1470, True: 1750}


def _make(name, debug, args, **more):
    build = paths.kernel_dir(name, debug)
    build.mkdir(parents=True, exist_ok=True)
    proc.run(["make", "-C", sources.kernel(), f"O={build}", f"-j{proc.jobs()}", *args],
             log_file(name, debug), **more)


def log_file(name, debug):
    return paths.log_file(f"kernel-{paths.kernel_name(name, debug)}")


def configure(name, debug):
    """Make .config anew if a fragment or the source has changed."""
    wanted = kconfig.merge(kconfig.fragments(debug))
    build = paths.kernel_dir(name, debug)
    step = f"config-{paths.kernel_name(name, debug)}"
    want = stamp.of_text(kconfig.as_text(wanted), _version())
    if stamp.is_current(step, want) and (build / ".config").exists():
        return
    stamp.clear(step)
    build.mkdir(parents=True, exist_ok=True)
    merged = build / "lab.config"
    merged.write_text(kconfig.as_text(wanted))
    _make(name, debug, ["allnoconfig"], env={"KCONFIG_ALLCONFIG": str(merged)},
          failed="cannot configure the kernel")
    _make(name, debug, ["olddefconfig"], failed="cannot configure the kernel")
    kconfig.check(wanted, (build / ".config").read_text(), log_file(name, debug))
    stamp.write(step, want)


def _version():
    return stamp.read("version-linux")


def build(step, name="stock", debug=False):
    """An interrupted build resumes: make knows what is done."""
    if name != "stock":
        raise LabError("there is no series kernel yet", "use --kernel stock")
    configure(name, debug)
    image = paths.vmlinux(name, debug)
    key = f"kernel-{paths.kernel_name(name, debug)}"
    want = stamp.of_text((paths.kernel_dir(name, debug) / ".config").read_text(), _version())
    if stamp.is_current(key, want) and image.exists():
        step.note = "up to date"
        return
    count = 0

    def progress(line):
        nonlocal count
        count += 1
        percent = min(99, 100 * count // EXPECTED_LINES[debug])
        step.progress(f"{percent:3d} %  {line.strip()}")
    stamp.clear(key)
    _make(name, debug, ["vmlinux"], on_line=progress, failed="cannot build the kernel",
          env={"KBUILD_BUILD_USER": "lab", "KBUILD_BUILD_HOST": "lab"})
    stamp.write(key, want)
    step.note = f"Linux {_version()}"
