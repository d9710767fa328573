# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the timelines of dlfilter-timeline with what else is known of the recording.

Calls are those of perf script, as lib/lab/tracing/calls.py reads them; losses are those of the
records in the perf.data file.
"""

import io
import json
import re
import struct
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import recording
from recording import PERF

from lab.tracing import calls  # in lib/, which recording has put into the path
from lab.tracing import perffile

SOURCES = recording.LAB_DIR.parent / "perf/dlfilters"
HEADERS = recording.BUILD / "src/linux-stock/tools/perf/include"
INSTALLED = Path("/usr/include/perf/perf_dlfilter.h")
WARNINGS = ["-Wall", "-Wextra", "-Werror"]

# Numbers that are no threads': tracks of CPUs and of holes.
CPU_PID, RUN_TID, IDLE_TID, HOLES_TID = 0x400000, 0x400001, 0x600000, 0x800000
NO_CALLS = ("hole", "syscall", "interrupt", "untraced", "running")
WITHOUT_CALL, BY_JUMP = "without a call", "by a jump"

# Seconds for a recording, on the most loaded of hosts
LIMIT = 100
BRANCH = struct.Struct("<3Q")


def compile_filter(target, sources=SOURCES, warnings=WARNINGS):
    """The one command that is needed where perf is installed; its messages if it fails."""
    include = INSTALLED.parent.parent if INSTALLED.exists() else HEADERS
    files = sorted(Path(sources).glob("*timeline*.c"))
    done = subprocess.run(["gcc", "-O2", "-shared", "-fPIC", *warnings, f"-I{include}", "-o",
                           target, *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.stdout if done.returncode else ""


def script(data, *args, perf=PERF):
    """perf script on a recording; what it says and how it ends."""
    directory = Path(data).parent
    command = [perf, "--buildid-dir", directory / "buildid", "script", "-i", data, *args]
    # A mutant of the filter may never end.
    return subprocess.run(["timeout", str(LIMIT), *command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, errors="replace", check=False)


@dataclass
class Slice:
    """One event of kind X; times in nanoseconds."""

    name: str
    cat: str
    begin: int
    end: int
    args: dict
    parent: "Slice" = None
    children: list = field(default_factory=list)

    @property
    def entered(self):
        return self.args.get("entered", "")

    def is_call(self):
        """It is what perf calls a call: seen, and of a function."""
        return self.cat not in NO_CALLS and not self.entered

    def calls_around(self):
        """How many functions it is in, as lib/lab/tracing/calls.py counts them."""
        depth, outer = 0, self.parent
        while outer:
            depth += outer.cat not in NO_CALLS and outer.entered != WITHOUT_CALL
            outer = outer.parent
        return depth

    def below(self):
        """All slices in it, in order of time."""
        for child in self.children:
            yield child
            yield from child.below()


class Timeline:
    """The file, with slices nested. What is wrong with it is in problems."""

    def __init__(self, text):
        self.problems, self.names = [], defaultdict(list)
        self.tracks = defaultdict(list)
        whole = json.loads(text)
        self.other = whole["otherData"]
        for event in whole["traceEvents"]:
            self._take(event)
        for track, slices in self.tracks.items():
            self._nest(track, slices)

    def _take(self, event):
        track = event["pid"], event["tid"]
        if event["ph"] == "M":
            self.names[track].append((event["name"], event["args"]["name"]))
            return
        begin, end = (round(1000 * t) for t in (event["ts"], event["ts"] + event["dur"]))
        if event["ph"] != "X" or end <= begin or not event["name"] or not event["cat"]:
            self.problems.append(f"bad event: {event}")
        self.tracks[track].append(Slice(event["name"], event["cat"], begin, end,
                                        event.get("args", {})))

    def _nest(self, track, slices):
        if not any(kind == "thread_name" for kind, _ in self.names[track]):
            self.problems.append(f"no name of {track}")
        slices.sort(key=lambda s: (s.begin, -s.end))
        outer = None
        for one in slices:
            while outer and outer.end < one.begin:
                outer = outer.parent
            if outer and (one.end >= outer.end or one.begin <= outer.begin):
                self.problems.append(f"{track}: {one.name} at {one.begin} crosses {outer.name}")
            one.parent = outer
            if outer:
                outer.children.append(one)
            outer = one

    def threads(self):
        """{tid: slices}, of threads; of all CPUs, the idle tasks are 0, tasks not known are -1."""
        found = defaultdict(list)
        for (pid, tid), slices in self.tracks.items():
            if pid != CPU_PID:
                found[tid] = slices
            elif IDLE_TID <= tid < HOLES_TID:
                found[-(tid % 2)] += slices
        return found

    def runs(self):
        """{CPU: which thread ran on it}"""
        return {tid - RUN_TID: slices for (pid, tid), slices in self.tracks.items()
                if pid == CPU_PID and tid < IDLE_TID}

    def holes(self):
        """{CPU or thread of an area: its holes}"""
        return {tid - HOLES_TID: slices for (pid, tid), slices in self.tracks.items()
                if pid == CPU_PID and tid >= HOLES_TID}

    def all_holes(self):
        return [hole for holes in self.holes().values() for hole in holes]

    def slices(self, *cats):
        """Of threads, those of some categories, or all."""
        return [s for slices in self.threads().values() for s in slices
                if not cats or s.cat in cats]

    def thread_named(self, *names):
        """(tid, slices) of each thread that has these names, in their order."""
        return [(track[1], slices) for track, slices in self.tracks.items() if track[0] != CPU_PID
                if [n for kind, n in self.names[track] if kind == "thread_name"] == list(names)]


class Filter:
    """A compiled filter, and the timelines that it has made."""

    def __init__(self, path, perf=PERF, changes=()):
        self.path, self.perf, self.made = path, perf, {}
        # What is different in its source.
        self.changes = changes

    def run(self, data, *args, output=None, itrace="cre"):
        output = output or self.path.with_suffix(".json")
        return script(data, f"--itrace={itrace}", "--dlfilter", self.path, "--dlarg", output, *args,
                      perf=self.perf)

    def timeline(self, data):
        """The timeline of a recording; it is made once."""
        if data not in self.made:
            output = self.path.with_suffix(".json")
            done = self.run(data)
            if done.returncode:
                raise recording.Failure(f"{data.name}: status {done.returncode}: {done.stderr}")
            self.made[data] = Timeline(output.read_text())
        return self.made[data]


def calls_of_text(data, program):
    """{tid: [(depth, name)]} by calls.py, which does not end calls at holes and interrupts."""
    stacks, found = {}, defaultdict(list)
    for line in script(data, "--ns", "--itrace=cr", "-F", calls.FIELDS).stdout.splitlines():
        match = calls.BRANCH.match(line.rstrip())
        if not match:
            continue
        stack = stacks.get(match["tid"])
        # A program that runs another one; names that a program takes are no matter.
        if not stack or stack.comm != match["comm"] == program:
            stack = stacks[match["tid"]] = calls.Stack(match["comm"])
        if match["kind"] == "return":
            stack.ret(int(match["addr"], 16))
            continue
        callee = calls.symbol(match["callee"], int(match["addr"], 16))
        caller = match["caller"].partition("@@")[0]
        found[int(match["tid"])].append((stack.call(int(match["ip"], 16), caller, callee), callee))
    return found


def calls_of_timeline(timeline):
    """The same of a timeline."""
    return {tid: [(s.calls_around(), s.name.partition("@@")[0]) for s in slices if s.is_call()]
            for tid, slices in timeline.threads().items()}


def kinds_of_text(data):
    """{kind of branch: how many}, as perf script's flags call them."""
    found = defaultdict(int)
    for line in script(data, "--itrace=cr", "-F", "tid,flags,ip,addr").stdout.splitlines():
        if match := re.match(r"\s*-?\d+\s+([a-z]+(?: +[a-z]+)*)\s", line):
            found[re.sub(r" +", " ", match[1])] += 1
    return found


ERROR = re.compile(r" instruction trace error type 1 .* cpu (\d+) .* code (\d+):")
SAMPLE = re.compile(r"\s*\d+\s+\[(\d+)\]")


def errors_of_text(data):
    """
    [(CPU, codes of errors between two of its samples, whether no sample tells of a gap)] in perf
    script's order. None does if the trace was off anyway, or if perf's decoder went on at once.
    """
    open_errors, off, found = defaultdict(set), defaultdict(bool), []
    for line in script(data, "--itrace=cre", "-F", "tid,cpu,flags,ip,addr").stdout.splitlines():
        if match := ERROR.match(line):
            open_errors[int(match[1])].add(int(match[2]))
        elif match := SAMPLE.match(line):
            cpu = int(match[1])
            if codes := open_errors.pop(cpu, None):
                found.append((cpu, codes, off[cpu] or "tr strt" not in line))
            off[cpu] = "tr end" in line
    return found


def records(content):
    """(type, where its body begins, where it ends) of each record of a perf.data file."""
    for kind, at, body in perffile.records(io.BytesIO(content)):
        yield kind, at, at + len(body)


@dataclass
class Aux:
    """An AUX record of a recording per CPU, whose records end with: tid, time, id, CPU, id."""

    at: int
    offset: int
    size: int
    flags: int
    time: int
    cpu: int


def aux_records(content, per_cpu=True):
    """All of them; time and CPU only where there are any."""
    found = []
    for kind, body, end in records(content):
        if kind != perffile.RECORD_AUX:
            continue
        offset, size, flags = perffile.AUX_BODY.unpack_from(content, body)
        time = struct.unpack_from("<Q", content, end - 24)[0] if per_cpu else 0
        cpu = struct.unpack_from("<I", content, end - 16)[0] if per_cpu else 0
        found.append(Aux(body, offset, size, flags, time, cpu))
    return found


def branches_of_bts(content):
    """How many branches are in the trace; the rest is padding."""
    count = 0
    for kind, body, end in records(content):
        if kind == perffile.RECORD_AUXTRACE:
            size = struct.unpack_from("<Q", content, body)[0]
            trace = content[end:end + size - size % BRANCH.size]
            count += sum(any(words[:2]) for words in BRANCH.iter_unpack(trace))
    return count


def lost_records(content):
    """[records lost] of each LOST record."""
    return [struct.unpack_from("<QQ", content, body)[1]
            for kind, body, _ in records(content) if kind == perffile.RECORD_LOST]
