# SPDX-License-Identifier: GPL-2.0-only
"""'lab test': finds the test files, runs each, adds up what they report.

A test file is an executable tools/lab/tests/*/*.test that prints TAP or KTAP.
It fails if a result is 'not ok', if its plan does not hold, if its exit status
is not 0, or if it takes longer than its limit, which a line
'# timeout: SECONDS' in its header may set.
"""

import datetime
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import paths
import sources
import tap
import ui
from errors import LabError

DEFAULT_LIMIT = 300
LIMIT = re.compile(r"^(?:#|//|\s\*)\s*timeout:\s*(\d+)\s*$", re.MULTILINE)
HEADER_BYTES = 2000
NAME_WIDTH = 34
SHOWN_FAILURES = 12


@dataclass
class Result:
    """What one test file came to."""

    name: str
    seconds: float
    report: tap.Report
    output: Path

    @property
    def passed(self):
        return self.report.passed

    @property
    def failed(self):
        # A broken plan or status counts even if each result was 'ok'.
        return self.report.failed or (1 if self.report.problems else 0)


def name_of(file):
    return f"{file.parent.name}/{file.stem}"


def discover(directory=paths.TESTS_DIR):
    files = sorted(directory.glob("*/*.test"))
    for file in files:
        if not os.access(file, os.X_OK):
            raise LabError(f"{file} is not executable", f"run 'chmod +x {file}'")
    return files


def select(files, patterns):
    """A pattern is a glob or a part of a name such as 'lab/canary'."""
    if not patterns:
        return files
    chosen = [f for f in files
              if any(p in name_of(f) or fnmatch(name_of(f), p) for p in patterns)]
    if not chosen:
        raise LabError(f"no test matches {' '.join(patterns)}", "'lab list' names them all")
    return chosen


def limit_of(file):
    head = file.read_bytes()[:HEADER_BYTES].decode(errors="replace")
    match = LIMIT.search(head)
    return int(match[1]) if match else DEFAULT_LIMIT


def summary_of(file):
    """The first sentence of a test's header comment."""
    for line in file.read_text(errors="replace").splitlines()[1:12]:
        text = line.strip("#/* \"'\t")
        if text and "SPDX" not in text and not text.startswith("timeout:"):
            return text
    return ""


def environment(kernel=paths.SERIES, debug=False):
    """What a test finds in its environment; Documentation/lab/tests.rst lists it."""
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    env.update(LAB=str(paths.LAB_DIR / "lab"), LAB_SRC=str(paths.ROOT),
               LAB_BUILD=str(paths.build_dir()), LAB_QEMU=str(paths.qemu()),
               LAB_PERF=str(paths.perf()), LAB_FIRMWARE=str(paths.firmware()),
               LAB_KERNEL=kernel, LAB_VMLINUX=str(paths.image(kernel, debug)),
               LIBIPT=str(sources.libipt()))
    if debug:
        env["LAB_DEBUG"] = "1"
    return env


def run_one(file, env, results):
    """Run a test file, output to a file; the whole group dies at the limit."""
    output = results / (name_of(file).replace("/", ".") + ".tap")
    limit, start = limit_of(file), time.monotonic()
    env = dict(env, LAB_TEST_OUT=str(output.with_suffix(".out")))
    output.with_suffix(".out").mkdir()
    late = False
    with open(output, "wb") as out, open(output.with_suffix(".err"), "wb") as err:
        process = subprocess.Popen([str(file)], stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, env=env, cwd=paths.ROOT,
                                   start_new_session=True)
        try:
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            stop_group(process)
    report = tap.parse(output.read_text(errors="replace"))
    if late:
        report.problems.append(f"timeout after {limit} s")
    elif process.returncode and not report.failed:
        report.problems.append(f"exit status {process.returncode}")
    elif report.failed and not process.returncode:
        report.problems.append("exit status 0 in spite of failures")
    return Result(name_of(file), time.monotonic() - start, report, output)


def stop_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def show(result):
    report = result.report
    word = "FAIL" if result.failed else "ok"
    counts = f"{result.passed} passed"
    if result.failed:
        counts += f", {result.failed} failed"
    if report.skipped:
        counts += f", {len(report.skipped)} skipped"
    print(f"{word:4} {result.name:<{NAME_WIDTH}} {result.seconds:7.1f} s  {counts}", flush=True)
    failed = [t.name for t in report.tests if not t.passed] + report.problems
    for text in failed[:SHOWN_FAILURES]:
        print(f"       not ok: {text}")
    if len(failed) > SHOWN_FAILURES:
        print(f"       and {len(failed) - SHOWN_FAILURES} more")
    for test in report.skipped:
        print(f"       skipped: {test.name}: {test.skip}")
    if failed:
        print(f"       output: {paths.shown(result.output)}, its errors beside it in .err",
              flush=True)


def results_dir():
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    directory = paths.in_build("results", stamp)
    directory.mkdir(parents=True, exist_ok=True)
    latest = directory.parent / "latest"
    latest.unlink(missing_ok=True)
    latest.symlink_to(stamp)
    return directory


def run_all(options):
    """Run what matches; the last line is 'N passed, N failed'."""
    files = select(discover(), options.pattern)
    results, env = results_dir(), environment(options.kernel, options.debug)
    done = []
    for file in files:
        live = ui.Step(name_of(file))
        live.progress("running")
        done.append(run_one(file, env, results))
        live.clear()
        show(done[-1])
    passed, failed = sum(r.passed for r in done), sum(r.failed for r in done)
    skipped = sum(len(r.report.skipped) for r in done)
    print(f"results in {paths.shown(results)}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0
