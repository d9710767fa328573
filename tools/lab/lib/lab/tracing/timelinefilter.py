# SPDX-License-Identifier: GPL-2.0-only
"""The series' filter that has perf write a timeline, built as where no kernel tree is: by one cc."""

from pathlib import Path

from lab.base import paths, proc, sources, stamp
from lab.base.errors import LabError

SOURCE_DIR = paths.ROOT / "tools/perf/dlfilters"


def build() -> Path:
    """dlfilter-timeline.so, made again if its source has changed."""
    files = sorted(SOURCE_DIR.glob("*timeline*.[ch]"))
    want, target = stamp.of_files(files), paths.to_write(paths.in_build("run", "timeline.so"))
    if not stamp.is_current("timeline", want) or not target.exists():
        stamp.clear("timeline")
        proc.run(["gcc", "-O2", "-shared", "-fPIC", f"-I{sources.kernel() / 'tools/perf/include'}",
                  "-o", target, *(file for file in files if file.suffix == ".c")],
                 paths.log_file("timeline"), failed="cannot build the filter of timelines")
        stamp.write("timeline", want)
    return target


def write(data: Path, buildids: Path | None, target: Path) -> None:
    """Decode a recording into a timeline, a file of Chrome trace events."""
    target.unlink(missing_ok=True)
    kept: list[str | Path] = ["--buildid-dir", buildids] if buildids else []
    proc.run([paths.perf(), *kept, "script", "-f", "-i", data, "--itrace=cre",
              "--dlfilter", build(), "--dlarg", target, "--dlarg", f"data={data}"],
             paths.log_file("timeline"), env={"PERF_CONFIG": "/dev/null"},
             failed="cannot make a timeline of the trace")
    if not target.exists():
        raise LabError("perf has written no timeline", f"see {paths.log_file('timeline')}")
