# SPDX-License-Identifier: GPL-2.0-only
"""'lab menuconfig': the kernel's own menu, on the assembled tree with the lab's configuration.

What was changed there is saved as a fragment, build/saved.config, which holds nothing but the
differences. The next 'lab build' builds the kernel with them.
"""

import subprocess
import sys
from pathlib import Path

from lab.assembling import assemble
from lab.base import host, paths, proc, ui
from lab.building import build
from lab.compiling import kconfig, kernel
from lab.base.errors import LabError, for_base

# The menu is drawn by ncurses.
PACKAGES = ["libncurses-dev"]
HEADER = """# Options that 'make menuconfig' has set otherwise than the lab does. 'lab build' builds the
# series' kernels with them; without this file, as the lab does.
"""


def save(own: str, chosen: str) -> int:
    """Keep what differs from the lab's own configuration; the number of options."""
    differences = kconfig.differences(own, chosen)
    if differences:
        paths.to_write(paths.saved_config()).write_text(HEADER + kconfig.as_text(differences))
    else:
        paths.saved_config().unlink(missing_ok=True)
    return len(differences)


def _show(directory: Path) -> None:
    done = subprocess.run(
        ["make", "-s", "-C", kernel.source(paths.SERIES), f"O={directory}", "menuconfig"],
        env=proc.environment(), check=False)
    if done.returncode:
        raise LabError("the menu ended with an error", "see its message above")


def run() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LabError("'lab menuconfig' needs a terminal",
                       f"in scripts, write lines such as CONFIG_X=y into {paths.saved_config()}")
    build.check_kernel(paths.SERIES)
    build.prepare()
    with build.locked("sources"), ui.step("Installing what the menu needs") as step:
        host.install_packages(step, PACKAGES)
    build.part(f"tree-{paths.SERIES}", "Assembling the series", assemble.up_to_date)
    name = f"kernel-{paths.kernel_name(paths.SERIES, False)}"
    build.part(name, "Configuring the kernel", kernel.configure_only)
    directory = paths.kernel_dir(paths.SERIES)
    with build.locked(name):
        _show(directory)
        count = save((directory / kernel.OWN_CONFIG).read_text(),
                     (directory / ".config").read_text())
    ui.say(for_base(f"options saved: {count}, in {paths.shown(paths.saved_config())}; 'lab build' "
                    "builds with them") if count else "the configuration is the lab's own")
