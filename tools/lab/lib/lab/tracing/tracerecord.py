# SPDX-License-Identifier: GPL-2.0-only
"""The recording half of 'make run': the series' perf calltrace, in a guest, records a command.

The script is the same that a person with an Intel machine runs; here it only records, as the host
decodes faster.
"""

import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths, proc
from lab.tracing import perfdata
from lab.base.errors import LabError

SCRIPT = paths.ROOT / "tools/perf/perf-calltrace.sh"
LIMIT = 600
AREA = "32M"
LAST = "1M"
REFUSED = re.compile(r"^perf calltrace: (.*?)(?:: (.*))?$", re.MULTILINE)
# $1: how long the command runs before perf attaches to it; then perf calltrace, but for the process
ATTACH = """{command} & traced=$!
sleep {seconds}
{script} --pid $traced || {{ status=$?; kill $traced 2>/dev/null; exit $status; }}
{end}wait $traced"""


@dataclass
class Part:
    """What of a run is traced; all of the user space part if nothing is said."""

    begin: str = ""
    end: str = ""
    # the size of an area, of which only the end is kept
    last: str = ""
    kernel: bool = False
    # seconds that the command runs before perf attaches to it, and how long it stays, if not to the end
    attach: float = 0
    limit: int = 0

    def options(self) -> list[str]:
        args = ["--from", self.begin] if self.begin else []
        args += ["--to", self.end] if self.end else []
        args += [f"--last={self.last}"] if self.last else ["-m", AREA]
        args += ["--kernel"] if self.kernel else []
        return args + (["--for", str(self.limit)] if self.limit else [])


@dataclass
class Ending:
    """How the traced command ended: its status, as a shell has it, and a signal's name or ''."""

    status: int = 0
    signal: str = ""

    @classmethod
    def of(cls, status: int) -> "Ending":
        try:
            return cls(status, signal.Signals(status - 128).name if status > 128 else "")
        except ValueError:
            return cls(status)

    def __str__(self) -> str:
        return f"was killed by {self.signal}" if self.signal else f"exited with {self.status}"


def make_empty(out: str) -> Path:
    """The directory that the user names for the recording: a new one."""
    if not out:
        directory = paths.in_build("run", "trace")
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        return directory
    directory = Path(out).resolve()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise LabError(f"{out} is not empty", "name a new directory with --out")
    except OSError as error:
        raise LabError(f"cannot write {out} ({error.strerror})", "name another directory") from None
    return directory


def in_guest(command: Sequence[str], directory: Path, part: Part) -> list[str]:
    """What the guest runs."""
    script = ["sh", str(SCRIPT), "--record-only", "--out", str(directory), *part.options()]
    if not part.attach:
        return [*script, "--", *command]
    end = "kill $traced 2>/dev/null; " if part.limit else ""
    return ["sh", "-c", ATTACH.format(command=shlex.join(command), seconds=part.attach,
                                      script=shlex.join(script), end=end)]


def record(command: Sequence[str], directory: Path, log: Path, options: Sequence[str],
           part: Part) -> Ending:
    """Record a command in a guest; the recording lands in the directory, which is empty."""
    argv = [str(paths.LAB_DIR / "lab"), "run", "--timeout", str(LIMIT), "--share", str(directory),
            "--console", str(paths.log_file("record-console")), *options, "--",
            *in_guest(command, directory, part)]
    with open(log, "wb") as out:
        status = proc.call(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    return ending(directory / "perf.data", status, log)


def ending(data: Path, status: int, log: Path) -> Ending:
    """
    How the command ended. The script, and so the guest, ends as the command does; if there is no
    whole recording, the script or the guest has failed, whatever the command did.
    """
    text = Path(log).read_text(errors="replace")
    # The lab shows the console where the guest has failed, or its kernel has complained.
    if perfdata.is_complete(data) and "\nlab: console of the guest" not in f"\n{text}":
        return Ending.of(status)
    if refused := REFUSED.search(text):
        raise LabError(refused[1], f"{refused[2] or 'see perf calltrace --help'}; all of it is in {log}")
    raise LabError(f"the traced run failed (status {status}, '{reason(log)}')", f"see {log}",
                   log=log)


def reason(log: Path) -> str:
    """What the log of a failed run says first of lab, or last of the guest."""
    lines = [line.strip() for line in Path(log).read_text(errors="replace").splitlines()]
    own = [line.removeprefix("lab: ") for line in lines if line.startswith("lab: ")]
    said = [line for line in lines if line and not line.startswith("|")]
    return own[0] if own else said[-1] if said else "no message"
