# SPDX-License-Identifier: GPL-2.0-only
"""'make run': a program traced in the guest, decoded, and shown as calls.

The recording is made in the guest by perf, on the kernel that --kernel names:
with the series' driver of PT unless another is asked for. It is decoded here by
the same perf, because the guest's programs are the host's files and decoding is
many times faster without emulation.
"""

import itertools
import re
import shlex
import shutil
import subprocess
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import build
import calls
import guest
import paths
import perfdata
import proc
import runner
import timelinefilter
import tracepage
import ui
from errors import LabError

FIRST_LINES = 40
# The trace is shown from the first of these on that it has: what the dynamic
# linker does before is the same for every program.
LANDMARKS = ("main", "__libc_start_call_main", "__libc_start_main")
RECORD_LIMIT = 600
EXACT_BYTES = 256 << 10
PERIOD = 1000
BLOCK = 1 << 20
ERROR = b"instruction trace error"
DEMO = "demo"
# What a shell does with a command, and a command does not do by itself.
SHELL_WORK = re.compile(r"[|&;<>()]")
QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
SHELL = "/bin/sh"
KILLED = re.compile(rf"^lab: {runner.KILLED}(\w+)", re.MULTILINE)


@dataclass
class Decoded:
    """What decoding yielded."""

    calls: int = 0
    instructions: int = 0
    branches: int = 0
    errors: int = 0
    period: int = 1
    first_error: str = ""


def build_demo():
    """Compiled so that every call is one, and bound when it starts."""
    source = paths.WORKLOADS_DIR / f"{DEMO}.c"
    program = paths.to_write(paths.in_build("run", DEMO))
    proc.run(["gcc", "-O1", "-g", "-fno-inline", "-fno-optimize-sibling-calls",
              "-fno-plt", "-Wl,-z,now",
              "-o", program, source], paths.log_file(DEMO), failed=f"cannot build {source}")
    return program


def command_of(text):
    """
    The command to trace, as a list; the demo if none is given.

    A pipe, a redirection and the like are a shell's: then the command is a shell that runs all of it.
    """
    if not text:
        return [str(build_demo())]
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise LabError(f"cannot read CMD ({error})", "check its quotes") from None
    if not words:
        raise LabError("CMD is empty", "name a command, or leave CMD away for the demo")
    if SHELL_WORK.search(QUOTED.sub("", text)):
        return [SHELL, "-c", text]
    return words


@dataclass
class Ending:
    """How the traced command ended: its status, as a shell has it, and a signal's name or ''."""

    status: int = 0
    signal: str = ""

    def __str__(self):
        return f"was killed by {self.signal}" if self.signal else f"exited with {self.status}"


def record(command, directory, log, options):
    """Run perf record in a guest; the recording lands in the directory."""
    guest.remove(directory)
    directory.mkdir(parents=True)
    argv = [str(paths.LAB_DIR / "lab"), "run", "--timeout", str(RECORD_LIMIT),
            "--share", str(directory), "--console", str(directory / "console.log")]
    argv += options
    argv += ["--", str(paths.perf()), "--buildid-dir", str(directory / "buildid"),
             "record", "-m", ",32M", "-e", "intel_pt//u",
             "-o", str(directory / "perf.data"), "--", *command]
    with open(log, "wb") as out:
        status = subprocess.call(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    return ending(directory / "perf.data", status, log)


def ending(data, status, log):
    """
    How the command ended. perf, and so the guest, ends as the command does; if there is no whole
    recording, perf or the guest has failed, whatever the command did.
    """
    text = Path(log).read_text(errors="replace")
    # The lab shows the console where the guest has failed, or its kernel has complained.
    if not perfdata.is_complete(data) or "\nlab: console of the guest" in f"\n{text}":
        raise LabError(f"the traced run failed (status {status}, '{reason(log)}')",
                       f"see {log}", log=log)
    killed = KILLED.search(text)
    return Ending(status, killed[1] if killed else "")


def reason(log):
    """What the log of a failed run says first of lab, or last of perf."""
    lines = [line.strip() for line in Path(log).read_text(errors="replace").splitlines()]
    own = [line.removeprefix("lab: ") for line in lines if line.startswith("lab: ")]
    said = [line for line in lines if line and not line.startswith("|")]
    return own[0] if own else said[-1] if said else "no message"


@contextmanager
def perf_script(directory, args):
    """The output of perf script on a recording, as a file."""
    argv = [str(paths.perf()), "--buildid-dir", str(directory / "buildid"), "script",
            "-i", str(directory / "perf.data"), "--ns", *args]
    with open(paths.log_file("decode"), "ab") as log:
        log.write(f"$ {shlex.join(argv)}\n".encode())
        log.flush()
        with subprocess.Popen(argv, env=proc.environment({"PERF_CONFIG": "/dev/null"}),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=log) as script:
            yield script.stdout
    if script.returncode:
        raise LabError("perf cannot decode the trace", f"see {log.name}", log=log.name)


def blocks(file):
    """Whole lines, a megabyte or so at a time."""
    rest = b""
    while block := file.read(BLOCK):
        lines, newline, rest = (rest + block).rpartition(b"\n")
        yield lines + newline
    if rest:
        yield rest


def count(directory, decoded, trace_bytes, progress):
    """Instructions, branches and errors.

    Each instruction of a small trace is one sample of perf script. A large
    one has a sample every PERIOD instructions, as printing tens of millions
    of lines takes minutes; the number is then rounded down to a PERIOD.
    """
    decoded.period = 1 if trace_bytes <= EXACT_BYTES else PERIOD
    samples = 0
    args = [f"--itrace=i{decoded.period}ibe", "-F", "event"]
    with perf_script(directory, args) as output:
        for lines in blocks(output):
            samples += lines.count(b"instructions:")
            decoded.branches += lines.count(b"branches:")
            if ERROR in lines:
                note_errors(decoded, lines)
            progress(f"{decoded.branches} branches")
    decoded.instructions = samples * decoded.period


def note_errors(decoded, lines):
    found = [line.decode(errors="replace").strip() for line in lines.splitlines()
             if ERROR in line]
    decoded.errors += len(found)
    decoded.first_error = decoded.first_error or found[0]


def write_calls(directory, path, decoded):
    """The call trace as a file; the result is the line where main() begins."""
    args = ["--itrace=cr", "-F", calls.FIELDS]
    with open(path, "w") as out, perf_script(directory, args) as output:
        writer = calls.Writer(out, LANDMARKS)
        for line in output:
            writer.line(line.decode(errors="replace").rstrip())
    decoded.calls = writer.calls
    if not decoded.calls:
        raise LabError("the trace holds no call", f"see {paths.log_file('decode')}")
    return writer.first()


def show_calls(path, first):
    """The first calls; what main() calls is what the reader wants to see."""
    with open(path) as lines:
        print_calls(list(itertools.islice(lines, first, first + FIRST_LINES)))


def show_last_calls(path, end):
    """Of a command that failed, what it called before its end is what the reader wants to see."""
    with open(path) as lines:
        shown = list(deque(lines, maxlen=FIRST_LINES))
    print(f"The last calls before the command {end}:\n")
    print_calls(shown)


def print_calls(lines):
    width = shutil.get_terminal_size((120, 40)).columns
    print(f"{'microseconds':>12}  call")
    for line in calls.dedent(lines):
        print(line.rstrip()[:width])


def show_summary(path, decoded, aux, end):
    print(f"\n{decoded.calls} calls, all of them in {paths.shown(path)}")
    print(f"the command           {end}")
    print(f"bytes of trace        {aux.trace_bytes}")
    about = f" (rounded down to {decoded.period})" if decoded.period > 1 else ""
    print(f"instructions decoded  {decoded.instructions}{about}")
    print(f"branches decoded      {decoded.branches}")
    print(f"decoder errors        {decoded.errors}")
    print(f"data lost             {aux.lost() + aux.gaps}")


def problem(decoded, aux):
    """What is wrong with the trace, and the remedy; None if it is whole."""
    if aux.lost():
        return f"{aux.lost()} records of lost or truncated trace", "trace a shorter command"
    if aux.gaps:
        return (f"{aux.gaps} times the trace was written over before it was read",
                "trace a shorter command")
    if decoded.errors:
        return (f"{decoded.errors} errors in decoding the trace",
                f"the first one: {decoded.first_error}")
    if not decoded.instructions or not decoded.branches:
        return "the trace is empty", f"see {paths.log_file('record')}"
    return None


def verdict(decoded, aux):
    """The first line that a person reads."""
    wrong = problem(decoded, aux)
    if wrong:
        return f"The trace is not complete: {wrong[0]}; {wrong[1]}."
    return "The trace is complete: nothing was lost, and all of it is decoded."


def check(decoded, aux):
    """A trace with holes is a failure, however nice it looks."""
    if wrong := problem(decoded, aux):
        raise LabError(*wrong)


def draw(directory, label, decoded, aux, end):
    """The page that shows all of it in a browser; its path, and what is in it."""
    page, events = paths.in_build("run", "trace.html"), directory / "timeline.json"
    page.unlink(missing_ok=True)
    timelinefilter.write(directory / "perf.data", directory / "buildid", events)
    about = tracepage.About(label, str(end), verdict(decoded, aux), not problem(decoded, aux),
                            aux.trace_bytes, str(decoded.instructions))
    facts = tracepage.write(page, events, about)
    if facts.left_out:
        ui.say(f"lab: {paths.shown(page)} leaves out {facts.left_out} short calls; "
               f"{paths.shown(events)} has them all")
    return page


def run(command_line, kernel, machine_args):
    """
    All of it; the steps' lines go to standard error, the trace to output. The result is the
    command's own exit status.
    """
    build.all_parts(kernel if kernel in build.KERNELS else paths.SERIES)
    command = command_of(command_line)
    if command[:2] == [SHELL, "-c"] and command[2] == command_line:
        ui.say(f"lab: a shell runs the command, and is traced with it: {shlex.join(command)}")
    directory = paths.in_build("run", "trace")
    calls_file = paths.in_build("run", "calls.txt")
    paths.log_file("decode").unlink(missing_ok=True)
    decoded = Decoded()
    label = shlex.join([paths.shown(command[0]), *command[1:]])
    with ui.step(f"Tracing {label[:36]}") as step:
        end = record(command, directory, paths.log_file("record"), machine_args)
        aux = perfdata.summarize(directory / "perf.data")
        step.note = f"{aux.trace_bytes / 1024:.0f} KiB of trace"
    with ui.step("Decoding") as step:
        first = write_calls(directory, calls_file, decoded)
        count(directory, decoded, aux.trace_bytes, step.progress)
    page, trouble = None, None
    with ui.step("Drawing"):
        try:
            page = draw(directory, label, decoded, aux, end)
        except LabError as error:
            # The calls are there all the same.
            trouble = error
    print(f"\n{verdict(decoded, aux)}\n")
    if end.status:
        show_last_calls(calls_file, end)
    else:
        show_calls(calls_file, first)
    show_summary(calls_file, decoded, aux, end)
    if page:
        print(f"to look at            {paths.shown(page)}, in a browser")
    check(decoded, aux)
    if trouble:
        raise trouble
    return end.status
