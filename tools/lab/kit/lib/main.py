# SPDX-License-Identifier: GPL-2.0-only
"""kit: check the machine, run all parts, put all back, write the report."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import compare
import costs
import machine
import recordings
import report as reports
import selftests
from checks import Progress, chosen, run_all as run_checks
from common import KIT, Refusal, handle_signals, read, say
from settings import ALL_BACK, JOURNAL, Settings

PARTS = ("selftests", "recordings", "costs")
RUNS, QUICK_RUNS = 7, 3
WORK_PLACES, WORK_NAME = ("/var/tmp", "/tmp", "/run", "/dev/shm"), "perf-aux-kit."
REFUSED, STOPPED = 2, 130
NOT_BACK = "what is not put back is in %s: start it again" % JOURNAL
EPILOG = """examples:
  ./kit                          run all of it: some minutes, as root
  ./kit --check                  say only whether it can run here
  ./kit --only recordings,costs --quick
  ./kit compare stock/report.json ours/report.json
"""


def parser():
    made = argparse.ArgumentParser(prog="kit", epilog=EPILOG,
                                   formatter_class=argparse.RawDescriptionHelpFormatter,
                                   description="Tests Intel PT with this machine's kernel and "
                                   "perf, and writes a report of it.")
    made.add_argument("--out", default="", metavar="DIR",
                      help="where the report is written (default: a new report-RELEASE, here)")
    made.add_argument("--work", default="", metavar="DIR",
                      help="where recordings are made, and removed (default: below /var/tmp)")
    made.add_argument("--perf", default="", metavar="FILE",
                      help="the perf to use (default: perf-aux if the series runs, or perf)")
    made.add_argument("--only", default="", metavar="PART|NAME,...",
                      help="of %s, or single checks by their names" % ", ".join(PARTS))
    made.add_argument("--quick", action="store_true",
                      help="measure %d times, not %d, and no areas of gigabytes"
                      % (QUICK_RUNS, RUNS))
    made.add_argument("--check", action="store_true",
                      help="say whether it can run here, no more")
    return made


def choice(text):
    """{part: names, () for all} of --only."""
    known = {"recordings": [mode.__name__.replace("_", "-") for mode in recordings.MODES],
             "costs": [cost.name for cost in costs.COSTS], "selftests": selftests.programs(False)}
    if not text:
        return {part: () for part in PARTS}
    wanted = {}
    for word in text.split(","):
        if word in PARTS:
            wanted[word] = ()
            continue
        of = [part for part in PARTS if word in known[part]]
        if not of:
            raise Refusal("there is no part '%s': use %s, or of their checks %s" % (
                word, ", ".join(PARTS), " ".join(sum((known[part] for part in PARTS), []))))
        if wanted.get(of[0], (word,)):
            wanted[of[0]] = wanted.get(of[0], ()) + (word,)
    if wanted.get("costs"):
        wanted["costs"] += (costs.REGISTERS,)
    return wanted


def version():
    return read(KIT / "VERSION", "unknown")


def output_directory(text):
    """Where there is no report yet."""
    usual = "report-" + os.uname().release
    path = Path(text or usual).resolve()
    number = 2
    while (path / "report.json").exists():
        if text:
            raise Refusal("there is a report in %s: --out names another directory" % path)
        path = path.with_name("%s-%d" % (usual, number))
        number += 1
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / ".kit").write_text("")
        (path / ".kit").unlink()
    except OSError as error:
        raise Refusal("cannot write to %s (%s): --out names another directory"
                      % (path, error.strerror))
    return path


def on_overlay(path):
    """Whether a file system is an overlay, whose mappings perf's filters do not know."""
    best = ("", "")
    for line in read("/proc/self/mounts").splitlines():
        place, kind = line.split()[1:3]
        inside = str(path) == place or str(path).startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best[0]):
            best = (place, kind)
    return best[1] == "overlay"


def work_directory(text):
    if text and not os.access(text, os.W_OK | os.X_OK):
        raise Refusal("cannot write to %s: --work names a directory that is there" % text)
    usual = next((place for place in WORK_PLACES
                  if os.path.isdir(place) and not on_overlay(place)), "/tmp")
    return Path(tempfile.mkdtemp(prefix=WORK_NAME, dir=text or usual))


def remove_leftovers():
    """Directories of a kit that was killed, or whose machine stopped. None runs beside this one."""
    for place in WORK_PLACES:
        for path in Path(place).glob(WORK_NAME + "*"):
            if path.is_dir() and not path.is_symlink() and not path.stat().st_uid:
                shutil.rmtree(str(path), ignore_errors=True)


def runs(options):
    return QUICK_RUNS if options.quick else RUNS


def all_checks(wanted, options, context):
    """What is wanted, in order."""
    made = {"selftests": selftests.checks(context, options.quick),
            "recordings": recordings.checks(context), "costs": costs.checks(context, runs(options))}
    return sum((chosen(made[part], wanted[part]) for part in PARTS if part in wanted), [])


def how(options, choice):
    """How the kit was called, and where it measures."""
    return {"date": time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime()), "only": options.only,
            "quick": options.quick, "runs": runs(options), "cpu": choice.cpu, "core": choice.kind}


def run_all(checks, settings, facts, work, out):
    """Make all checks, put all back, write the report, which is returned."""
    progress, private = Progress(out), reports.private_texts(work)
    facts["stopped-in"] = progress.stopped_in()
    if facts["stopped-in"]:
        say("kit: %s Send %s as well." % (reports.STOPPED % facts["stopped-in"], progress.earlier))
    results, complete = run_checks(checks, progress, say, partial(reports.clean, private=private))
    settings.restore()
    kept = {"changed": settings.changed, "not-put-back": settings.differences()}
    made = reports.make(reports.clean_all(facts, private), version(), results, kept, complete)
    reports.write(out, made)
    progress.finish()
    say("\n" + reports.text(made))
    say("The report is in %s: report.txt and report.json. Look at them, and send both." % out)
    if not complete:
        say("kit: stopped; " + settings.told())
    return made


def status(report):
    if not report["complete"]:
        return STOPPED
    count = report["summary"]
    good = count["pass"] + count["measured"] and not count["fail"]
    return 0 if good and not report["settings"]["not-put-back"] else 1


def run(options):
    wanted = choice(options.only)
    machine.check_root()
    with Settings(machine.tracefs()) as settings:
        remove_leftovers()
        work = work_directory(options.work)
        settings.remove_at_end(work)
        facts, tool = machine.check(work, options.perf)
        settings.set_unthrottled()
        cpus = machine.choose_cpus(facts, work)
        if facts["processor"]["emulated"]:
            say("kit: " + reports.EMULATED)
        if options.check:
            say("kit: it can run here: %s, Linux %s, perf %s, on CPU %d" % (
                facts["processor"]["name"], facts["kernel"]["release"], facts["perf"]["version"],
                cpus.cpu))
            return 0
        facts["run"] = how(options, cpus)
        context = recordings.Context(work, tool, cpus, settings, facts["kernel"])
        checks = all_checks(wanted, options, context)
        return status(run_all(checks, settings, facts, work, output_directory(options.out)))


def run_compare(args):
    if len(args) != 2:
        raise Refusal("compare needs two reports: ./kit compare ONE.json OTHER.json")
    loaded = []
    for path in args:
        try:
            loaded.append(reports.load(path))
        except (OSError, ValueError) as error:
            raise Refusal("cannot read %s (%s): name a report.json of the kit" % (path, error))
    print(compare.text(*loaded), end="")
    return 0


def main(args):
    handle_signals()
    try:
        if args[:1] == ["compare"]:
            return run_compare(args[1:])
        return run(parser().parse_args(args))
    except Refusal as refusal:
        print("kit: %s" % refusal, file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        say("kit: stopped; " + (NOT_BACK if os.path.exists(JOURNAL) else ALL_BACK))
        return STOPPED
