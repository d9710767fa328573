# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings by perf in one guest, and what perf's own decoder finds in them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
TESTS = Path(__file__).resolve().parent.parent
LAB_DIR = TESTS.parent
sys.path[:0] = [str(LAB_DIR / "lib"), str(LAB_DIR.parent / "emulator/tests/checker")]

from lab.base import bases
from lab.compiling import guest as guest_mod
import checkers
from lab.testing import points
from lab.tracing import perfdata

LAB = os.environ.get("LAB") or str(LAB_DIR / "lab")
BUILD = Path(os.environ.get("LAB_BUILD") or LAB_DIR.parent.parent / "build").resolve()
PERF = os.environ.get("LAB_PERF") or str(BUILD / "perf/perf")

# Where perf record writes in the guest. 6.1 sends each write to a share to the host, and perf sleeps.
# It reads switches of the whole system until there are no more, so each write gives it two more to
# read: on a loaded host it goes on for minutes after the program's end. A file in memory is moved.
PLACE = "/run/" if bases.current().name == "6.1" else ""

PAGE = 4096

# perf's decoder numbers its errors; this one says that the kernel told of a loss.
LOST_DATA = "code 8: Lost trace data"
OVERFLOW = "code 7: Overflow packet"
NO_INSTRUCTION = "code 5: Failed to get instruction"
CUT_PACKET = re.compile(r"^cut packet: (\d+) bytes of area (\d+) at (\d+)$", re.MULTILINE)
ERROR_LINE = re.compile(r"instruction trace error type \d+ .*? ip (\S+) (code \d+: .*)")


class Failure(Exception):
    """The recordings could not be made."""


def run(main):
    """Run a test program; where its recordings could not be made, it ends with one line."""
    try:
        main()
    except Failure as failure:
        points.bail_out(failure)


@dataclass
class Recording:
    """One perf record command; {dir} in the command is the shared directory."""

    name: str
    args: str
    command: str
    # fewer decoded branches than this fail; None: the case has a check of its own
    branches: int = 0
    # error texts that are right for this case
    errors: tuple = ()
    # it must have lost data, and say so
    loses: bool = False
    # Size of the area, in bytes. The trace may stop at the ends of chunks, but never fills the area.
    stops_in: int = 0
    # a shell script in place of "perf record ARGS -- COMMAND"
    script: str = ""
    # the area is read for each snapshot: what comes between is written over, as it should be
    snapshots: bool = False


def work_directory(name):
    """An empty directory below the build directory; it stays for a look after a failure."""
    path = BUILD / "test-work" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def compile_c(source, target, *flags):
    """A program for the guest; the host's compiler and libraries are the guest's."""
    subprocess.run(["gcc", "-O1", "-g", "-Wall", "-Werror", *flags, "-o", target, source],
                   check=True)


def guest(script, directory, *options, timeout=300):
    """Run a shell script in a guest that shares the directory read-write."""
    command = [LAB, "run", "--share", str(directory), "--timeout", str(timeout), *options,
               "--", "sh", "-c", script]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def shown(text, word):
    """The lines of a script's output that start with a word, as {second word: rest}."""
    found = {}
    for line in text.splitlines():
        words = line.split(None, 2)
        if words and words[0] == word:
            found[words[1]] = words[2] if len(words) > 2 else ""
    return found


def differing(text, word, wanted):
    """What a script's lines that start with a word should say, and do not: a line for each."""
    found = shown(text, word)
    return [f"{word} {key}: {found.get(key)}, wanted {value}" for key, value in wanted.items()
            if found.get(key, "").strip() != value]


def record_all(recordings, directory, *options, timeout=300):
    """
    Make all recordings in one guest; each leaves NAME.data and NAME.log.

    perf copies each file that has run into its cache of build IDs, where the host finds the guest's
    vDSO; newer ones do so if they read the build IDs, where the kernel has none of the vDSO to tell.
    Of the kernel that takes ten seconds and helps nobody: --kcore puts it into the recording.
    """
    lines = [f"cd {directory}", f"export PERF='perf --buildid-dir {directory}/buildid'"]
    for number, rec in enumerate(recordings):
        out = f"{PLACE}{number}.data"
        line = rec.script or "$PERF record -o {out} {args} -- {command} >/dev/null"
        kcore = "--kcore --no-buildid-cache" if number else "--kcore"
        args = f"--no-buildid-mmap {rec.args.replace('--kcore', kcore)}"
        lines.append(f"echo 'recording {number}: {shlex.quote(rec.name)[1:-1]}'")
        lines.append("{ " + line.format(out=out, args=args, dir=directory,
                                        command=rec.command.format(dir=directory)) +
                     f"; }} 2>{number}.log || echo 'exit status '$? >>{number}.log")
        if PLACE:
            lines.append(f'for file in {out}*; do [ ! -e "$file" ] || mv "$file" .; done')
    done = guest("\n".join(lines), directory, *options, timeout=timeout)
    if done.returncode:
        raise Failure(f"the guest ended with status {done.returncode}:\n{done.stdout}")


@dataclass
class Decoded:
    """What perf script makes of a recording."""

    branches: int
    # texts of the decoder's errors
    errors: list
    lost: int
    trace_bytes: int
    # times that the driver wrote over what perf had not read
    overrun: int
    # times that a trace went on after a loss, and those in which no decoder could
    resumed: int
    blind: int
    # where the trace stopped, of each area
    stops: list


# Guests have a processor with all manners, see pt/rude.
RUDE = perfdata.PADDED


def script(data, directory, itrace, *fields):
    command = [PERF, "--buildid-dir", f"{directory}/buildid", "script", "-i", str(data),
               f"--itrace={itrace}", *fields]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False)
    # Apart, as a warning is otherwise written into the middle of a line.
    return done.stdout + done.stderr


def with_init(directory):
    """
    The option by which perf script finds the code of the guest's init, whose file is not in the
    guest's root.

    perf then does without symbols of the kernel, unless the recording has a copy of it. Where the
    kernel is traced, it is needed: init runs when a machine awakes, and after code that cannot be
    read the decoder takes returns to the kernel for errors.
    """
    place = Path(directory) / "symfs"
    if not place.exists():
        place.mkdir()
        for entry in Path("/").iterdir():
            (place / entry.name).symlink_to(entry)
        (place / "init").unlink(missing_ok=True)
        (place / "init").symlink_to(BUILD / "guest/init")
    return ["--symfs", str(place)]


def errors_in(text):
    """The texts of the decoder's errors in what perf script says, but for those about init.

    The guest's init runs now and then, to pass output on, and is in a trace of all that runs.
    """
    return [f"ip {m[1]} {m[2]}" for m in ERROR_LINE.finditer(text)
            if not (NO_INSTRUCTION in m[2] and int(m[1], 16) >> 24 == guest_mod.INIT_AT >> 24)]


def without_cut_packets(data, walked):
    """
    The recording, or a copy in which the packets that a full area has cut off are PAD packets;
    ptwalk --cut-packets has said which ones.

    Where an area is full, the end of a packet may be missing (SDM: "ToPA STOP"), and the trace
    goes on with PSB. perf's decoder takes the beginning of PSB for the missing end, and the rest
    of PSB for packets; a TSC then is years in the future, and the code of what follows is looked
    for in processes that have ended. Without these packets there is no error that is not one.
    """
    parts = [(int(m[2]), int(m[3]), int(m[1])) for m in CUT_PACKET.finditer(walked)]
    if not parts:
        return data
    copy = data.with_suffix(".whole")
    shutil.rmtree(copy, ignore_errors=True)
    if data.is_dir():
        shutil.copytree(data, copy)
    else:
        shutil.copy(data, copy)
    perfdata.pad(copy, parts)
    return copy


def decodable(data, directory, summary):
    """The recording, or a copy as of without_cut_packets() where its summary has a full area."""
    if not summary.truncated:
        return data
    checkers.build_checkers()
    return without_cut_packets(data, checkers.walk(directory, data.name, "--cut-packets")[1])


def decoder_errors(data, directory):
    """The texts of the errors that perf's decoder finds."""
    return errors_in(script(data, directory, "e"))


def decode(number, directory):
    """Decode recording NUMBER on the host, whose files are those of the guest."""
    data = directory / f"{number}.data"
    if not data.exists():
        log = directory / f"{number}.log"
        raise Failure(f"no recording: {log.read_text() if log.exists() else 'no log'}")
    summary = perfdata.summarize(data)
    data = decodable(data, directory, summary)
    text = script(data, directory, "be", "-Fip,addr")
    return Decoded(text.count("=>"), errors_in(text), summary.lost(), summary.trace_bytes, summary.gaps,
                   summary.resumed, summary.resumed_blind,
                   [position for _, position in summary.cuts])


def check(tap, number, rec, directory):
    """One result line for a recording."""
    try:
        found = decode(number, directory)
    except Failure as failure:
        tap.result(False, rec.name, str(failure))
        return None
    right = rec.errors + ((LOST_DATA,) if found.stops and rec.stops_in else ())
    wrong = [e for e in found.errors if not any(text in e for text in right)]
    problems = []
    if found.blind or (rec.loses and not found.resumed):
        problems.append(f"{found.blind} of {found.resumed} times it went on without PSB")
    if found.overrun and not rec.snapshots:
        problems.append(f"what was not read was written over {found.overrun} times")
    if wrong:
        problems.append(f"{len(wrong)} decoder errors, the first: {wrong[0]}")
    if found.branches < rec.branches:
        problems.append(f"{found.branches} branches decoded, at least {rec.branches} wanted")
    if rec.stops_in:
        # After a stop the trace goes on behind it, so there is one at each place.
        if found.lost != len(found.stops) or any(at >= rec.stops_in or at % PAGE
                                                 for at in found.stops):
            problems.append(f"{found.lost} losses, but stops at {found.stops} in an area of "
                            f"{rec.stops_in} bytes")
    elif rec.loses != bool(found.lost):
        problems.append(f"{found.lost} records of lost data, "
                        f"{'some' if rec.loses else 'none'} wanted")
    log = directory / f"{number}.log"
    detail = "\n".join(problems + [log.read_text() if problems else ""])
    tap.result(not problems, f"{rec.name} ({found.branches} branches, "
               f"{found.trace_bytes} bytes of trace)", detail)
    return found
