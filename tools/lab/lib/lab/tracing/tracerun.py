# SPDX-License-Identifier: GPL-2.0-only
"""'make run': a program traced in the guest, decoded, and shown as calls.

The recording is made in the guest, see tracerecord.py, on the kernel that --kernel names: with the
series' driver of PT unless another is asked for. It is decoded here, because the guest's programs
are the host's files and decoding is many times faster without emulation. A recording that was made
elsewhere is decoded and shown in the same way.
"""

import functools
import itertools
import re
import shlex
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lab.base import cache, paths, proc, ui
from lab.building import build, viewer
from lab.tracing import calls, origin, perfdata, timelinefilter, tracepage, tracerecord
from lab.base.errors import LabError

FIRST_LINES = 40
# The trace is shown from the first of these on that it has: what the dynamic
# linker does before is the same for every program.
LANDMARKS = ("main", "__libc_start_call_main", "__libc_start_main")
EXACT_BYTES = 256 << 10
PERIOD = 1000
BLOCK = 1 << 20
ERROR = b"instruction trace error"
DEMO = "demo"
# Of the parts of a run, in seconds
LEAST_SHOWN = 0.5
REMEDY = "trace less (a shorter command, --from) or only the end (--last)"
# What a shell does with a command, and a command does not do by itself.
SHELL_WORK = re.compile(r"[|&;<>()]")
QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
SHELL = "/bin/sh"
# Where the kernel puts copies of what is below probes, of which perf has no code
COPIES = re.compile(rb" ip 0x7fffffffe[0-9a-f]{3} code 5:")


@dataclass
class Decoded:
    """What decoding yielded."""

    calls: int = 0
    instructions: int = 0
    branches: int = 0
    errors: int = 0
    period: int = 1
    first_error: str = ""


def build_demo() -> Path:
    """Compiled so that every call is one, and bound when it starts."""
    source = paths.WORKLOADS_DIR / f"{DEMO}.c"
    program = paths.to_write(paths.in_build("run", DEMO))
    proc.run(["gcc", "-O1", "-g", "-fno-inline", "-fno-optimize-sibling-calls",
              "-fno-plt", "-Wl,-z,now",
              "-o", program, source], paths.log_file(DEMO), failed=f"cannot build {source}")
    return program


def command_of(text: str) -> list[str]:
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
class Recording:
    """What is decoded: the file, where its programs are kept, and what is known of how it was made."""

    data: Path
    buildids: Path | None
    label: str
    end: tracerecord.Ending | None = None
    part: tracerecord.Part = field(default_factory=tracerecord.Part)

    @functools.cached_property
    def aux(self) -> perfdata.AuxSummary:
        """What it says of its AUX areas."""
        return perfdata.summarize(self.data)

    def perf(self, command: str, *args: str) -> list[str]:
        """perf on it; a recording of another user may be decoded."""
        kept = ["--buildid-dir", str(self.buildids)] if self.buildids else []
        return [str(paths.perf()), *kept, command, "-f", "-i", str(self.data), *args]


@contextmanager
def perf_script(recording: Recording, args: Sequence[str]) -> Iterator[IO[bytes]]:
    """The output of perf script on a recording, as a file."""
    argv = recording.perf("script", "--ns", *args)
    with open(paths.log_file("decode"), "ab") as log:
        log.write(f"$ {shlex.join(argv)}\n".encode())
        log.flush()
        with subprocess.Popen(argv, env=proc.environment({"PERF_CONFIG": "/dev/null"}),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=log) as script:
            assert script.stdout
            yield script.stdout
            proc.wait(script)
    if script.returncode:
        raise LabError("perf cannot decode the trace", f"see {log.name}", log=log.name)


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Whole lines, a megabyte or so at a time."""
    rest = b""
    while block := file.read(BLOCK):
        lines, newline, rest = (rest + block).rpartition(b"\n")
        yield lines + newline
    if rest:
        yield rest


def count(recording: Recording, decoded: Decoded, trace_bytes: int,
          progress: Callable[[str], None]) -> None:
    """Instructions, branches and errors.

    Each instruction of a small trace is one sample of perf script. A large
    one has a sample every PERIOD instructions, as printing tens of millions
    of lines takes minutes; the number is then rounded down to a PERIOD.
    """
    decoded.period = 1 if trace_bytes <= EXACT_BYTES else PERIOD
    samples = 0
    args = [f"--itrace=i{decoded.period}ibe", "-F", "event"]
    with perf_script(recording, args) as output:
        for lines in blocks(output):
            samples += lines.count(b"instructions:")
            decoded.branches += lines.count(b"branches:")
            if ERROR in lines:
                note_errors(decoded, lines)
            progress(f"{decoded.branches} branches")
    decoded.instructions = samples * decoded.period


def note_errors(decoded: Decoded, lines: bytes) -> None:
    found = [line.decode(errors="replace").strip() for line in lines.splitlines()
             if ERROR in line and not COPIES.search(line)]
    if not found:
        return
    decoded.errors += len(found)
    decoded.first_error = decoded.first_error or found[0]


def write_calls(recording: Recording, path: Path, decoded: Decoded) -> int:
    """The call trace as a file; the result is the line where main() begins."""
    args = ["--itrace=cr", "-F", calls.FIELDS]
    with open(path, "w") as out, perf_script(recording, args) as output:
        writer = calls.Writer(out, LANDMARKS)
        for line in output:
            writer.line(line.decode(errors="replace").rstrip())
    decoded.calls = writer.calls
    if not decoded.calls:
        if recording.part.begin:
            raise LabError(f"{recording.part.begin} was not called in the part that was traced",
                           "name another function with --from")
        raise LabError("the trace holds no call", f"see {paths.log_file('decode')}")
    return writer.first()


def show_calls(path: Path, first: int) -> None:
    """The first calls; what main() calls is what the reader wants to see."""
    with open(path) as lines:
        print_calls(list(itertools.islice(lines, first, first + FIRST_LINES)))


def show_last_calls(path: Path, which: str) -> None:
    """Of a command that failed, what it called before its end is what the reader wants to see."""
    with open(path) as lines:
        shown = list(deque(lines, maxlen=FIRST_LINES))
    print(f"The last calls {which}:\n")
    print_calls(shown)


def print_calls(lines: Sequence[str]) -> None:
    width = shutil.get_terminal_size((120, 40)).columns
    print(f"{'microseconds':>12}  call")
    for line in calls.dedent(lines):
        print(line.rstrip()[:width])


def show_summary(path: Path, decoded: Decoded, aux: perfdata.AuxSummary,
                 end: tracerecord.Ending | None) -> None:
    print(f"\n{decoded.calls} calls, all of them in {paths.shown(path)}")
    print(f"the command           {end or 'is of another run'}")
    print(f"bytes of trace        {aux.trace_bytes}")
    about = f" (rounded down to {decoded.period})" if decoded.period > 1 else ""
    print(f"instructions decoded  {decoded.instructions}{about}")
    print(f"branches decoded      {decoded.branches}")
    print(f"decoder errors        {decoded.errors}")
    print(f"data lost             {aux.lost() + aux.gaps}")


def problem(decoded: Decoded, aux: perfdata.AuxSummary,
            last: str | bool = False) -> tuple[str, str] | None:
    """What is wrong with the trace, of which the rest may be overwritten; None if it is whole."""
    if aux.lost():
        return f"{aux.lost()} records of lost or truncated trace", REMEDY
    if aux.gaps and not last:
        return (f"{aux.gaps} times the trace was written over before it was read",
                REMEDY)
    if decoded.errors:
        return (f"{decoded.errors} errors in decoding the trace",
                f"the first one: {decoded.first_error}")
    if not decoded.instructions or not decoded.branches:
        return "the trace is empty", f"see {paths.log_file('record')}"
    return None


def verdict(decoded: Decoded, aux: perfdata.AuxSummary, last: str | bool = False) -> str:
    """The first line that a person reads."""
    wrong = problem(decoded, aux, last)
    if wrong:
        return f"The trace is not complete: {wrong[0]}; {wrong[1]}."
    return f"The {'end of the ' * bool(last)}trace is complete: nothing was lost, and all of it is " \
           "decoded."


def check(decoded: Decoded, aux: perfdata.AuxSummary, last: str | bool = False) -> None:
    """A trace with holes is a failure, however nice it looks."""
    if wrong := problem(decoded, aux, last):
        raise LabError(*wrong)


def draw(recording: Recording, decoded: Decoded, aux: perfdata.AuxSummary) -> Path:
    """The page that shows all of it in a browser; its path, and what is in it."""
    page = paths.in_build("run", "trace.html")
    events = paths.to_write(paths.in_build("run", "trace", "timeline.json"))
    page.unlink(missing_ok=True)
    timelinefilter.write(recording.data, recording.buildids, events)
    last = recording.part.last
    about = tracepage.About(recording.label, str(recording.end or "not known"),
                            verdict(decoded, aux, last), not problem(decoded, aux, last),
                            aux.trace_bytes, str(decoded.instructions))
    facts = tracepage.write(page, events, about)
    if facts.left_out:
        ui.say(f"lab: {paths.shown(page)} leaves out {facts.left_out} short calls; "
               f"{paths.shown(events)} has them all")
    return page


def record(command_line: str, machine_args: Sequence[str], part: tracerecord.Part,
           out: str) -> Recording:
    """The steps in which a command is recorded in a guest."""
    command = command_of(command_line)
    if command[:2] == [SHELL, "-c"] and command[2] == command_line:
        ui.say(f"lab: a shell runs the command, and is traced with it: {shlex.join(command)}")
    directory = tracerecord.make_empty(out)
    label = shlex.join([paths.shown(command[0]), *command[1:]])
    with ui.step(f"Tracing {label[:36]}") as step:
        end = tracerecord.record(command, directory, paths.log_file("record"), machine_args, part)
        recording = Recording(directory / "perf.data", directory / "buildid", label, end, part)
        step.note = f"{recording.aux.trace_bytes / 1024:.0f} KiB of trace"
    return recording


def show(recording: Recording) -> int:
    """Decode, draw and print; the result is the command's own exit status."""
    calls_file = paths.in_build("run", "calls.txt")
    paths.log_file("decode").unlink(missing_ok=True)
    decoded, aux, end = Decoded(), recording.aux, recording.end
    with ui.step("Decoding") as step:
        first = write_calls(recording, calls_file, decoded)
        count(recording, decoded, aux.trace_bytes, step.progress)
    seen = ""
    trouble: LabError | None = None
    with ui.step("Drawing"):
        # The calls are there all the same.
        try:
            seen = f"{paths.shown(draw(recording, decoded, aux))}, in a browser"
        except viewer.Absent as error:
            seen = f"no picture: {error}"
        except LabError as error:
            trouble = error
    print(f"\n{verdict(decoded, aux, recording.part.last)}\n")
    if end and end.status:
        show_last_calls(calls_file, f"before the command {end}")
    elif recording.part.last:
        show_last_calls(calls_file, "of the trace")
    else:
        show_calls(calls_file, first)
    show_summary(calls_file, decoded, aux, end)
    if seen:
        print(f"to look at            {seen}")
    check(decoded, aux, recording.part.last)
    if trouble:
        raise trouble
    return end.status if end else 0


def parts_of(machine: tuple[str, bool]) -> list[tuple[str, bool]]:
    """The kernel that is built, by name and whether it is the debug one; none where the user has one."""
    name, debug = machine
    return [(name, debug)] if name in build.KERNELS else []


def show_times() -> None:
    """Where the time of this process went, real and of CPUs."""
    rows = [(step.label, step.seconds, step.cpu) for step in ui.TIMES if step.seconds >= LEAST_SHOWN]
    rows.append(("all", time.monotonic() - ui.BEGUN, time.process_time() + ui.of_commands()))
    print(f"\n{'seconds':<{ui.LABEL_WIDTH}}    real     CPU")
    for label, seconds, cpu in rows:
        print(f"{label:<{ui.LABEL_WIDTH}} {seconds:7.1f} {cpu:7.1f}")


def run(command_line: str, kernel: tuple[str, bool], machine_args: Sequence[str],
        part: tracerecord.Part, out: str = "") -> int:
    """
    All of it; the steps' lines go to standard error, the trace to output. The result is the
    command's own exit status.
    """
    cache.leave_empty()
    build.all_parts(parts_of(kernel))
    # What a trace leaves in the directory of builds has one place.
    with build.locked("trace"):
        recording = record(command_line, machine_args, part, out)
        try:
            return show(recording)
        finally:
            show_times()
            if out:
                print(f"to decode elsewhere   perf --buildid-dir {out}/buildid script "
                      f"-i {out}/perf.data --call-trace")


def run_data(name: str) -> int:
    """The same of a recording that is there, such as one of a real machine by perf calltrace --out."""
    build.perf_only()
    data, buildids = origin.find(name)
    status = origin.status_of(data)
    with build.locked("trace"):
        return show(Recording(data, buildids, origin.command_of(data),
                              None if status is None else tracerecord.Ending.of(status)))
