# SPDX-License-Identifier: GPL-2.0-only
"""'lab test': finds the test files, runs them, adds up what they report.

A test file is an executable tools/lab/tests/*/*.test that prints TAP or KTAP, or a
tools/emulator/tests/*.test, which has the name emulator/* and needs no kernel, or a
tools/emulator/tests/guest/*.test, which boots a guest with one and has the name guest/*.
It fails if a result is 'not ok', if its plan does not hold, if its exit status
is not 0, or if it takes longer than its limit, which a line
'# timeout: SECONDS' in its header may set; '# timeout-all: SECONDS' is the one
of the tier 'all', see tier.py. A run of that tier which was stopped goes on
where it was, unless something that is tested has changed.

Several tests run at a time, those with the longest limits first: no long one
is then left over for one CPU. A test whose header has '# alone: WHY' runs with
no other, after them, and one with '# alone-all: WHY' does in the tier 'all'. One
that has '# only on: BASE, BASE: WHY' is skipped on other bases ('default' is the
default base, where a subject is the same on each), and those with '# smoke: WHY'
are the tier 'smoke'. Those with '# host: WHY' are the tier 'host': they need neither
a kernel nor perf nor QEMU, at most their sources.
"""

import argparse
import datetime
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from lab.base import cache, paths, proc, sources, stamp, tier, together, ui
from lab.testing import junit, tap
from lab.base.children import Children
from lab.base.errors import LabError

DEFAULT_LIMIT = 300
# A limit is for what hangs. The machine may have other work, other tests at least, so it is this
# much longer.
PATIENCE = 5
# What a test may need at most: a guest of 6 GiB. Most of them need half.
MEMORY_OF_TEST = 6 << 30
ALONE = re.compile(r"^# alone(-all)?: \S", re.MULTILINE)
SMOKE = re.compile(r"^# smoke: \S", re.MULTILINE)
HOST = re.compile(r"^# host: \S", re.MULTILINE)
# It runs the cases that its arguments name.
HAS_CASES = re.compile(r"^from harness import .*\bmain\b|\btier\.asked\(", re.MULTILINE)
ONLY_ON = re.compile(r"^# only on: ([^:]+): (\S.*)$", re.MULTILINE)
DEFAULT = "default"
# A file of a run's results: how many passed, failed and were skipped
SUMMARY = "summary"
LIMIT = re.compile(r"^(?:#|//|\s\*)\s*(timeout(?:-all)?):\s*(\d+)\s*$", re.MULTILINE)
HEADER_BYTES = 2000
NAME_WIDTH = 34
SHOWN_NAMES = 12
SHOWN_SLOWEST = 10


@dataclass
class Result:
    """What one test file came to."""

    name: str
    seconds: float
    report: tap.Report
    output: Path
    # it ended in an earlier part of this run
    earlier: bool = False

    @property
    def passed(self) -> int:
        return self.report.passed

    @property
    def failed(self) -> int:
        # A broken plan or status counts even if each result was 'ok'.
        return self.report.failed or (1 if self.report.problems else 0)


def name_of(file: Path) -> str:
    home = file.parent.parent if file.parent.name == "tests" else file.parent
    return f"{home.name}/{file.stem}"


def discover(directory: Path = paths.TESTS_DIR, emulator: Path = paths.EMULATOR_DIR) -> list[Path]:
    files = sorted([*directory.glob("*/*.test"), *emulator.glob("tests/*.test"),
                    *emulator.glob("tests/guest/*.test")], key=name_of)
    for file in files:
        if not os.access(file, os.X_OK):
            raise LabError(f"{file} is not executable", f"run 'chmod +x {file}'")
    return files


def select(files: list[Path], patterns: Sequence[str]) -> list[Path]:
    """A pattern is a glob or a part of a name such as 'lab/canary'."""
    if not patterns:
        return files
    chosen = [f for f in files
              if any(p in name_of(f) or fnmatch(name_of(f), p) for p in patterns)]
    if not chosen:
        raise LabError(f"no test matches {' '.join(patterns)}", "'lab list' names them all")
    return chosen


def header_of(file: Path) -> str:
    return file.read_bytes()[:HEADER_BYTES].decode(errors="replace")


def is_alone(file: Path, which: str | None = tier.CHECK) -> bool:
    """Whether no other test may run meanwhile."""
    match = ALONE.search(header_of(file))
    return match is not None and (not match[1] or which == tier.ALL)


def is_smoke(file: Path) -> bool:
    return bool(SMOKE.search(header_of(file)))


def is_host(file: Path) -> bool:
    return bool(HOST.search(header_of(file)))


def is_of_emulator(file: Path) -> bool:
    """Whether it is about QEMU alone, and needs no kernel."""
    return file.parent == paths.EMULATOR_DIR / "tests"


def wanted(options: argparse.Namespace) -> list[Path]:
    """The test files that an invocation is about."""
    belongs = {tier.SMOKE: is_smoke, tier.HOST: is_host}.get(options.tier, lambda file: True)
    files = [file for file in select(discover(), options.pattern) if belongs(file)]
    if options.failed:
        files = [file for file in files if failure_of(file).exists()]
    if options.failed and not files:
        raise LabError("none of these tests failed when it last ran", "leave --failed away")
    if options.cases:
        files = [file for file in files if has_cases(file)]
    if options.cases and not files:
        raise LabError("these tests have no cases that -k could choose", "leave it away")
    return files


def failure_of(file: Path) -> Path:
    """A file that is there if the test failed when it last ran."""
    return paths.in_build("results", "failed", name_of(file).replace("/", "."))


def remember(file: Path, result: Result, cases: Sequence[str]) -> None:
    """Keep in mind whether a test fails. One that is skipped, or of which some cases pass, may still."""
    if result.failed:
        failure_of(file).parent.mkdir(exist_ok=True)
        failure_of(file).touch()
    elif result.passed and not cases:
        failure_of(file).unlink(missing_ok=True)


def has_cases(file: Path) -> bool:
    return bool(HAS_CASES.search(file.read_text(errors="replace")))


def foreign(file: Path) -> str:
    """Why a test is for other bases than this one; empty if it is for this one."""
    match = ONLY_ON.search(header_of(file))
    named = match[1].replace(",", " ").split() if match else []
    if not match or paths.base_name() in named or \
            DEFAULT in named and paths.base_name() == paths.DEFAULT_BASE:
        return ""
    return f"only on {match[1]}: {match[2]}"


def limit_of(file: Path, which: str | None = tier.CHECK) -> int:
    limits = {name: int(seconds) for name, seconds in LIMIT.findall(header_of(file))}
    usual = limits.get("timeout", DEFAULT_LIMIT)
    return PATIENCE * (limits.get("timeout-all", usual) if which == tier.ALL else usual)


def summary_of(file: Path) -> str:
    """The first sentence of a test's header comment."""
    for line in file.read_text(errors="replace").splitlines()[1:12]:
        text = line.strip("#/* \t").strip('"').strip()
        if text and "SPDX" not in text and \
                not text.startswith(("timeout:", "timeout-all:", "alone:", "alone-all:", "smoke:",
                                 "host:", "only on:")):
            return text
    return ""


def environment(kernel: str = paths.SERIES, which: str = tier.CHECK) -> dict[str, str]:
    """What a test finds in its environment; Documentation/lab/tests.rst lists it."""
    env = cache.clear_environment(os.environ)
    env.update(cache.environment(os.environ.get("PATH", proc.SYSTEM_PATH)))
    env.update(PYTHONDONTWRITEBYTECODE="1", LAB_TIER=which, LAB_PATIENCE=str(PATIENCE),
               LAB_DRAW=os.environ.get("LAB_DRAW") or draw(), LAB_WAIT="1")
    env.update(LAB=str(paths.LAB_DIR / "lab"), LAB_SRC=str(paths.ROOT),
               LAB_BUILD=str(paths.build_dir()), LAB_QEMU=str(paths.qemu()),
               LAB_PERF=str(paths.perf()), LAB_FIRMWARE=str(paths.firmware()),
               LAB_KERNEL=kernel, LAB_VMLINUX=str(paths.image(kernel)),
               LIBIPT=str(sources.libipt()))
    # It is about a run of all bases, and no test.
    env.pop("LAB_LATEST", None)
    return env


def run_one(file: Path, env: dict[str, str], results: Path, children: Children,
            cases: Sequence[str] = ()) -> Result:
    """Run a test file, output to a file; the whole group dies at the limit."""
    output = output_of(file, results)
    limit, start = limit_of(file, env.get("LAB_TIER")), time.monotonic()
    env = dict(env, LAB_TEST_OUT=str(output.with_suffix(".out")))
    shutil.rmtree(output.with_suffix(".out"), ignore_errors=True)
    output.with_suffix(".out").mkdir()
    late = False
    with open(output, "wb") as out, open(output.with_suffix(".err"), "wb") as err:
        process = children.start([str(file), *cases], stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err, env=env, cwd=paths.ROOT)
        try:
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            children.stop(process)
    report = tap.parse(output.read_text(errors="replace"))
    if late:
        report.problems.append(f"timeout after {limit} s")
    elif process.returncode and not report.failed:
        report.problems.append(f"exit status {process.returncode}")
    elif report.failed and not process.returncode:
        report.problems.append("exit status 0 in spite of failures")
    result = Result(name_of(file), time.monotonic() - start, report, output)
    # What was skipped as a whole may be there the next time.
    if result.passed and not result.failed:
        output.with_suffix(".passed").write_text(f"{result.seconds:.1f}\n")
    return result


def skip_one(file: Path, results: Path, why: str) -> Result:
    """The result of a test that is not run."""
    output = output_of(file, results)
    output.write_text(f"1..0 # SKIP {why}\n")
    return Result(name_of(file), 0, tap.parse(output.read_text()), output)


def output_of(file: Path, results: Path) -> Path:
    return results / (name_of(file).replace("/", ".") + ".tap")


def earlier(file: Path, results: Path) -> Result | None:
    """The result of a test that has passed in an earlier part of this run, or None."""
    output = output_of(file, results)
    try:
        seconds = float(output.with_suffix(".passed").read_text())
        report = tap.parse(output.read_text(errors="replace"))
    except (OSError, ValueError):
        return None
    return Result(name_of(file), seconds, report, output, earlier=True)


def show_names(word: str, names: Sequence[str]) -> None:
    for name in names[:SHOWN_NAMES]:
        print(f"       {word}: {name}")
    if len(names) > SHOWN_NAMES:
        print(f"       and {len(names) - SHOWN_NAMES} more")


def show(result: Result, each: bool = False) -> None:
    """A line of a test file, what of it did not pass and, if asked for, what did."""
    report = result.report
    word = "FAIL" if result.failed else "ok"
    counts = f"{result.passed} passed"
    if result.failed:
        counts += f", {result.failed} failed"
    if report.skipped:
        counts += f", {len(report.skipped)} skipped"
    counts += " (earlier)" if result.earlier else ""
    print(f"{word:4} {result.name:<{NAME_WIDTH}} {result.seconds:7.1f} s  {counts}", flush=True)
    if each:
        show_names("ok", [t.name for t in report.tests if t.passed and not t.skip])
    failed = [t.name for t in report.tests if not t.passed] + report.problems
    show_names("not ok", failed)
    for test in report.skipped:
        print(f"       skipped: {test.name}: {test.skip}")
    if failed:
        print(f"       output: {paths.shown(result.output)}, its errors beside it in .err",
              flush=True)


def results_dir(name: str) -> Path:
    """The directory of a run, which is the latest one now."""
    directory = paths.in_build("results", name)
    directory.mkdir(parents=True, exist_ok=True)
    latest = directory.parent / "latest"
    # Two runs may begin at once.
    other = directory.parent / f"latest.{os.getpid()}"
    other.symlink_to(name)
    os.replace(other, latest)
    return directory


def own_git(*args: str) -> str:
    """Output of git in the checkout; empty where there is none, as in an unpacked archive."""
    try:
        done = subprocess.run(["git", "-c", "safe.directory=*", "-C", paths.ROOT, *args], text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def draw() -> str:
    """What is drawn again with each commit, see tier.some()."""
    return own_git("rev-parse", "--short=12", "HEAD").strip()


def checkout_files() -> list[str]:
    """Paths of the repository's files as they are, committed or not; of all, without git."""
    listed = own_git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    if not any(listed):
        listed = [str(file.relative_to(paths.ROOT)) for file in paths.ROOT.rglob("*")
                  if not file.is_relative_to(paths.build_dir())]
    return [name for name in sorted(listed) if name and (paths.ROOT / name).is_file()]


def tested(kernel: str, env: dict[str, str]) -> str:
    """A hash of all that the tests are about: our files, what is built, what is asked for."""
    built = [paths.image(kernel), paths.vmlinux(kernel, True), Path(env["LAB_QEMU"]),
             paths.perf(), paths.perf("stock")]
    files = [paths.ROOT / name for name in checkout_files()] + [f for f in built if f.is_file()]
    wishes = [f"{name}={value}" for name, value in sorted(env.items())
              if name.startswith(("LAB_", "AUX_")) and name != "LAB_DRAW"]
    return stamp.of_text(kernel, stamp.read("version-linux"), *wishes,
                         *(f"{file} {stamp.of_files([file])}" for file in files))


def resumed_dir(kernel: str, env: dict[str, str]) -> Path:
    """The directory of a run of the tier 'all', by its subject; one of an earlier run goes on."""
    return results_dir(f"{tier.ALL}-{tested(kernel, env)[:12]}")


class Run:
    """Tests that are run. The lock is for 'running', 'done' and what is printed of them."""

    def __init__(self, total: int, results: Path, env: dict[str, str],
                 cases: Sequence[str]) -> None:
        self.total, self.results, self.env, self.cases = total, results, env, cases
        self.children = Children()
        self.lock = threading.Lock()
        self.running: list[str] = []
        self.done: list[Result] = []
        self.live = ui.Step("Running tests")

    def one(self, file: Path) -> None:
        """Run a test; in the tier 'all', if it did not pass earlier in this run."""
        name = name_of(file)
        with self.lock:
            self.running.append(name)
            self.progress()
        again = self.cases or self.env.get("LAB_TIER") != tier.ALL
        known = None if again else earlier(file, self.results)
        if why := foreign(file):
            known = skip_one(file, self.results, why)
        result = known or run_one(file, self.env, self.results, self.children, self.cases)
        with self.lock:
            self.running.remove(name)
            # What was killed has come to nothing.
            if self.children.ended:
                return
            self.done.append(result)
            remember(file, result, self.cases)
            with self.live.hidden():
                show(result, bool(self.cases))
            self.progress()

    def progress(self) -> None:
        self.live.count(len(self.done), self.total, ", ".join(self.running))

    def several(self, files: Iterable[Path], jobs: int) -> None:
        """Run tests, as many at a time as is said; all of them end with us."""
        together.run([partial(self.one, file) for file in files], jobs, self.children.end)


def run_files(files: Iterable[Path], results: Path, env: dict[str, str], jobs: int,
              cases: Sequence[str]) -> list[Result]:
    """The results of the tests, in the order in which they ended."""
    which = env.get("LAB_TIER")
    files = sorted(files, key=lambda file: -limit_of(file, which))
    run = Run(len(files), results, env, cases)
    try:
        run.several([file for file in files if not is_alone(file, which)], jobs)
        run.several([file for file in files if is_alone(file, which)], 1)
    finally:
        run.live.clear()
    return run.done


def usual_jobs() -> int:
    """How many tests at a time: a CPU and some memory for each."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(int(proc.jobs()), memory // MEMORY_OF_TEST))


def show_times(done: Iterable[Result], seconds_of_tests: float, jobs: int) -> None:
    """Where the time of this process went."""
    builds = [(step.label, step.seconds) for step in ui.TIMES if step.seconds >= 0.05]
    ran = [(result.name, result.seconds) for result in done if not result.earlier]
    print(f"time: builds {minutes(sum(seconds for _, seconds in builds))}, "
          f"tests {minutes(seconds_of_tests)}, {jobs} at a time; the slowest:")
    slowest = sorted(builds + ran, key=lambda row: row[1], reverse=True)[:SHOWN_SLOWEST]
    for label, seconds in slowest:
        print(f"     {label:<{NAME_WIDTH}} {seconds:7.1f} s")


def minutes(seconds: float) -> str:
    total = round(seconds)
    return f"{total // 60} min {total % 60:02} s"


# How many passed, failed and were skipped in the last run of this process
TOTAL: list[int] = []


def run_all(options: argparse.Namespace) -> int:
    """Run what matches; the last line is 'N passed, N failed'."""
    files, which = wanted(options), options.tier
    env = environment(options.kernel, which)
    # A file of which some cases have passed has not.
    if which == tier.ALL and not options.cases:
        results = resumed_dir(options.kernel, env)
    else:
        results = results_dir(datetime.datetime.now().strftime("%Y%m%d-%H%M%S"))
    jobs, start = options.jobs or usual_jobs(), time.monotonic()
    done = run_files(files, results, env, jobs, options.cases)
    passed, failed = sum(r.passed for r in done), sum(r.failed for r in done)
    skipped = sum(len(r.report.skipped) for r in done)
    print(f"results in {paths.shown(results)}")
    show_times(done, time.monotonic() - start, jobs)
    (results / SUMMARY).write_text(f"{passed} {failed} {skipped}\n")
    TOTAL[:] = passed, failed, skipped
    if options.junit:
        junit.write(options.junit, done)
    show_total(passed, failed, skipped)
    if options.cases and not passed + failed:
        raise LabError(f"no case with {' or '.join(options.cases)} in its name has run",
                       "the names are in build/results/ after 'lab test PATTERN'")
    return 1 if failed else 0


def show_total(passed: int, failed: int, skipped: int) -> None:
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""),
          flush=True)


def latest_total(build: Path) -> list[int] | None:
    """How many passed, failed and were skipped in the latest run of a build directory, or None."""
    try:
        return [int(word) for word in (build / "results/latest" / SUMMARY).read_text().split()]
    except FileNotFoundError:
        return None
