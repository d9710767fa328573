# SPDX-License-Identifier: GPL-2.0-only
"""What a trace costs: accesses to registers, nanoseconds, instructions and cycles.

The program 'cost' does each thing many times, with a trace and without. Accesses to the registers
of Intel PT are counted by the kernel's tracepoints msr:write_msr and msr:read_msr, in a trace
buffer of the kit's own; times are the program's; instructions and cycles are perf stat's. What a
PMI takes is told by nmi:nmi_handler: perf stat cannot see it, as counters stand still in it.
"""

import re
import subprocess
from functools import partial

from checks import Check
from common import PROGRAMS, Skip, answering, close, last_line, start
from control import Control

# IA32_RTIT_OUTPUT_BASE to IA32_RTIT_ADDR3_B, and what follows
RTIT = "msr >= 0x560 && msr <= 0x58b"
HANDLER = re.compile(r"nmi_handler: perf_event_nmi_handler\S* delta_ns: (\d+) handled: (\d+)")
INSTANCE = "perf-aux-kit"
COUNTERS = ("instructions", "cycles")
REGISTERS = "registers"
# What the program says of an event that the kernel does not know.
NO_EVENT = "the kernel takes no such event"


class Cost:
    """One thing that is measured: how often in a run, and whether it is interrupts."""

    def __init__(self, name, what, times, interrupts=False):
        self.name, self.what, self.times, self.interrupts = name, what, times, interrupts


COSTS = (
    Cost("switch", "a traced task is switched out and in again", 1000),
    Cost("both", "two traced tasks, each out and in", 1000),
    Cost("sample", "a sample of 4 KiB of a trace", 500),
    Cost("pause", "a pause and a resume", 500),
    Cost("pmi64k", "an interrupt, area of 64 KiB", 16, True),
    Cost("pmi1m", "an interrupt, area of 1 MiB", 48, True),
)


def median(values):
    """The middle value; of an even number, the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread(values, digits=3):
    """Median, least and most, as the report has them."""
    return {"median": round(median(values), digits), "least": round(min(values), digits),
            "most": round(max(values), digits), "runs": len(values)}


class Counts:
    """Accesses and interrupts of one CPU, in a trace buffer that goes at the end."""

    def __init__(self, settings, cpu):
        self.settings, self.cpu, self.place = settings, cpu, None
        self.missing = "accesses to registers cannot be counted"

    def prepare(self):
        if not self.settings.tracing:
            raise Skip("tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing")
        events = self.settings.tracing / "events"
        for name in ("msr/write_msr", "msr/read_msr", "nmi/nmi_handler"):
            if not (events / name).is_dir():
                raise Skip("the kernel has no tracepoint %s" % name.replace("/", ":"))
        self.place = self.settings.make_instance(INSTANCE)
        self._write("trace_clock", "mono")
        for kind in ("write", "read"):
            self._write("events/msr/%s_msr/filter" % kind, RTIT)
        self._write("events/nmi/nmi_handler/filter", "handled > 0")

    def _write(self, name, text):
        (self.place / name).write_text(text)

    def _enable(self, *events):
        """Only these; what was traced before is gone."""
        self._write("tracing_on", "0")
        for name in ("msr/write_msr", "msr/read_msr", "nmi/nmi_handler"):
            self._write("events/%s/enable" % name, "1" if name in events else "0")
        self._write("trace", "")
        self._write("tracing_on", "1")

    def _events(self):
        text = (self.place / ("per_cpu/cpu%d/stats" % self.cpu)).read_text()
        return sum(int(number) for number in
                   re.findall(r"^(?:entries|overrun): (\d+)$", text, re.MULTILINE))

    def of(self, event, work):
        """(how often that happened on the CPU while WORK was done, what WORK returned)"""
        self._enable(event)
        result = work()
        self._write("tracing_on", "0")
        return self._events(), result

    def handlers(self, work):
        """(nanoseconds of each interrupt of perf meanwhile, what WORK returned)"""
        _, result = self.of("nmi/nmi_handler", work)
        text = (self.place / ("per_cpu/cpu%d/trace" % self.cpu)).read_text()
        return [int(ns) for ns, _ in HANDLER.findall(text)], result


class Running:
    """The program 'cost', ready to do its work, by itself or below perf stat."""

    def __init__(self, context, cost, kind, before=(), starter=start):
        argv = [*before, PROGRAMS / "cost", cost.name, kind, cost.times]
        self.process = starter(argv, context.work, [context.cpu], stdin=subprocess.PIPE)
        try:
            self._answer("ready")
        except BaseException:
            close(self.process)
            raise

    def _answer(self, word):
        with answering("the program cost"):
            line = self.process.stdout.readline()
            if line.startswith("error "):
                raise RuntimeError(line.strip().split(None, 2)[2])
            if not line.startswith(word):
                raise RuntimeError("%s ended early: %s" % (
                    self.process.args[0], last_line(line + self.process.stderr.read())))
        return line.split()

    def once(self):
        """(nanoseconds, times, bytes of trace) of one run"""
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return tuple(map(int, self._answer("done")[1:]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """It ends by the end of its input; perf stat then writes what it has counted."""
        try:
            self.process.stdin.close()
            self.process.wait(timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            pass
        close(self.process)


def accesses(counts, running, runs):
    """Accesses to registers in one time, and the figures of interrupts."""
    found = {}
    for kind in ("write", "read"):
        each = []
        for _ in range(runs):
            count, (_, times, _) = counts.of("msr/%s_msr" % kind, running.once)
            each.append(count / times)
        found[kind + "s"] = spread(each)
    return found


def interrupts(counts, running, runs):
    """The same for each interrupt, and what its handler takes."""
    found, per_mib, took = {}, [], []
    for _ in range(runs):
        handlers, (_, _, size) = counts.handlers(running.once)
        per_mib.append(len(handlers) * 1048576 / size)
        took += handlers
    if not median(per_mib):
        raise RuntimeError("no interrupt of perf (nmi:nmi_handler) was seen")
    found.update({"interrupts-per-MiB": spread(per_mib), "ns-in-handler": spread(took, 0)})
    for kind in ("write", "read"):
        each = []
        for _ in range(runs):
            count, (_, _, size) = counts.of("msr/%s_msr" % kind, running.once)
            each.append(count / (median(per_mib) * size / 1048576))
        found[kind + "s"] = spread(each)
    return found


def nanoseconds(context, cost, runs):
    """What one time takes beyond the same without a trace: of each pair, as the machine changes."""
    pairs = []
    with Running(context, cost, "base") as base, Running(context, cost, "traced") as traced:
        for _ in range(runs):
            pairs.append([ns / times for ns, times, _ in (base.once(), traced.once())])
    return {"ns": spread([traced - base for base, traced in pairs], 0),
            "ns-without": spread([base for base, _ in pairs], 0)}


def counted(context, cost, kind):
    """{event: how many in one time} of perf stat, which counts only while the work is done."""
    output = context.work / "stat"
    with Control("perf stat") as control:
        # Counters of the CPU, not of the tasks: those would have to be switched as well.
        perf = [context.tool, "stat", "-C", context.cpu, "-x", ",", "-o", output, "-D", "-1",
                *control.option, "-e", ",".join(COUNTERS), "--"]
        with Running(context, cost, kind, perf, control.start) as running:
            order(control, "enable")
            _, times, _ = running.once()
            order(control, "disable")
    return counters(output.read_text(), times)


def order(control, word):
    if not control.order(word):
        raise RuntimeError("perf stat gives no answer: it has ended")


def counters(text, times):
    """{event: how many in one time} of what perf stat -x, has written."""
    found = {}
    for line in text.splitlines():
        words = line.split(",")
        if len(words) < 3 or not words[0].isdigit():
            continue
        name = words[2].split(":")[0].strip("/").rpartition("/")[2]
        found[name] = found.get(name, 0) + int(words[0]) / times
    return found


def by_perf_stat(context, cost, runs):
    """What one time takes beyond the same without a trace, of each counter, pair by pair."""
    pairs = [[counted(context, cost, kind) for kind in ("base", "traced")] for _ in range(runs)]
    return {name: spread([traced[name] - base[name] for base, traced in pairs], 0)
            for name in COUNTERS if all(name in one for pair in pairs for one in pair)}


def measure(context, counts, cost, runs):
    found = {}
    if counts.place:
        with Running(context, cost, "traced") as running:
            found.update((interrupts if cost.interrupts else accesses)(counts, running, runs))
    if not cost.interrupts:
        found.update(nanoseconds(context, cost, runs))
        found.update(by_perf_stat(context, cost, max(1, runs // 3)))
    if not found:
        raise Skip(counts.missing)
    return found


def run_cost(context, counts, cost, runs):
    try:
        found = measure(context, counts, cost, runs)
    except RuntimeError as error:
        if NO_EVENT in str(error) and cost.name == "pause" and not context.aux_action:
            raise Skip("the kernel has no aux_action (6.13 has): " + str(error))
        raise
    # What is traced switches the trace on, which is a register.
    if "writes" in found and not found["writes"]["median"]:
        return [{"verdict": "fail", "reason": "no register was written: nothing was traced",
                 "figures": found}]
    return [{"verdict": "measured", "reason": "", "figures": found}]


def prepare(counts):
    """It has a result where it fails, or cannot be."""
    counts.prepare()
    return []


def checks(context, runs):
    counts = Counts(context.settings, context.cpu)
    return [Check("costs", REGISTERS, "accesses to registers, interrupts",
                  partial(prepare, counts))] + [
        Check("costs", cost.name, cost.what, partial(run_cost, context, counts, cost, runs))
        for cost in COSTS]
