# SPDX-License-Identifier: GPL-2.0-only
"""Verbs and options of the lab."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from lab import listing, otherbases
from lab.base import bases, host, paths, sources, terminal, tier, ui
from lab.building import build, clean, menuconfig
from lab.compiling import arches, coverage, guest
from lab.packaging import deb, dist, kit
from lab.running import cpumodels, debugger, machine as machine_mod, runner
from lab.series import abi, port, qemuseries, rebase, regrow, series
from lab.testing import bench, fuzz, tests
from lab.tracing import tracerecord, tracerun
from lab.base.errors import LabError

DEFAULT_GDB_COMMAND = ["sleep", "infinity"]
EPILOG = "lab VERB --help describes a verb."


class Parser(argparse.ArgumentParser):
    """argparse, with the lab's one-line errors and exit status 1."""

    def error(self, message: str) -> NoReturn:
        raise LabError(message, f"see '{self.prog} --help'")


Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"


def positive(kind: Callable[[str], float], what: str) -> Callable[[str], float]:
    def convert(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if value <= 0:
            raise argparse.ArgumentTypeError(f"{what} must be a number above 0, not '{text}'")
        return value
    return convert


def add_kernel_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kernel", default=paths.default_kernel(),
                        metavar="series|stock|PATH",
                        help="which kernel (default: $LAB_KERNEL, or series; lab trace has a "
                             "smaller one of the series)")


def add_kernel_options(parser: argparse.ArgumentParser) -> None:
    add_kernel_option(parser)
    parser.add_argument("--debug", action="store_true",
                        help="the debug kernel: KASAN, lockdep and DEBUG_ATOMIC_SLEEP")


def add_arch_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--arch", default="", metavar="|".join(arches.ALL),
                        help="another processor than x86-64, with the series' kernel")


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    add_kernel_options(parser)
    parser.add_argument("--cpu", type=cpumodels.named, default=cpumodels.DEFAULT, metavar="MODEL",
                        help="the processor that the guest shows, for example Icelake-Server")
    parser.add_argument("--cpus", type=positive(int, "--cpus"), default=2, metavar="N")
    parser.add_argument("--memory", default="2G", metavar="SIZE", help="for example 512M or 2G")
    parser.add_argument("--share", action="append", default=[], metavar="DIR",
                        help="a directory that is read-write, at the same path in the guest")
    parser.add_argument("--user", default="root", metavar="NAME", help="run as this user")
    parser.add_argument("--pt", default="", metavar="CAPS",
                        help="PT capabilities of the CPU, for example no-mtc,ranges=2; or off")
    parser.add_argument("--icount", action="store_true",
                        help="instruction counting clock: slower, but repeatable")
    parser.add_argument("--append", default="", metavar="ARGS", help="more kernel arguments")
    parser.add_argument("--timeout", type=positive(float, "--timeout"), default=0,
                        metavar="SECONDS", help="fail after this time, with status 124")
    parser.add_argument("--boot-timeout", type=positive(float, "--boot-timeout"),
                        default=runner.BOOT_LIMIT, metavar="SECONDS",
                        help="how long the guest may take to start its init")
    parser.add_argument("--allow-splat", action="append", default=[], metavar="REGEX",
                        help="a kernel complaint that does not fail the run")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable for the command's environment")
    parser.add_argument("--qemu", default="", metavar="PATH", help="another QEMU binary")
    parser.add_argument("--console", default="", metavar="FILE",
                        help="keep the kernel's console output in this file")
    parser.add_argument("--verbose", action="store_true", help="show the kernel's console")
    parser.add_argument("--dry-run", action="store_true", help="print the command line only")


# Options that say what other processors do not have, and their defaults
ONLY_X86_64 = {"cpu": cpumodels.DEFAULT, "pt": "", "icount": False, "gdb_socket": "",
               "perf": paths.SERIES, "qemu_stock": False}


def find_arch(options: argparse.Namespace) -> arches.Arch | None:
    """The processor that is not x86-64, or None; what it does not have is refused."""
    arch = arches.named(getattr(options, "arch", ""))
    if not arch:
        return None
    if paths.base_name() != paths.DEFAULT_BASE:
        raise LabError(f"there is no kernel for {arch.name} on {paths.base_name()}",
                       f"use --base {paths.DEFAULT_BASE}, or leave --arch away")
    # LAB_KERNEL is of x86-64.
    if options.kernel not in (paths.SERIES, paths.default_kernel()) or options.debug:
        raise LabError(f"there is one kernel for {arch.name}, the series with debug options",
                       "leave --kernel and --debug away")
    for name, usual in ONLY_X86_64.items():
        if getattr(options, name, usual) != usual:
            raise LabError(f"--{name.replace('_', '-')} is for x86-64 only",
                           f"leave it or --arch {arch.name} away")
    if getattr(options, "user", "root") not in arches.USERS:
        raise LabError(f"there is no user '{options.user}' on {arch.name}",
                       f"use --user {' or '.join(arches.USERS)}")
    return arch


def find_other(arch: arches.Arch) -> str:
    """The kernel of another processor; all that it boots with is built."""
    for path in (arch.vmlinux, arch.qemu, arch.root):
        if not path.exists():
            raise LabError(f"there is no {path}", f"run 'lab build --arch {arch.name}'")
    return str(arch.vmlinux.resolve())


def instead(options: argparse.Namespace) -> str | None:
    """The small kernel of 'make run' if nothing else is built yet and no test asks; or None."""
    small = paths.image(paths.SMALL)
    if options.verb == "test" or options.debug or options.kernel != paths.SERIES or \
            paths.image(paths.SERIES).is_file() or not small.is_file():
        return None
    ui.say("lab: this is the small kernel of 'make run'; 'lab build' builds the whole one")
    return str(small.resolve())


def find_kernel(options: argparse.Namespace) -> str:
    """The kernel image to boot."""
    if arch := find_arch(options):
        return find_other(arch)
    if paths.is_image(options.kernel):
        if options.debug:
            raise LabError("--debug chooses between the lab's kernels",
                           "leave it away with --kernel PATH")
        remedy = "give the path of a vmlinux or bzImage"
    elif options.kernel in build.KERNELS:
        if small := instead(options):
            return small
        flags = [] if options.kernel == paths.SERIES else [f"--kernel {options.kernel}"]
        remedy = " ".join(["run 'lab build", *flags, *(["--debug"] if options.debug else [])]) + "'"
    elif paths.vmlinux(options.kernel, options.debug).is_file() and \
            options.kernel not in arches.kernels():
        # A test has built it.
        remedy = ""
    else:
        raise LabError(f"unknown kernel '{options.kernel}'", "use series, stock or a path")
    image = paths.image(options.kernel, options.debug)
    if not image.is_file():
        build.check_kernel(options.kernel)
        raise LabError(f"no kernel at {image}", remedy)
    return str(image.resolve())


def find_qemu(options: argparse.Namespace) -> str:
    if (arch := find_arch(options)) and not options.qemu:
        return str(arch.qemu)
    qemu = Path(options.qemu) if options.qemu else paths.qemu()
    if not os.access(qemu, os.X_OK) or not qemu.is_file():
        raise LabError(f"no QEMU at {qemu}", "run 'lab build'")
    return str(qemu.resolve())


def find_shares(options: argparse.Namespace) -> list[str]:
    for directory in options.share:
        if not Path(directory).is_dir():
            raise LabError(f"cannot share {directory}", "it must be a directory that exists")
    return [str(Path(directory).resolve()) for directory in options.share]


def split_env(items: list[str]) -> dict[str, str]:
    for item in items:
        if "=" not in item[1:]:
            raise LabError(f"bad --env '{item}'", "use NAME=VALUE")
    return dict(item.split("=", 1) for item in items)


def pt_of(options: argparse.Namespace) -> str:
    """LAB_PT, the processor of a whole run of tests, and what the command adds to it."""
    whole = os.environ.get("LAB_PT")
    return options.pt if not whole or options.pt == "off" else f"{whole},{options.pt}".rstrip(",")


def make_machine(options: argparse.Namespace, gdb: str = "") -> machine_mod.Machine:
    machine_mod.parse_memory(options.memory)
    if options.cpus > machine_mod.MAX_CPUS:
        raise LabError(f"too many CPUs ({options.cpus})",
                       f"the lab's kernel supports {machine_mod.MAX_CPUS}")
    return machine_mod.Machine(
        kernel=find_kernel(options), cpu=options.cpu, cpus=options.cpus, memory=options.memory,
        shares=find_shares(options), pt=pt_of(options), icount=options.icount,
        append=options.append, gdb=gdb, qemu=find_qemu(options), arch=find_arch(options))


def writable(file: str) -> str:
    """Refuse a file that could not be written once all has run."""
    parent = Path(file or ".").resolve().parent
    if not os.access(parent, os.W_OK) and file:
        raise LabError(f"cannot write {file}", "name a file in a directory of yours")
    return file


def make_run(options: argparse.Namespace, command: list[str], tty: bool = False,
             gdb: str = "") -> runner.Run:
    return runner.Run(
        machine=make_machine(options, gdb), command=command, cwd=working_directory(options),
        user=options.user, env=split_env(options.env), timeout=options.timeout,
        boot_limit=options.boot_timeout, allowed=options.allow_splat,
        verbose=options.verbose, tty=tty, console_copy=writable(options.console))


def working_directory(options: argparse.Namespace) -> str:
    """Where the command starts: here, if that is in a guest that does not have this root."""
    here = Path.cwd()
    if find_arch(options) and not any(here.is_relative_to(one) for one in find_shares(options)):
        return "/"
    return str(here)


def strip_dashes(command: list[str]) -> list[str]:
    return command[1:] if command[:1] == ["--"] else command


def verb_run(options: argparse.Namespace) -> int:
    command = strip_dashes(options.command)
    if not command:
        raise LabError("no command to run", "write it after '--', as in 'lab run -- uname -a'")
    run = make_run(options, command, gdb=options.gdb_socket)
    return runner.dry_run(run) if options.dry_run else runner.execute(run)


def verb_shell(options: argparse.Namespace) -> int:
    program = "/bin/sh" if find_arch(options) else user_shell(options.user)
    run = make_run(options, [program, "-l"], tty=True)
    if options.dry_run:
        return runner.dry_run(run)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LabError("'lab shell' needs a terminal", "use 'lab run -- COMMAND' in scripts")
    return terminal.with_raw_terminal(lambda: runner.execute(run))


def user_shell(name: str) -> str:
    """The user's shell, or sh where it would only say good-bye."""
    shell = guest.find_user(name).pw_shell
    return "/bin/sh" if shell.endswith(("nologin", "false")) or not shell else shell


def verb_gdb(options: argparse.Namespace) -> int:
    kernel = find_kernel(options)
    find_qemu(options)
    if options.dry_run:
        run = make_run(options, DEFAULT_GDB_COMMAND, gdb="/path/of/gdb/socket")
        return runner.dry_run(run)
    command = strip_dashes(options.command) or DEFAULT_GDB_COMMAND
    return debugger.attach(kernel, record_options(options), command)


def verb_build(options: argparse.Namespace) -> int:
    if arch := find_arch(options):
        build.other_parts(arch)
        return 0
    if options.kernel not in build.KERNELS or options.kernel == paths.SMALL and options.debug:
        raise LabError(f"cannot build the kernel '{options.kernel}'", "use series or stock")
    # perf is of the series, whichever kernel is built.
    build.check_kernel(paths.SERIES)
    perfs = dict.fromkeys((paths.SERIES, options.perf))
    build.all_parts([(options.kernel, options.debug)], options.qemu_stock, perfs)
    return 0


def verb_series(options: argparse.Namespace) -> int:
    sender = series.parse_sender(options.sender)
    if options.tree:
        if options.range_diff:
            raise LabError("--range-diff compares patches for a base", "leave it or the directory away")
        return build.tree_patches(options.tree, options.base, sender)
    build.patches(sender, options.range_diff)
    return 0


def verb_dist(options: argparse.Namespace) -> int:
    dist.make(series.parse_sender(options.sender))
    return 0


def verb_qemu_series(options: argparse.Namespace) -> int:
    sender = series.parse_sender(options.sender)
    chosen = options.release or qemuseries.releases()
    for release in chosen:
        qemuseries.check(release)
    for release in chosen:
        build.qemu_patches(release, sender)
    return 0


def verb_abi(_options: argparse.Namespace) -> int:
    build.check_kernel(paths.SERIES)
    statement = build.abi_statement()
    abi.file().write_text(statement.text())
    print(statement.text(), end="")
    return 0


def verb_rebase(options: argparse.Namespace) -> int:
    build.check_kernel(paths.SERIES)
    with build.locked("sources"):
        return rebase.run(options.release, options.acknowledge)


def say_made(files: list[Path], nothing: str) -> int:
    """What a verb has done to the steps' files."""
    for file in files:
        print(f"{'made again' if file.exists() else 'gone'}: {paths.shown(file)}")
    if not files:
        print(nothing)
    return 0


def verb_regrow(options: argparse.Namespace) -> int:
    files = regrow.run(options.since)
    say_made(files, "each grow.patch fits as it is")
    lines = [(file, line) for file in files for line in regrow.gained(file, options.since)]
    if lines:
        print("\nLines that are these steps' now; what belongs to an earlier step is to be no part of")
        print("the patch (see 'lab test series/forms'):")
    for file, line in lines:
        print(f"  {file.parent.name}: {line}")
    return 0


def verb_port(options: argparse.Namespace) -> int:
    return say_made(port.run(options.step, options.since),
                    "the hooks of all bases are as they should be")


def verb_menuconfig(_options: argparse.Namespace) -> int:
    menuconfig.run()
    return 0


def verb_emulator(options: argparse.Namespace) -> int:
    build.emulator()
    if options.check:
        return tests.run_all(options)
    print(f"{paths.shown(paths.qemu())}, its firmware in {paths.shown(paths.firmware())}")
    return 0


def verb_test(options: argparse.Namespace) -> int:
    if options.cases and not options.pattern:
        raise LabError("-k is for the cases of tests that are named",
                       "use 'lab test PATTERN -k CASE'")
    writable(options.junit)
    needing = [file for file in tests.wanted(options) if not tests.is_host(file)]
    if needing:
        if not all(map(tests.is_of_emulator, needing)):
            find_kernel(options)
        find_qemu(options)
    elif not sources.kernel().is_dir():
        raise LabError(f"no source of the kernel at {sources.kernel()}",
                       "run 'lab check --host', which fetches it, or 'lab build'")
    build.say_of_cache()
    return tests.run_all(options)


def verb_check(options: argparse.Namespace) -> int:
    if options.tier == tier.HOST:
        build.prepare_tree()
        return tests.run_all(options)
    smoke, usual = options.tier == tier.SMOKE, (paths.SERIES, False)
    # Before all that takes long
    otherbases.latest()
    build.all_parts([usual] if smoke else [usual, (paths.SERIES, True), (paths.SMALL, False)])
    status = verb_test(options)
    # Who names a base means that one.
    return status if options.base or smoke else otherbases.check(options, status)


def verb_coverage(options: argparse.Namespace) -> int:
    os.environ["LAB_COVERAGE"] = "1"
    status = 0
    if not options.report:
        build.all_parts([(paths.SERIES, False), (paths.SERIES, True)])
        status = verb_test(options)
    with build.locked("coverage-pages"):
        with ui.step("Installing packages") as step:
            host.install_packages(step, coverage.PACKAGES)
        with ui.step("Adding up what ran") as step:
            coverage.sum_up(step)
    if not coverage.show():
        raise LabError("the tests run less of the series than "
                       "{} % of lines in guests, {} % of lines or {} % of branches"
                       .format(*coverage.LEAST),
                       f"see {coverage.pages() / 'index.html'}")
    if left := coverage.left():
        raise LabError("no test runs all lines of " +
                       ", ".join(f"{name}() (not {line})" for name, line in left.items()),
                       f"test it, or say why not in {coverage.EXPLAINED}")
    return status


def verb_fuzz(options: argparse.Namespace) -> int:
    if paths.is_image(options.kernel) and (options.debug or options.races):
        raise LabError("--debug and --races choose between the lab's kernels",
                       "leave them away with --kernel PATH")
    if options.races:
        os.environ["LAB_RACES"], options.debug = "1", True
    if not paths.is_image(options.kernel):
        build.all_parts([(options.kernel, options.debug)])
    target = fuzz.Target(options.kernel, options.debug)
    result = fuzz.run(target, options.time, options.seed, options.guests, options.operations)
    if not result.finding:
        return 0
    fuzz.report(target, result)
    return 1


def verb_list(_options: argparse.Namespace) -> int:
    listing.show()
    return 0


def verb_clean(options: argparse.Namespace) -> int:
    if options.verb == "clean" and options.cache:
        clean.cache_only()
        return 0
    # Who names a base means that one.
    for name in [options.base] if options.base else bases.built_below():
        with bases.chosen(name), build.all_locked():
            clean.distclean() if options.verb == "distclean" else clean.clean()
    return 0


def verb_bench(options: argparse.Namespace) -> int:
    return bench.run(options.name)


def verb_kit(_options: argparse.Namespace) -> int:
    kit.make()
    return 0


def verb_deb(options: argparse.Namespace) -> int:
    deb.make(options.full)
    return 0


def verb_trace(options: argparse.Namespace) -> int:
    part = tracerecord.Part(options.begin, options.end, options.last, options.with_kernel,
                            options.attach, options.limit)
    if options.data:
        if options.command_line or options.out or part != tracerecord.Part():
            raise LabError("--data is a recording that is there, and the other options make one",
                           "use either")
        return tracerun.run_data(options.data)
    if part.limit and not part.attach:
        raise LabError("--for needs --attach", "a command that is traced has its own end")
    # There is no debug kernel of the small one.
    options.kernel = options.kernel or (paths.SERIES if options.debug else paths.SMALL)
    return tracerun.run(options.command_line, (options.kernel, options.debug),
                        record_options(options), part, options.out)


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """What of the command is traced, as of perf calltrace; --kernel is the machine's."""
    parser.add_argument("--cmd", dest="command_line", default="", metavar="'COMMAND ARG...'")
    parser.add_argument("--from", dest="begin", default="", metavar="[OBJECT:]FUNCTION",
                        help="trace only from its entry on, until it returns")
    parser.add_argument("--to", dest="end", default="", metavar="[OBJECT:]FUNCTION",
                        help="with --from: until this one is entered")
    parser.add_argument("--last", nargs="?", const=tracerecord.LAST, default="", metavar="SIZE",
                        help="keep only the end of the trace (%(const)s for each CPU)")
    parser.add_argument("--with-kernel", action="store_true", help="trace the kernel too")
    parser.add_argument("--attach", nargs="?", type=positive(float, "--attach"), const=1.0,
                        default=0, metavar="SECONDS",
                        help="let the command run so long (%(const)s), then attach to it")
    parser.add_argument("--for", dest="limit", type=positive(int, "--for"), default=0,
                        metavar="SECONDS", help="with --attach: for so long, then end the command")
    parser.add_argument("--out", default="", metavar="DIR",
                        help="a new directory for all that decoding elsewhere needs")
    parser.add_argument("--data", default="", metavar="DIR|FILE",
                        help="show a recording that was made elsewhere, for example by "
                             "perf calltrace --out DIR")


def record_options(options: argparse.Namespace) -> list[str]:
    """The options of a machine, spelled out again for a 'lab run' below."""
    args = ["--kernel", options.kernel, "--cpu", options.cpu, "--cpus", str(options.cpus),
            "--memory", options.memory, "--user", options.user]
    args += ["--debug"] if options.debug else []
    args += ["--icount"] if options.icount else []
    for name in ("pt", "append", "qemu"):
        value = getattr(options, name)
        args += [f"--{name}={value}"] if value else []
    for directory in options.share:
        args += ["--share", directory]
    return args


def add_base_option(parser: argparse.ArgumentParser, **more: Any) -> None:
    parser.add_argument("--base", metavar="|".join(bases.names()),
                        help=f"the kernel that the series is applied to (default: $LAB_BASE, or "
                             f"{paths.DEFAULT_BASE})", **more)


def add_verb(verbs: Verbs, name: str,
             call: Callable[[argparse.Namespace], int], text: str, example: str) -> Parser:
    parser = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".",
                              epilog=f"example: {example}")
    parser.set_defaults(call=call)
    # It may stand before the verb or after it.
    add_base_option(parser, default=argparse.SUPPRESS)
    return parser


def add_build(verbs: Verbs) -> None:
    one = add_verb(verbs, "build", verb_build, "fetch and build kernel, perf and QEMU",
                   "lab build --debug")
    one.add_argument("--kernel", default=paths.SERIES, metavar="series|stock")
    one.add_argument("--debug", action="store_true",
                     help="the debug kernel: KASAN, lockdep and DEBUG_ATOMIC_SLEEP")
    one.add_argument("--perf", default=paths.SERIES, choices=build.PERFS,
                     metavar="series|stock",
                     help="also the base's perf, to compare with that of the series")
    add_arch_option(one)
    one.add_argument("--qemu-stock", action="store_true",
                     help="also QEMU without the PT model, to measure against")


def add_guest_verbs(verbs: Verbs) -> None:
    run = add_verb(verbs, "run", verb_run, "run a command in a guest",
                   "lab run --cpus 4 -- perf stat -e cycles:u true")
    shell = add_verb(verbs, "shell", verb_shell,
                     "a shell in a guest; Ctrl-] three times ends it by force",
                     "lab shell --share /tmp/out")
    gdb = add_verb(verbs, "gdb", verb_gdb, "gdb on the kernel of a guest, from its start",
                   "lab gdb --debug -- perf stat true")
    trace = add_verb(verbs, "trace", verb_trace,
                     "trace a command with Intel PT and show its calls (make run)",
                     "lab trace --cmd 'gzip -c /bin/ls'")
    for one in (run, shell, gdb, trace):
        add_machine_options(one)
    add_arch_option(run)
    add_arch_option(shell)
    run.add_argument("--gdb-socket", default="", help=argparse.SUPPRESS)
    add_trace_options(trace)
    trace.set_defaults(kernel=os.environ.get("LAB_KERNEL", ""))
    for name, one in (("run", run), ("gdb", gdb)):
        dashes = "-- COMMAND [ARG...]"
        one.usage = f"lab {name} [OPTIONS] " + (dashes if one is run else f"[{dashes}]")
        one.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND [ARG...]")


def add_tier(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--all", dest="tier", action="store_const", const=tier.ALL,
                        default=tier.CHECK, help=text)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Which tests, and which of their cases."""
    parser.add_argument("pattern", nargs="*", metavar="PATTERN",
                        help="a part of a test's name, or a glob")
    parser.add_argument("-k", dest="cases", action="append", default=[], metavar="CASE",
                        help="only the cases with this in their names, of tests that have cases")
    parser.add_argument("--failed", action="store_true",
                        help="only the tests that failed when they last ran")
    parser.add_argument("--junit", default="", metavar="FILE",
                        help="also write the results to this file, as JUnit XML")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=positive(int, "--jobs"), default=0, metavar="N",
                        help="how many tests at a time (default: a CPU and 6 GiB for each)")


def add_sender(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="sender", default="", metavar="'NAME <ADDRESS>'",
                        help="who sends them: From and Signed-off-by (default: not signed off)")


def add_product_verbs(verbs: Verbs) -> None:
    """The two series, and what they are made of."""
    add_verb(verbs, "menuconfig", verb_menuconfig,
             "choose the options of the series' kernel, in the kernel's own menu",
             "lab menuconfig")
    one = add_verb(verbs, "series", verb_series, "write the series as patches for 'git am'",
                   "lab series --from 'Ann Other <ann@example.org>'")
    one.add_argument("tree", nargs="?", default="", metavar="DIR",
                     help="a kernel that is no base, unpacked or a git tree: its fixes, as far as those "
                          "of the nearest bases (or of --base) fit")
    add_sender(one)
    one.add_argument("--range-diff", action="store_true",
                     help="and what has changed in each patch since the version before")
    add_sender(add_verb(verbs, "dist", verb_dist,
                        "pack the series for all bases, with what has changed (make dist)",
                        "lab dist --from 'Ann Other <ann@example.org>'"))
    one = add_verb(verbs, "emulator", verb_emulator,
                   "build QEMU with the models of PT, PerfMon, LBR, PEBS and BTS, and nothing else",
                   "lab emulator --check")
    one.add_argument("--check", action="store_true", help="and run the tests of tools/emulator")
    add_tier(one, "with --check: the tier 'all'")
    add_jobs(one)
    one.set_defaults(pattern=["emulator/*"], cases=[], failed=False, junit="",
                     kernel=paths.SERIES, debug=False)
    one = add_verb(verbs, "qemu-series", verb_qemu_series,
                   "write the models of PT, PerfMon, LBR, PEBS and BTS as patches for QEMU's 'git am'",
                   "lab qemu-series --from 'Ann Other <ann@example.org>'")
    add_sender(one)
    one.add_argument("release", nargs="*", metavar="|".join(qemuseries.releases()),
                     help="for these releases of QEMU (default: for each)")
    add_verb(verbs, "abi", verb_abi, "list what changes for user space and modules",
             "lab --base 6.12 abi")


def add_upkeep_verbs(verbs: Verbs) -> None:
    """For who edits: the steps fit their bases again, and other releases of them."""
    one = add_verb(verbs, "rebase", verb_rebase,
                   "take another release of the base, and show what it changed in code that we replace",
                   "lab rebase 6.12.118")
    one.add_argument("release", nargs="?", default="", metavar="RELEASE|DIR",
                     help="a version of Debian's package (default: the newest), or an unpacked "
                          "source, which is looked at and left alone")
    one.add_argument("--acknowledge", action="append", default=[], metavar="PATH:NAME",
                     help="this change was compared with ours; patterns such as "
                          "kernel/events/core.c:* stand for several")
    one = add_verb(verbs, "regrow", verb_regrow,
                   "make each grow.patch again that fits no longer after an edit of our files",
                   "lab regrow --since HEAD~2")
    one.add_argument("--since", default="HEAD", metavar="COMMIT",
                     help="the commit in which all of them fit (default: the newest one)")
    one = add_verb(verbs, "port", verb_port,
                   "carry a change of a step's hooks to the other bases, and share what is the same",
                   "lab port fix-kexec")
    one.add_argument("step", nargs="*", metavar="STEP",
                     help="a step (default: each that has hooks of a base's own)")
    one.add_argument("--since", default="HEAD", metavar="COMMIT",
                     help="the commit from which on they have changed (default: the newest one)")


def add_test_verbs(verbs: Verbs) -> None:
    test = add_verb(verbs, "test", verb_test, "run the tests", "lab test lab/canary")
    add_choice(test)
    add_tier(test, "the tier 'all': each size, seed, set of capabilities and long run")
    add_kernel_option(test)
    add_jobs(test)
    # A test knows which of its guests have the debug kernel.
    test.set_defaults(qemu="", debug=False)
    check = add_verb(verbs, "check", verb_check, "build all and run all tests (make check)",
                     "lab check --all")
    add_tier(check, "the tier 'all' (make check-all); goes on where it was stopped")
    check.add_argument("--smoke", dest="tier", action="store_const", const=tier.SMOKE,
                       help="the tier 'smoke': what 'make check' runs on the other bases")
    check.add_argument("--host", dest="tier", action="store_const", const=tier.HOST,
                       help="the tier 'host': build nothing, and run what needs nothing built "
                            "(make check-host)")
    add_jobs(check)
    check.set_defaults(qemu="", pattern=[], cases=[], failed=False, junit="",
                       kernel=paths.SERIES, debug=False)
    one = add_verb(verbs, "coverage", verb_coverage,
                   "run the tests, and count which lines of the series they run (make coverage)",
                   "lab coverage aux/kselftest pt/")
    add_choice(one)
    one.add_argument("--report", action="store_true",
                     help="run no test: say what earlier ones have run")
    add_tier(one, "the tier 'all'")
    add_jobs(one)
    one.set_defaults(qemu="", kernel=paths.SERIES, debug=False)


def add_fuzz(verbs: Verbs) -> None:
    one = add_verb(verbs, "fuzz", verb_fuzz,
                   "fuzz AUX areas, and make a small program of what is found (make fuzz)",
                   "lab fuzz --debug --time 3600")
    add_kernel_options(one)
    one.add_argument("--races", action="store_true",
                     help="the build with KCSAN in place of KASAN, which finds data races")
    one.add_argument("--time", type=positive(float, "--time"), default=600, metavar="SECONDS")
    one.add_argument("--operations", type=positive(int, "--operations"), default=0, metavar="N",
                     help="end when so many have run")
    one.add_argument("--guests", type=positive(int, "--guests"), default=1, metavar="N",
                     help="how many at a time")
    one.add_argument("--seed", type=int, default=None, metavar="N",
                     help="of the first choices; all further ones depend on what is reached")
    one.set_defaults(qemu="")


def add_other_verbs(verbs: Verbs) -> None:
    add_verb(verbs, "list", verb_list,
             "what is built, the tests, the CPU models, the PT capabilities", "lab list")
    cleaner = add_verb(verbs, "clean", verb_clean, "remove what was built, keep the sources",
                       "lab clean --cache")
    cleaner.add_argument("--cache", action="store_true",
                         help="empty the cache of all clones, and leave what is built here")
    add_verb(verbs, "distclean", verb_clean, "remove what was built and fetched",
             "lab distclean")
    bench_verb = add_verb(verbs, "bench", verb_bench, "measure", "lab bench")
    bench_verb.add_argument("name", nargs="?", default="", metavar="NAME")
    add_verb(verbs, "kit", verb_kit,
             "pack the kit that tests a machine with Intel PT (make kit)", "lab kit")
    one = add_verb(verbs, "deb", verb_deb,
                   "pack kernel, headers, perf and kselftests for Debian (make deb)",
                   "lab --base 6.1 deb")
    one.add_argument("--full", action="store_true",
                     help="the kernel in Debian's own configuration: takes hours and 40 GiB")


def build_parser() -> Parser:
    parser = Parser(prog="lab", description="Kernels with Intel PT on any machine.",
                    epilog=EPILOG)
    add_base_option(parser, default="")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True,
                                  parser_class=Parser)
    add_build(verbs)
    add_guest_verbs(verbs)
    add_product_verbs(verbs)
    add_upkeep_verbs(verbs)
    add_test_verbs(verbs)
    add_fuzz(verbs)
    add_other_verbs(verbs)
    return parser


def end_in_order(*_: object) -> NoReturn:
    """SIGTERM as Ctrl-C: guests end, the terminal comes back."""
    raise KeyboardInterrupt


def main(argv: list[str]) -> int:
    signal.signal(signal.SIGTERM, end_in_order)
    try:
        options = build_parser().parse_args(argv)
        options.base = options.base or os.environ.get("LAB_BASE", "")
        bases.choose(options.base or paths.base_name())
        return options.call(options)
    except LabError as error:
        print(f"lab: {host.told(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    except OSError as error:
        if not host.is_full_disk(error):
            raise
        print(f"lab: {host.full_disk(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
