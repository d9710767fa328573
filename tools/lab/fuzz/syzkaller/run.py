#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Runs programs that syzkaller makes of its description of AUX areas in guests of the lab.

CHECKOUT is a syzkaller that has the patch from patches/, with syz-mutate and syz-prog2c in its
bin/. While a guest runs a batch of programs, the next batch is made. What the kernel complains
about is in WORK/found, with the program that ran then; the status is 1.
"""
import argparse
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

LAB = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(LAB / "lib"))

from lab.running import splats

# What makes, maps, moves and ends events and areas, and what a task does meanwhile
CALLS = """perf_event_open$aux_* syz_read_number$perf_* mmap$perf_* munmap$perf_* mremap$perf_*
    mprotect$perf_* syz_create_resource$perf_* syz_memcpy_off$perf_* ioctl$PERF_EVENT_IOC_* getrandom
    close dup munmap mremap sched_setaffinity syz_clone prctl$PR_TASK_PERF_EVENTS_* mlockall creat
    getpid sched_yield""".split()
# Ways to run a program: twice at a time and again and again, with threads that do not wait for
# each other, and once with all results.
WAYS = ("-procs 2 -repeat 10", "-threaded -repeat 10", "-threaded -procs 2 -repeat 5", "-repeat 1")
# The console says which program runs. Its processes are in a PID namespace, so none outlives it.
GUEST = """cd {place}
for program in ./*.bin; do
    echo "<3>syzkaller program $(basename $program .bin)" >/dev/kmsg
    (cd /tmp && timeout -k 1 {limit} {place}/$program >{place}/$program.said 2>&1)
    echo $? >>done
done
"""
PROGRAM_SECONDS = 8


def said(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


class Maker:
    """Makes programs of the seeds, of programs made before, and of nothing."""

    def __init__(self, checkout: Path, seeds: str, seed: int) -> None:
        self.bin = checkout / "bin"
        self.random = random.Random(seed)
        self.texts = [file.read_text() for file in sorted((checkout / "sys/linux/test").glob(seeds))]
        self.seeds = len(self.texts)
        if not self.seeds:
            sys.exit(f"no {seeds} in {checkout}: apply what is in patches/ beside {__file__}")

    def tool(self, name: str, *words: str) -> str:
        done = subprocess.run([self.bin / name, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def text(self, place: Path) -> str:
        """A program, mostly one that is changed; half of these are of a seed."""
        words = ["-seed", str(self.random.randrange(1 << 31)), "-len", "30", "-strict=false",
                 "-enable", ",".join(CALLS)]
        if self.random.random() < 0.1:
            return self.tool("syz-mutate", *words)
        few, base = self.texts[:self.seeds if self.random.random() < 0.5 else None], place / "base"
        base.write_text(self.random.choice(few))
        return self.tool("syz-mutate", *words, str(base))

    def make(self, place: Path, name: str) -> None:
        text = self.text(place)
        self.texts.append(text)
        (place / name).write_text(text)
        source, way = place / f"{name}.c", self.random.choice(WAYS)
        source.write_text(self.tool("syz-prog2c", "-prog", str(place / name), "-segv", "-tmpdir",
                                    "-sandbox", "none", "-trace", *way.split()))
        subprocess.run(["gcc", "-static", "-pthread", "-w", "-o", place / f"{name}.bin", source],
                       check=True)

    def batch(self, place: Path, number: int, count: int) -> Path:
        """A directory of new programs."""
        directory = place / f"batch-{number}"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        for program in range(count):
            self.make(directory, f"{number:03}-{program:03}")
        return directory


def start(batch: Path, args: argparse.Namespace) -> subprocess.Popen[bytes]:
    """Let a guest run the programs of a batch, in this order."""
    (batch / "guest.sh").write_text(GUEST.format(place=batch, limit=PROGRAM_SECONDS))
    command = [LAB / "lab", "run", "--kernel", args.kernel, "--cpus", "2", "--share", batch,
               "--console", batch / "console", "--timeout", str(60 + args.programs * (PROGRAM_SECONDS + 4)),
               *["--debug"] * args.debug, "sh", batch / "guest.sh"]
    with open(batch / "lab", "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def complaints(batch: Path, status: int) -> list[str]:
    """What the kernel has said, each line after the program that ran then; or that the guest ended."""
    program, found = "none", []
    for line in said(batch / "console").splitlines():
        if "syzkaller program " in line:
            program = line.split()[-1]
        found += [f"{program}: {splat}" for splat in splats.find(line)]
    return found if found or not status else [f"{program}: the guest ended with status {status}"]


def calls(batch: Path) -> tuple[int, int]:
    """How many calls there were, and how many of them succeeded."""
    lines = [line for path in batch.glob("*.said")
             for line in said(path).splitlines() if " errno=" in line]
    return len(lines), sum(line.endswith("errno=0") for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, metavar="CHECKOUT")
    parser.add_argument("--kernel", default="series")
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("--time", type=float, default=7200, help="in seconds; a batch more at most")
    parser.add_argument("--programs", type=int, default=50, help="programs of a batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", default="*perf_aux_*", help="names of the programs to start from")
    parser.add_argument("--work", type=Path, default=Path("syzkaller-work"))
    args = parser.parse_args()
    maker, work = Maker(args.checkout.resolve(), args.seeds, args.seed), args.work.resolve()
    number, found, ran, all_calls, good_calls = 0, False, 0, 0, 0
    batch, began = maker.batch(work, number, args.programs), time.monotonic()
    while time.monotonic() - began < args.time:
        guest = start(batch, args)
        following = maker.batch(work, number + 1, args.programs)
        complained, (asked, good) = complaints(batch, guest.wait()), calls(batch)
        ran += len(said(batch / "done").split())
        all_calls, good_calls = all_calls + asked, good_calls + good
        print(f"{time.monotonic() - began:.0f} s, {ran} programs, {all_calls} calls, {good_calls} of "
              f"them without an error", *complained, sep="\n  ", flush=True)
        if complained:
            found = True
            shutil.copytree(batch, work / "found" / batch.name, dirs_exist_ok=True)
        shutil.rmtree(batch)
        batch, number = following, number + 1
    return int(found)


sys.exit(main())
