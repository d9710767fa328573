# SPDX-License-Identifier: GPL-2.0-only
"""A recording of each mode by the machine's perf, decoded by it and checked.

The program 'known' is recorded. A recording passes if perf's decoder has no error, and if each
branch of the program is in it as often as it was made: all of them in a full trace, valid ones only
where a part of the trace is kept. Where trace was lost, the recording must say so.
"""

import copy
import shutil
import subprocess
import time
from functools import partial
from pathlib import Path

import perfdata
from checks import Check
from common import BTS, PT, Late, Skip, answering, close, end, last_line, read, run, start
from control import Control
from known import Decoded, Known

ROUNDS = 400
# The program calls known_visit() twice in a round.
CALLS = 2 * ROUNDS
# With the kernel, as it takes longer to decode.
KERNEL_ROUNDS = 100
AREA = "-m,4M"
USER = "intel_pt//u"
# By default there are 16 KiB from one packet on which decoding can begin (PSB) to the next.
SMALL_AREA = ("-m,16K", "-e", "intel_pt/psb_period=0/u")
SAMPLE_PERIOD = 500
# How many rounds fill a small area many times over.
MANY_ROUNDS = 5000
SNAPSHOTS = 2
ATTEMPTS = 3
WAIT, DECODE_LIMIT = 60, 900
# What perf says of terms of an event that it does not know.
SYNTAX = "event syntax error"


class Lossy(Exception):
    """Trace was lost, and it says so: nothing can be counted."""


class Refused(RuntimeError):
    """perf has not recorded; all that it said."""

    def __init__(self, said):
        shown = [line for line in said.splitlines()
                 if line.strip() and not line.startswith((" ", "Run 'perf", "\t"))]
        super().__init__("perf record failed: " + last_line("\n".join(shown)))
        self.said = said


class Context:
    """What checks are told: the directory for recordings, perf, CPUs, settings."""

    def __init__(self, work, tool, choice, settings, kernel):
        self.work, self.tool, self.settings = Path(work), tool, settings
        self.cpu, self.large, self.small = choice.cpu, choice.large, choice.small
        self.series = kernel["series"]
        # Whether the kernel has it, so that to refuse it is a fault
        self.aux_action = kernel["aux-action"]
        self.program = self.work / "known"
        self.branches = "cpu_core/branches/u" if choice.large else "branches:u"

    def on(self, cpu):
        """The same on another CPU."""
        other = copy.copy(self)
        other.cpu = cpu
        return other

    def perf(self, *args):
        return [self.tool, "--buildid-dir", self.work / "buildid", *args]

    def data(self, name):
        return self.work / (name + ".data")

    def remove_recordings(self):
        for path in self.work.glob("*.data*"):
            if path.is_dir():
                shutil.rmtree(str(path))
            else:
                path.unlink()

    def at(self):
        return Known(run([self.program, "0"], self.work)[1])


def record(context, name, options, command=None, rounds=ROUNDS):
    """Record the program; what it says of itself."""
    argv = context.perf("record", "-q", "-N", "-o", context.data(name), *options, "--",
                        *(command or [context.program, rounds]))
    status, out, err = run(argv, context.work, [context.cpu])
    if status:
        raise Refused(err)
    return Known(out)


def decode(context, name, known, lossless=False):
    """(what was decoded, what the records tell); a loss is told before it is decoded for long."""
    summary = perfdata.summarize(context.data(name))
    if lossless and summary.missing():
        raise Lossy("the area was full, or the trace has gaps, %d times, and the recording says "
                    "so; try when the machine has less to do" % summary.missing())
    argv = context.perf("script", "-i", context.data(name), "--itrace=be", "-F", "ip,addr",
                        "--pid", known.pid)
    decoded, errors = Decoded(known), context.work / "script.err"
    with errors.open("w") as file:
        process = start(argv, context.work, stdin=subprocess.DEVNULL, stderr=file)
    try:
        with answering("perf script", DECODE_LIMIT):
            decoded.take(process.stdout)
            process.wait()
    finally:
        close(process)
    said = read(errors)
    if process.returncode:
        raise RuntimeError("perf script failed: " + last_line(said))
    decoded.take(said.splitlines())
    return decoded, summary


def figures(decoded, summary):
    return {"branches": decoded.branches(), "trace-bytes": summary.trace_bytes,
            "lost": summary.missing(), "overflows": decoded.overflows,
            "errors": len(decoded.errors), "errors-of-other-programs": decoded.errors_of_others}


def whole(context, name, options, calls=CALLS, check=None, rounds=ROUNDS):
    """A recording that has to have each branch of so many calls."""
    known = record(context, name, options, rounds=rounds)
    decoded, summary = decode(context, name, known, lossless=True)
    if decoded.overflows:
        raise Lossy("the processor was faster than its trace %d times, and the trace says so"
                    % decoded.overflows)
    if decoded.losses:
        problem = "%d losses in the trace, of which no record tells" % decoded.losses
    else:
        problem = decoded.problem(calls) or (check(decoded) if check else "")
    return problem, figures(decoded, summary)


def per_thread(context):
    """a full trace of a thread"""
    return whole(context, "thread", ["--per-thread", AREA, "-e", USER])


def on_small_core(context):
    """a full trace of a thread on a small core"""
    return per_thread(context.on(context.small))


def per_cpu(context):
    """a full trace of a program, CPU by CPU"""
    return whole(context, "cpus", [AREA, "-e", USER])


def whole_system(context):
    """a full trace of the whole machine (-a)"""
    try:
        return whole(context, "system", ["-a", "-m,1M", "-e", USER])
    except Late as error:
        raise Skip("there is too much to decode: %s" % error)


def kernel(context):
    """a full trace of a program and the kernel, with a copy of the kernel's code"""
    if context.settings.number("kptr_restrict") > 1:
        context.settings.set("kptr_restrict", 1)

    def check(decoded):
        if decoded.syscalls != KERNEL_ROUNDS:
            return "%d system calls entered, %d wanted" % (decoded.syscalls, KERNEL_ROUNDS)
        return ""
    return whole(context, "kernel", ["--kcore", "--per-thread", AREA, "-e", "intel_pt//"],
                 2 * KERNEL_ROUNDS, check, KERNEL_ROUNDS)


def snapshot_at_exit(context):
    """a snapshot at the end, of an area that holds the whole trace"""
    return whole(context, "exit", ["--per-thread", "-Se", "-m,256K", "-e", USER])


def address_filter(context):
    """an address filter: one function"""
    if read(PT / "nr_addr_filters", "0") == "0":
        raise Skip("the processor has no address filters")
    if not maps_as_it_is(context):
        raise Skip("the file system shows another inode in a mapping (overlay): --work DIR names a "
                   "directory elsewhere")
    text = "filter known_visit @ %s" % context.program
    return whole(context, "filter", ["--per-thread", AREA, "-e", USER, "--filter", text])


def maps_as_it_is(context):
    """Whether a file has the inode that its mapping has: perf's filters go by it."""
    held = start([context.program, "-"], context.work, stdin=subprocess.PIPE)
    try:
        with answering("the program"):
            held.stdout.readline()
        maps = Path("/proc/%d/maps" % held.pid).read_text()
    finally:
        close(held)
    inode = str(context.program.stat().st_ino)
    return any(line.split()[4:] == [inode, str(context.program)] for line in maps.splitlines())


def paused(context):
    """a trace that breakpoints resume and pause"""
    at = context.at().at
    events = ("intel_pt/aux-action=start-paused/u,mem:%#x:x/aux-action=resume/u,"
              "mem:%#x:x/aux-action=pause/u" % (at["span-begin"], at["span-end"]))

    def check(decoded):
        if decoded.entries != {"span": ROUNDS, "other": 0}:
            return "%(span)d calls between the breakpoints and %(other)d others" % decoded.entries
        return ""
    try:
        return whole(context, "paused", ["--per-thread", AREA, "-e", events], ROUNDS, check)
    except Refused as error:
        if SYNTAX in error.said:
            raise Skip("this perf has no aux-action, or not for breakpoints: " + str(error))
        if not context.aux_action:
            raise Skip("the kernel has no aux_action (6.13 has): " + str(error))
        raise


def bts(context):
    """a full trace of a thread with Branch Trace Store"""
    if not BTS.is_dir():
        raise Skip("there is no PMU intel_bts: page table isolation (meltdown) keeps it away, or "
                   "the kernel has it not")
    return whole(context, "bts", ["--per-thread", "-m,16M", "-e", "intel_bts//u"])


def samples(context):
    """samples of the trace, by a counter of branches"""
    known = record(context, "samples", [
        "--per-thread", "-m,64K", "--aux-sample=4096", "-c", SAMPLE_PERIOD,
        "-e", "{intel_pt//u,%s}" % context.branches])
    decoded, summary = decode(context, "samples", known)
    found = figures(decoded, summary)
    found["samples"] = summary.samples
    wanted = CALLS * known.per_call() // SAMPLE_PERIOD
    problem = decoded.problem(None)
    if not problem and summary.samples < wanted:
        problem = "%d samples, %d wanted" % (summary.samples, wanted)
    return problem, found


class Controlled:
    """perf record of a program that is told when to work, and perf when to take a snapshot."""

    def __init__(self, context, name, options):
        self.perf, self.control = None, Control("perf record")
        self.program = start([context.program, "-"], context.work, [context.cpu],
                             stdin=subprocess.PIPE)
        try:
            self.known = self._description()
            argv = context.perf("record", "-q", "-N", "-D", "-1", *self.control.option, "-o",
                                context.data(name), *options, "-p", self.program.pid)
            self.perf = self.control.start(argv, context.work, [context.cpu])
        except BaseException:
            self.close()
            raise

    def _description(self):
        lines = []
        with answering("the program"):
            while not lines or lines[-1] != "ready\n":
                lines.append(self.program.stdout.readline())
                if not lines[-1]:
                    raise RuntimeError("the program did not start")
        return Known("".join(lines))

    def order(self, word):
        """A command to perf, and its answer."""
        if not self.control.order(word):
            end(self.perf)
            raise Refused(self.perf.communicate(timeout=WAIT)[1])

    def work(self, rounds):
        self.program.stdin.write("%d\n" % rounds)
        self.program.stdin.flush()
        with answering("the program"):
            self.program.stdout.readline()

    def finish(self):
        """The program ends, and perf by itself with it."""
        self.program.stdin.close()
        self.program.wait(timeout=WAIT)
        err = self.perf.communicate(timeout=WAIT)[1]
        if self.perf.returncode:
            raise Refused(err)

    def close(self):
        for process in (self.perf, self.program):
            if process:
                close(process)
        self.control.close()


def snapshots(context):
    """snapshots of a program that goes on, of an area that is written over and over"""
    controlled = Controlled(context, "snapshots", ["--per-thread", "-S", *SMALL_AREA])
    try:
        controlled.order("enable")
        for _ in range(SNAPSHOTS):
            controlled.work(MANY_ROUNDS)
            controlled.order("snapshot")
            time.sleep(0.5)
        controlled.finish()
    finally:
        controlled.close()
    decoded, summary = decode(context, "snapshots", controlled.known)
    found = figures(decoded, summary)
    found["snapshots"] = summary.snapshots
    problem = decoded.problem(None)
    if not problem and summary.snapshots < SNAPSHOTS:
        problem = "%d snapshots, %d wanted" % (summary.snapshots, SNAPSHOTS)
    return problem, found


def losses(context):
    """an area that is too small: the recording must tell of the loss"""
    # The shell has perf wait, so that nobody reads while the program fills the area.
    script = "kill -STOP $PPID; %s %d; kill -CONT $PPID" % (context.program, MANY_ROUNDS)
    known = record(context, "losses", SMALL_AREA, ["sh", "-c", script])
    decoded, summary = decode(context, "losses", known)
    found = figures(decoded, summary)
    if not summary.truncated:
        return "no record tells of the loss", found
    # The end of a full area may be in the middle of a packet.
    if len(decoded.errors) > summary.truncated:
        return decoded.problem(None), found
    if decoded.branches() >= 2 * MANY_ROUNDS * known.per_call():
        return "nothing was lost", found
    return ("%d branches that the program does not have" % decoded.foreign
            if decoded.foreign else ""), found


MODES = (per_thread, on_small_core, per_cpu, whole_system, kernel, snapshot_at_exit, snapshots,
         samples, address_filter, paused, bts, losses)
# Others may fill these areas; what fills another one is a fault.
BUSY = (whole_system,)


def attempt(context, mode):
    """What a mode comes to; where the trace was lost, it is made again a few times."""
    for _ in range(ATTEMPTS):
        try:
            problem, found = mode(context)
            return [{"verdict": "fail" if problem else "pass", "reason": problem,
                     "figures": found}]
        except Lossy as error:
            lossy = error
        finally:
            context.remove_recordings()
    if mode in BUSY:
        raise Skip(str(lossy))
    raise RuntimeError("%s, in each of %d recordings" % (lossy, ATTEMPTS))


def checks(context):
    return [Check("recordings", mode.__name__.replace("_", "-"), mode.__doc__,
                  partial(attempt, context, mode))
            for mode in MODES if mode != on_small_core or context.small is not None]
