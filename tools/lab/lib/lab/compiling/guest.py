# SPDX-License-Identifier: GPL-2.0-only
"""The guest's side: its init, built once, and the initramfs of each run."""

import os
import pwd
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from lab.base import paths, proc, stamp
from lab.base.errors import LabError

# What a command in the guest sees of the caller's environment, beside LAB_*.
KEPT_VARIABLES = ("TERM", "LANG", "LC_ALL", "TZ", "COLUMNS", "LINES")
# Where init's code is in its address space, far from that of all other programs: perf, which has
# no file of it any more, cannot decode it and says so with these addresses.
INIT_AT = 0x70000000
GUEST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def build_init(arch: str = "", compiler: str = "gcc", env: dict[str, str] | None = None) -> Path:
    """Static, as it runs before there is any file system with libraries.

    For another processor than this machine's: its name, and its compiler.
    """
    sources = sorted(paths.GUEST_DIR.glob("*.c"))
    key = f"guest-{arch}" if arch else "guest"
    init = paths.to_write(paths.in_build("guest", f"init-{arch}" if arch else "init"))
    place = [] if arch else [f"-Wl,-Ttext-segment={INIT_AT:#x}"]
    want = stamp.of_text(*place, *([compiler, env] if arch else []),
                         stamp.of_files([*sources, *paths.GUEST_DIR.glob("*.h")]))
    if stamp.is_current(key, want) and init.exists():
        return init
    # Under a name of its own first: other runs may be reading the old one.
    fresh = init.with_name(f"init.{os.getpid()}")
    proc.run([compiler, "-Wall", "-Wextra", "-O2", "-static", "-s", "-D_GNU_SOURCE", *place,
              "-o", fresh, *sources], paths.log_file(key), env=env,
             failed="cannot build the guest's init")
    os.replace(fresh, init)
    stamp.write(key, want)
    return init


def cpio_entry(name: str, data: bytes, mode: int, rdev: tuple[int, int] = (0, 0),
               inode: int = 0) -> bytes:
    """One file in the 'newc' format that the kernel unpacks."""
    encoded = name.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % value for value in fields)
    return _pad(header + encoded) + _pad(data)


def _pad(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def spec_items(command: Sequence[str], cwd: str, user: pwd.struct_passwd, shares: Sequence[str],
               env: dict[str, str], winsize: tuple[int, int] | None = None,
               coverage: str = "") -> list[tuple[str, str]]:
    """The specification of a run; tools/lab/guest/spec.c reads it."""
    items = [("cwd", cwd)]
    items += [("coverage", coverage)] if coverage else []
    items += [("share", f"lab.share{i}:{path}") for i, path in enumerate(shares)]
    items += [("uid", str(user.pw_uid)), ("gid", str(user.pw_gid))]
    items += [("group", str(gid)) for gid in os.getgrouplist(user.pw_name, user.pw_gid)]
    items += [("env", f"{name}={value}") for name, value in env.items()]
    items += [("arg", arg) for arg in command]
    if winsize:
        items.append(("tty", f"{winsize[0]} {winsize[1]}"))
    return items


def find_user(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise LabError(f"no user '{name}' on this machine",
                       "name one that 'getent passwd' lists, for example nobody") from None


def environment(user: pwd.struct_passwd, extra: dict[str, str]) -> dict[str, str]:
    """A small environment that does not depend on the caller's shell."""
    env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    env.update((k, v) for k, v in os.environ.items() if k.startswith("LAB_"))
    env.update(HOME=user.pw_dir, USER=user.pw_name, LOGNAME=user.pw_name,
               PATH=f"{paths.perf().parent}:{GUEST_PATH}", LAB="guest",
               # The user's own settings must not change what a test sees.
               PERF_CONFIG="/dev/null")
    env.update(extra)
    return env


def initramfs(target: Path, init: Path, items: Iterable[tuple[str, str]]) -> Path:
    """Write the initramfs: /init, /spec and the console that init prints on."""
    spec = b"".join(f"{key}={value}".encode() + b"\0" for key, value in items)
    with open(target, "wb") as out:
        out.write(cpio_entry("dev", b"", stat.S_IFDIR | 0o755, inode=1))
        out.write(cpio_entry("dev/console", b"", stat.S_IFCHR | 0o600, (5, 1), inode=2))
        out.write(cpio_entry("init", init.read_bytes(), stat.S_IFREG | 0o755, inode=3))
        out.write(cpio_entry("spec", spec, stat.S_IFREG | 0o600, inode=4))
        out.write(cpio_entry("TRAILER!!!", b"", 0))
    return target
