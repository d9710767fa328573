# SPDX-License-Identifier: GPL-2.0-only
"""The fuzzer of AUX areas in guests: rounds of it, and what becomes of a finding.

aux_fuzz (tools/lab/fuzz) runs in a guest, in a directory that outlives it. If
the guest is harmed, further guests find fewer steps that do the same harm, one guest for each step
forward.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.base import cache, paths, tier, ui
from lab.running import splats
from lab.testing import kselftests, tests
from lab.base.errors import LabError, for_base

# A guest is new after so many seconds, and then the corpus goes to the cache.
ROUND = 600
# What boot and the last search for lost memory take, and a process that does not end
OVERHEAD = 400
# Guests that may make a finding smaller, and how often each tries what may depend on timing
ATTEMPTS, TIMES = 60, 5
MEMORY = "1G"
# An oops ends the guest at once: a CPU that goes on with interrupts off does nothing more. And a
# grace period is over as soon as it can be: most of the time the fuzzer would wait for those.
PARAMETERS = "oops=panic rcupdate.rcu_expedited=1 srcutree.exp_holdoff=0"
# Status of 'aux_fuzz' where it cannot write its files or has no memory
BROKEN = 2
# Statuses of 'aux_fuzz shrink', and of 'lab run' if its time is over
SMALLEST, BAD_FILES, GO_ON, NOT_AGAIN, LATE = 0, 2, 3, 4, 124
SUMMARY = re.compile(r"(\d+) operations, (\d+) programs, (\d+) edges, (\d+) programs kept")
# What succeeds soon, also on a busy machine; of other operations only one attempt in hundreds can.
OFTEN = {"open", "open-inherited", "open-sampled", "open-paused", "map-data", "map-area",
         "map-area-overwrite", "touch", "consume", "enable", "disable", "poll", "work", "open-any",
         "ioctl-any", "scribble", "duplicate", "toggle", "open-tracepoint", "set-program",
         "hook-tracepoint", "made-to-fail"}
# What 'lab run' says of harm that no kernel did: QEMU itself has failed or was killed, the host's disk
# is full, or a busy host did not let the guest come to its begin or its end
OUTSIDE = re.compile(r"^lab: (QEMU .*|no space left .*|no boot within [^,\n]*|no power-off within .*)$",
                     re.MULTILINE)
CONSOLE = "console"


@dataclass
class Result:
    """What rounds have done; a finding is what is wrong, and where its files are."""

    operations: int = 0
    programs: int = 0
    edges: int = 0
    finding: str = ""
    place: Path | None = None
    notes: list[str] = field(default_factory=list)

    def add(self, other: "Result") -> None:
        self.operations += other.operations
        self.programs += other.programs
        self.edges = max(self.edges, other.edges)
        if other.finding and not self.finding:
            self.finding, self.place, self.notes = other.finding, other.place, other.notes


@dataclass(frozen=True)
class Target:
    """The kernel that is fuzzed, as 'lab run' names it."""

    kernel: str = paths.SERIES
    debug: bool = True
    lab: str = str(paths.LAB_DIR / "lab")

    @property
    def name(self) -> str:
        kernel = Path(self.kernel).name if paths.is_image(self.kernel) else self.kernel
        return kernel if paths.is_image(self.kernel) else paths.kernel_name(kernel, self.debug)

    def run(self, place: Path, words: str, seconds: float) -> subprocess.CompletedProcess[str]:
        """Run aux_fuzz in a guest, in its directory; the process that has ended."""
        command = [self.lab, "run", "--kernel", self.kernel, *(["--debug"] if self.debug else []),
                   "--share", place, "--cpus", "2", "--memory", MEMORY, "--timeout",
                   str(int(seconds + OVERHEAD)), "--console", place / CONSOLE,
                   "--append", PARAMETERS, "--",
                   "sh", "-c", f"cd {place} && ./aux_fuzz {words} 2>&1"]
        # A run of hours meets a busy host as tests do.
        patience = max(tests.PATIENCE, tier.patience())
        return subprocess.run([str(word) for word in command], text=True,
                              env={**os.environ, "LAB_PATIENCE": str(patience)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace", check=False)


def build(place: Path, *words: str, env: dict[str, str] | None = None) -> None:
    """The program, in the directory where it is to run."""
    kselftests.source()
    place.mkdir(parents=True, exist_ok=True)
    # The directory, with what was found, outlives clones, and so may a program of an older source.
    kselftests.build(place, "for the fuzzer", "-B", *words, makefile=paths.FUZZ_DIR, env=env)


def kept(target: Target) -> Path:
    """Where the corpus of a kernel outlives clones: in the cache, or in the build directory."""
    where = cache.part(cache.FUZZED) if cache.state().writable else None
    where = where or paths.in_build("fuzz-corpus")
    return where / paths.base_name() / target.kernel.replace("/", "_")


def _copy_new(source: Path, directory: Path) -> None:
    """What is in one corpus and not in another."""
    directory.mkdir(parents=True, exist_ok=True)
    for file in source.glob("*") if source.is_dir() else ():
        if not file.suffix and not (directory / file.name).exists():
            shutil.copyfile(file, directory / file.name)


def _clear(place: Path) -> None:
    for name in ("finding", "best", "attempt", "next", "batch", CONSOLE):
        (place / name).unlink(missing_ok=True)


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def never(said: str) -> set[str]:
    """The operations that have not succeeded once, by what aux_fuzz says of each."""
    succeeded = {line.split()[0]: int(line.split()[1]) for line in said.splitlines()
                 if re.match(r"[a-z-]+ +\d+", line)}
    return {name for name in OFTEN | succeeded.keys() if not succeeded.get(name)}


def _summary(said: str) -> Result:
    match = SUMMARY.search(said)
    return Result(int(match[1]), int(match[2]), int(match[3])) if match else Result()


def _check_outside(place: Path, done: subprocess.CompletedProcess[str], file: str) -> None:
    """Raise an error if QEMU has ended by itself and its kernel had no complaint."""
    outside = OUTSIDE.search(done.stdout)
    if outside and not splats.find(_read(place / CONSOLE)):
        raise LabError(outside[1], f"see {place / file}")


def _check(place: Path, done: subprocess.CompletedProcess[str]) -> None:
    """Raise an error if a guest has ended of something that is no finding."""
    if (place / "finding").exists() or splats.find(_read(place / CONSOLE)):
        return
    _check_outside(place, done, "log")
    if done.returncode == BROKEN:
        said = [line for line in done.stdout.splitlines() if line.startswith("aux_fuzz: ")]
        raise LabError("the fuzzer cannot go on", (said or [f"see {place / 'log'}"])[-1])


def _finding_of_guest(place: Path, done: subprocess.CompletedProcess[str]) -> None:
    """What has ended a guest, whose last steps are in the file 'batch'."""
    found = splats.find(_read(place / CONSOLE))
    what = found[0] if found else f"the guest ends with status {done.returncode}"
    if (place / "batch").exists():
        shutil.copyfile(place / "batch", place / "best")
    (place / "finding").write_text(f"{what}\n")


def one_round(target: Target, place: Path, seconds: float, seed: int,
              operations: int = 0) -> Result:
    """A guest in which programs run, until something is found or the time is over."""
    _clear(place)
    done = target.run(place, f"run . {seconds:.0f} {seed} {operations}", seconds)
    (place / "log").write_text(done.stdout)
    result = _summary(done.stdout)
    _check(place, done)
    if done.returncode and not (place / "finding").exists():
        if not (place / "batch").exists():
            raise LabError("the fuzzer does not start", f"see {place / 'log'}")
        _finding_of_guest(place, done)
    elif not done.returncode and not result.operations:
        raise LabError("the fuzzer has done nothing", f"see {place / 'log'}")
    if (place / "finding").exists():
        result.finding, result.place = _read(place / "finding").strip(), place
        shutil.copyfile(place / CONSOLE, place / "found.console")
    return result


def shrink(target: Target, place: Path, step: ui.Step | None = None, seconds: float = float("inf"),
           attempts: int = ATTEMPTS) -> int:
    """
    Make the steps of a finding fewer; how many are left, or 0 if they do no harm again.

    After so many seconds no further guest is booted, and more are left than could be.
    """
    end = time.monotonic() + seconds
    for attempt in range(attempts):
        if attempt and time.monotonic() > end:
            break
        done = target.run(place, f"shrink . {TIMES} {ROUND / 2:.0f}", ROUND)
        _check_outside(place, done, "best")
        if step:
            step.progress(f"guest {attempt + 1}, {_count_steps(place)} steps")
        if done.returncode == SMALLEST:
            break
        if done.returncode == NOT_AGAIN:
            return 0
        if done.returncode == BAD_FILES:
            raise LabError("what was found cannot be made smaller", f"see {place}")
        if done.returncode != GO_ON:
            _end_of_guest(place, done)
    return _count_steps(place)


def _end_of_guest(place: Path, done: subprocess.CompletedProcess[str]) -> None:
    """Whether the steps that were tried have ended a guest, or only its time was over."""
    if done.returncode == LATE and not splats.find(_read(place / CONSOLE)):
        (place / "attempt").unlink(missing_ok=True)
    elif not (place / "next").exists():
        # The whole of it has ended the guest: that is what it is to do.
        (place / "next").write_text("0\n")


def _count_steps(place: Path) -> int:
    return sum(1 for line in _read(place / "best").splitlines() if line)


def _guests(target: Target, home: Path, seconds: float, seed: int, jobs: int,
            operations: int) -> list[Result]:
    """So many guests at a time, each with its part of the operations."""
    corpus = kept(target)
    places = [home / str(number) for number in range(jobs)]
    for place in places:
        build(place)
        _copy_new(corpus, place / "corpus")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        rounds = [pool.submit(one_round, target, place, seconds, seed + number,
                              -(-operations // jobs))
                  for number, place in enumerate(places)]
        failed = [error for each in rounds if (error := each.exception())]
        results = [each.result() for each in rounds if not each.exception()]
    for place in places:
        _copy_new(place / "corpus", corpus)
    cache.shrink(corpus, cache.LIMITS[cache.FUZZED])
    # What one guest has found is not lost because another one had to end.
    if failed and not any(result.finding for result in results):
        raise failed[0]
    return results


def run(target: Target, seconds: float, seed: int | None = None, jobs: int = 1,
        operations: int = 0) -> Result:
    """Rounds for some time, or until so many operations have run; goes on from the corpus."""
    home = paths.in_build("fuzz", target.name)
    seed = int(time.time()) if seed is None else seed
    total, end = Result(), time.monotonic() + seconds
    ui.say(f"fuzzing {target.name}, seed {seed}, {len(list(kept(target).glob('*')))} programs kept "
           "by earlier runs")
    while not total.finding and (left := end - time.monotonic()) > 0 and \
            (not operations or total.operations < operations):
        for result in _guests(target, home, min(left, ROUND), seed, jobs,
                              max(operations - total.operations, 0)):
            total.add(result)
        seed += jobs
        ui.say(f"  {total.operations} operations, {total.programs} programs, {total.edges} edges"
               + (f", {left / 60:.0f} min left" if left > ROUND else ""))
    return total


def report(target: Target, result: Result) -> None:
    """Shrink what was found, and say where everything is."""
    place = result.place
    assert place is not None
    ui.say(f"found: {result.finding}")
    with ui.step("Making it smaller") as step:
        left = shrink(target, place, step)
        step.note = f"{left} steps" if left else "it does not happen again"
    ui.say(f"its steps are in {place / 'best'}, the console in {place / 'found.console'}")
    races = "LAB_RACES=1 " if paths.finds_races(target.debug) else ""
    again = for_base(f"'lab run{' --debug' if target.debug else ''} --kernel {target.kernel} --share "
                     f"{place} -- {place / 'aux_fuzz'} replay {place / 'best'}")
    ui.say(f"again: {races}{again.strip(chr(39))}")
