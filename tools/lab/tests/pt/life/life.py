# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of a machine's life have in common: programs, the module, counts by program."""

import re
import shutil
from collections import Counter
from pathlib import Path

import recording
from lab.base import paths
from lab.building import auxmodule
from lab.testing import points
from lab.base.errors import LabError

HERE = Path(__file__).resolve().parent
KERNEL = 1 << 63
# A branch: program, from, to. What comes from or goes to 0 begins or ends a part of the trace.
BRANCH = re.compile(r"\s*(.+?)\s+([0-9a-f]+)\S* .*=>\s+([0-9a-f]+)")

# For the guest's shell. TraceEn of each CPU: "traceen CPU VALUE".
SHELL = """
cd {dir} || exit 1
cpu1() {{ echo $1 >/sys/devices/system/cpu/cpu1/online; }}
traceen() {{
    for cpu in 0 1; do
        dd if=/dev/cpu/$cpu/msr bs=8 count=1 skip=$((0x570)) iflag=skip_bytes status=none |
            od -An -tu8 | while read value; do echo "traceen $cpu $((value & 1))"; done
    done
}}
on() {{ cpu=$1; shift; taskset -c $cpu "$@" >/dev/null; }}
# Begin a program on a CPU, and see that it runs.
begin() {{
    cpu=$1; shift; tries=0
    taskset -c $cpu "$@" >/dev/null &
    while read name </proc/$!/comm && [ ./$name != $1 ]; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || break
        sleep 0.02
    done
}}
# As a user: perf of root has events of CPUs beside those of the task, to see it switch, and they
# end with their CPU.
as_user="setpriv --reuid=nobody --regid=nogroup --clear-groups"
rec() {{
    name=$1; shift
    $user perf --buildid-dir /run/life record -q --no-buildid-mmap -o /run/life/$name -m,16M "$@" \
        >$name.log 2>&1
    echo "rec $name $?"
    cp -rT /run/life/$name $name.data
}}
of() {{ echo $2 >/sys/module/pt_life/parameters/$1; }}
"""


def prepare(name):
    """The directory of a test, with the module that plays the platform and VMX, and programs."""
    directory = recording.work_directory(name)
    try:
        module = auxmodule.make_of(HERE, ("Kbuild", "pt_life.c"), paths.default_kernel(),
                                   directory / "module", directory / "module.log")
    except LabError as error:
        points.bail_out(str(error))
    module.rename(directory / "pt_life.ko")
    # Without a dynamic linker, which never does the same twice.
    recording.compile_c(HERE / "steady.c", directory / "steady", "-static")
    shutil.copy(HERE / "load.py", directory)
    return directory


def programs(directory, *names):
    """Programs that all do the same, told apart by their names."""
    for name in names:
        (directory / name).symlink_to("steady")


def decode(directory, data):
    """(branches of each program, the decoder's errors, the summary of the file's records)."""
    text = recording.script(directory / data, directory, "be", "-F", "comm,ip,addr",
                            *recording.with_init(directory))
    counts = Counter()
    for line in text.splitlines():
        match = BRANCH.match(line)
        if match and all(0 < int(ip, 16) < KERNEL for ip in match.group(2, 3)):
            counts[match[1]] += 1
    return counts, recording.errors_in(text), recording.perfdata.summarize(directory / data)


def functions(directory, data):
    """{function of the kernel: how many branches come from it}."""
    text = recording.script(directory / data, directory, "b", "-F", "ip,sym")
    return Counter(words[1] for words in map(str.split, text.splitlines()) if len(words) > 1)


class Checker:
    """Compares recordings with those that nothing disturbed."""

    def __init__(self, tap, directory, said):
        self.tap, self.directory, self.said = tap, directory, said
        self.status = dict(re.findall(r"^rec (\S+) (\d+)$", said, re.M))

    def usual(self, data, *programs):
        """What each of the programs does where nothing happens."""
        counts, errors, _ = decode(self.directory, f"{data}.data")
        found = ", ".join(f"{counts[program]} branches of {program}" for program in programs)
        self.tap.result(all(counts[program] for program in programs) and not errors,
                        f"{data}: undisturbed, {found}", *errors[:5])
        return {**counts, "other": counts["long"]}

    def same(self, data, usual, text, partial=0, **times):
        """So many runs of a program, each of as many branches as usual, no errors, known holes."""
        log = self.directory / f"{data}.log"
        try:
            counts, errors, summary = decode(self.directory, f"{data}.data")
        except LabError as error:
            self.tap.result(False, f"{data}: {text}", str(error), log.read_text())
            return
        notes = [f"{program}: {counts[program]} branches, not {number} times {usual[program]}"
                 for program, number in times.items() if counts[program] != number * usual[program]]
        if summary.lost() != partial or summary.partial != partial:
            notes.append(f"{summary.partial} of {summary.lost()} records of loss are PARTIAL")
        if self.status.get(data) != "0":
            notes.append(f"perf record: {self.status.get(data)}")
        self.tap.result(not notes + errors, f"{data}: {text}", *notes, *errors[:10],
                        log.read_text())
