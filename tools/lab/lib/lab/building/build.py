# SPDX-License-Identifier: GPL-2.0-only
"""Everything that is fetched and built, in order, one step a line."""

import fcntl
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from lab.assembling import assemble, steps
from lab.base import apt, bases, cache, host, paths, proc, sources, together, ui
from lab.building import clean, viewer
from lab.compiling import arches, cross, guest, kernel, perftool, qemu
from lab.series import abi, anytree, parts, qemuseries, rebase, series
from lab.base.errors import LabError

KERNELS = (paths.SERIES, "stock", paths.SMALL)
# Those whose source another perf belongs to
PERFS = (paths.SERIES, "stock")


@contextmanager
def locked(part: str) -> Iterator[None]:
    """
    One build at a time of a part; different parts do not disturb each other.

    A user is told that another build is running. Tests, several of which run at a time, wait for
    it: 'lab test' sets LAB_WAIT.
    """
    waits = 0 if os.environ.get("LAB_WAIT") else fcntl.LOCK_NB
    with open(paths.to_write(paths.in_build(f"lock-{part}")), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | waits)
        except BlockingIOError:
            raise LabError(f"another build ({part}) is running in {paths.build_dir()}",
                           "wait for it to end, or set LAB_BUILD to another directory") from None
        yield


@contextmanager
def all_locked() -> Iterator[None]:
    """No build at all is running, for those who remove what is built."""
    with ExitStack() as stack:
        for lock in paths.build_dir().glob("lock-*"):
            stack.enter_context(locked(lock.name.removeprefix("lock-")))
        yield


@functools.cache
def say_of_cache() -> None:
    """The one line about a cache that is not used as asked for."""
    if cache.warning():
        ui.say(cache.warning())


def prepare(names: Sequence[str] = ()) -> str:
    """The checks, the packages and the sources, or those of them that are named."""
    with ui.step("Checking this machine") as step:
        codename = host.codename()
        host.check_build_dir()
        step.note = f"Debian {codename}, {proc.jobs()} CPUs"
    say_of_cache()
    if clean.clock_went_back():
        with all_locked():
            clean.forget_future()
    cache.make()
    host.authorize([] if names else viewer.packages())
    with locked("sources"):
        with ui.step("Installing packages") as step:
            host.install_packages(step)
        with ui.step("Fetching sources, signatures checked") as step:
            fetch(codename, step, names)
    return codename


def fetch(codename: str, step: ui.Step, names: Sequence[str] = ()) -> None:
    if sources.all_there(names):
        step.note = "up to date"
        return
    private = apt.Apt(codename)
    private.refresh(step)
    sources.fetch(private, step, names)


def part(name: str, label: str, build: Callable[..., object], *args: object) -> None:
    """Build one part as a step of its own."""
    with locked(name), ui.step(label) as step:
        build(step, *args)


def check_kernel(name: str) -> None:
    """Say at once, and not after the sources are there, that a step is missing or bad."""
    if paths.tree_name(name) == paths.SERIES:
        steps.read()


def patches(sender: series.Sender | None, changes: bool = False) -> None:
    """The series as patches, what 'lab series' makes; the sender as in series.write()."""
    check_kernel(paths.SERIES)
    prepare()
    part("series", "Writing the patches", series.write, sender,
         parts.write_all if changes else parts.write)


def tree_patches(directory: str, base: str, sender: series.Sender | None) -> int:
    """The fixes as patches for a kernel that is no base; the exit status."""
    tree = anytree.read_tree(directory)
    names = [base] if base else anytree.nearest(tree.release)
    for name in names:
        with bases.chosen(name):
            prepare(("linux",))
    rows: list[anytree.Row] = []

    def write(step: ui.Step) -> None:
        rows.extend(anytree.write(step, tree, names, sender))
    part("series", "Writing the patches", write)
    return anytree.show(tree, rows)


def emulator() -> None:
    """QEMU with the models, and nothing of the kernel."""
    prepare(("qemu", "meson", "libipt", "firmware"))
    part("qemu", "Building QEMU with the PT model", qemu.build)


def qemu_source(release: str) -> None:
    """The source of a release of QEMU, and of nothing else."""
    codename = prepare(("qemu",))
    part("sources", f"Fetching QEMU {release}", qemuseries.fetch, release, codename)


def qemu_patches(release: str, sender: series.Sender | None) -> None:
    """The models as patches for a release of QEMU, what 'lab qemu-series' makes."""
    qemu.steps(release)
    qemu_source(release)
    part("qemu-series", f"Writing the patches for QEMU {release}", qemuseries.write, release,
         sender)


def prepare_tree() -> None:
    """The same, and the tree of the series."""
    prepare()
    part(f"tree-{paths.SERIES}", "Assembling the series", assemble.up_to_date)
    if text := rebase.remark(steps.read()):
        ui.say(f"  {text}")


def build_perf(name: str) -> None:
    """perf of the base or of the series."""
    program = paths.perf(name).parent.name
    part(program, f"Building {program}", perftool.build, name)


def abi_statement() -> abi.Statement:
    """The statement of 'lab abi', of what it compiles."""
    prepare_tree()
    with ui.step("Installing pahole") as step:
        host.install_packages(step, ["dwarves"])
    for tree in abi.TREES:
        plain = abi.plain(tree)
        part(f"kernel-{plain.label}", f"Compiling {tree}", kernel.build_plain, plain)
    return abi.make()


def fetch_viewer() -> None:
    """The viewer of traces, and what fetches it; there may be none."""
    part("viewer", "Fetching the viewer of traces", viewer.prepare)


def perf_only() -> None:
    """What it takes to decode a recording of another machine."""
    prepare_tree()
    fetch_viewer()
    build_perf(paths.SERIES)


def tools(arch: arches.Arch) -> None:
    """The compiler and the emulator of another processor than x86-64, and the series' tree."""
    prepare_tree()
    part("cross", f"Fetching a compiler for {arch.name}", cross.fetch, arch.kernel,
         host.codename())
    part("qemu", f"Building QEMU for {arch.name}", qemu.build, False, qemu.RELEASE,
         arches.EMULATORS)


def other_parts(arch: arches.Arch) -> None:
    """What it takes to boot the series there."""
    tools(arch)
    part("cross", f"Fetching a shell for {arch.name}", arches.build_root, arch, host.codename())
    plain = arch.plain()
    part(f"kernel-{plain.label}", f"Building the kernel ({arch.name})", kernel.build_plain, plain)
    with locked("guest"):
        arches.build_init(arch)


def build_kernels(kernels: Iterable[tuple[str, bool]]) -> None:
    """Kernels by (name, whether it is the debug one), one after the other: make keeps all CPUs busy."""
    for name, debug in kernels:
        label = paths.kernel_name(name, debug)
        part(f"kernel-{label}", f"Building the kernel ({label})", kernel.build, name, debug)


def build_emulators(qemu_stock: bool) -> None:
    # Who names an emulator has one.
    if not os.environ.get("LAB_QEMU"):
        part("qemu", "Building QEMU with the PT model", qemu.build)
    if qemu_stock:
        part("qemu-stock", "Building QEMU without the PT model", qemu.build, True)


def all_parts(kernels: Iterable[tuple[str, bool]] = ((paths.SERIES, False),),
              qemu_stock: bool = False, perfs: Iterable[str] = (paths.SERIES,)) -> None:
    """
    What 'lab build' and 'make run' need: kernels by name, each as the debug one or not.

    perf is of the series whichever kernel it is to run on. While one part waits, or does what only
    one CPU can, as to configure or to link, others go on.
    """
    prepare_tree()

    def kernels_and_perf() -> None:
        build_kernels(kernels)
        for one in perfs:
            build_perf(one)
        with locked("guest"):
            guest.build_init()
    together.run([kernels_and_perf, partial(build_emulators, qemu_stock), fetch_viewer], 3,
                 proc.stop)
