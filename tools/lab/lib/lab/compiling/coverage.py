# SPDX-License-Identifier: GPL-2.0-only
"""How much of the series' kernel code the tests run, by the compiler's counters.

With LAB_COVERAGE set, the kernels of the series are built so that gcc counts which lines and branches
of our files run. At the end of each guest its init leaves the counters in a directory (guest/
coverage.c), and add() adds them to those of all guests before. sum_up() has gcovr say what they mean.
"""

import contextlib
import fcntl
import json
import operator
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from lab.assembling import assemble, steps
from lab.base import paths, proc, stamp, trees, ui
from lab.base.errors import LabError

# Below these directories is kernel code that runs; headers count where they are included.
CODE = ("kernel/", "arch/")
TESTS = "_kunit.c"
# Percent of lines in guests, of all lines, and of all branches that the tests are to run
LEAST = (85, 95, 85)
PACKAGES = ("gcovr",)
# What the base has in their place, and the file that the series only changes
BASE_SOURCES = ["arch/x86/events/intel/bts.c", "arch/x86/events/intel/pt.c",
                "kernel/events/core.c", "kernel/events/ring_buffer.c"]
# Says why no test runs a line, after these words, as far as the next heading
EXPLAINED = "Documentation/lab/tests.rst"
LEFT = re.compile(r"These lines were left:$(.*?)^===", re.DOTALL | re.MULTILINE)
# The line in which a function of the kernel begins
FUNCTION = re.compile(r"[A-Za-z_].*?\b(\w+)\(")
# The file by which the init of a guest says that its kernel is locked down (guest/coverage.c)
LOCKED_MARK = "locked-down"
# Tests that compile our files into a program: its name, by their directories
NATIVE = {"aux/logic": "logic", "pt/logic": "logic", "bts/logic": "logic", "aux/arith": "arith"}


def _files(suffix: str) -> list[str]:
    return sorted({path for step in steps.read() for path in step.files
                   if path.startswith(CODE) and path.endswith(suffix)})


def sources() -> list[str]:
    """Our files that are compiled into the kernel, without the tests among them."""
    return [path for path in _files(".c") if not path.endswith(TESTS)]


def headers() -> list[str]:
    """Our headers; those that have code count."""
    return _files(".h")


def _of(paths_of_sources: Iterable[str]) -> str:
    """Text that make expands, for each object, to y if it is of one of these sources."""
    return f"$(if $(filter {' '.join(paths_of_sources)},$(obj)/$(basetarget).c),y,n)"


def make_words() -> list[str]:
    """Variables of make that have gcc count in our files, and in no others."""
    return [f"GCOV_PROFILE={_of(sources())}"]


def race_words() -> list[str]:
    """Variables of make by which KCSAN looks at our files, and at no others."""
    return [f"KCSAN_SANITIZE={_of(sources())}"]


def kcov_words() -> list[str]:
    """Variables of make by which a task can ask where it was: in our files, and in the base's."""
    return [f"KCOV_INSTRUMENT={_of([*sources(), *BASE_SOURCES])}"]


def is_counting(kernel: Path) -> bool:
    """Whether a kernel, given its build directory, is one of the lab's that count."""
    return (paths.counts_coverage() and kernel.name.endswith(paths.COUNTS)
            and kernel == paths.in_build("kernel", kernel.name))


def home() -> Path:
    """Where the counters and the report are."""
    return paths.in_build("coverage")


def counters(kernel: Path) -> Path:
    """The sums of all guests of a kernel, given its build directory."""
    return home() / kernel.name


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Guests end at the same time."""
    with open(paths.to_write(paths.in_build("lock-coverage")), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _note(kernel: Path) -> Path:
    return home() / f"{kernel.name}.built"


def _source_hash() -> str:
    """Of our files as they are in the tree now."""
    tree = assemble.tree(paths.SERIES)
    return stamp.of_files(tree / path for path in [*sources(), *headers()] if (tree / path).exists())


def built(kernel: Path) -> None:
    """The kernel of a build directory was built: what was counted in another code is forgotten."""
    objects = (kernel / path for path in sources())
    notes = sorted(place for path in objects if (place := path.with_suffix(".gcno")).exists())
    want = f"{stamp.of_files(notes)} {_source_hash()}\n"
    with _alone():
        note = paths.to_write(_note(kernel))
        if not note.exists() or note.read_text() != want:
            shutil.rmtree(counters(kernel), ignore_errors=True)
            note.write_text(want)


def _sort(directory: Path, kernel: Path, target: Path) -> None:
    """The counters of our objects, at their paths below the build directory."""
    prefix = f"{kernel}/".replace("/", "#")
    wanted = {path.removesuffix(".c") for path in sources()}
    for file in directory.iterdir():
        path = file.name.removeprefix(prefix).replace("#", "/").removesuffix(".gcda")
        if file.name.startswith(prefix) and path in wanted:
            shutil.move(file, paths.to_write(target / f"{path}.gcda"))


def add(directory: str, kernel: Path) -> None:
    """
    Add what the init of a guest has left in a directory, when all of it was written.

    A kernel that is locked down lets its init read no counters, and has none.
    """
    if Path(directory, LOCKED_MARK).exists():
        return
    total = counters(kernel)
    with _alone(), tempfile.TemporaryDirectory(dir=paths.to_write(home() / "new").parent) as work:
        new, both = Path(work, "new"), Path(work, "both")
        _sort(Path(directory), kernel, new)
        if not new.exists():
            raise LabError("the guest's kernel has counted nothing", "see /sys/kernel/debug/gcov")
        if total.exists():
            proc.run(["gcov-tool", "merge", "-o", both, total, new], paths.log_file("coverage"),
                     failed="cannot add the counters of a guest")
            new = both
            os.rename(total, Path(work, "old"))
        os.rename(new, total)


def _put_back() -> list[Path]:
    """Each object's counters beside what the compiler noted of it, where gcov looks for them."""
    places, source = [], _source_hash()
    for total in sorted(home().glob(f"*{paths.COUNTS}")):
        kernel = paths.in_build("kernel", total.name)
        if _note(kernel).read_text().split()[-1] != source:
            raise LabError(f"what {total.name} has counted is of an earlier source",
                           "run 'lab coverage' without --report")
        for file in total.rglob("*.gcda"):
            place = kernel / file.relative_to(total)
            if place.with_suffix(".gcno").exists():
                shutil.copyfile(file, place)
                places.append(place.parent)
    if not places:
        raise LabError("nothing has been counted", "run 'lab coverage', which runs the tests")
    return sorted(set(places))


def _gcovr(*words: str | Path) -> None:
    proc.run(["gcovr", "--exclude-unreachable-branches", *words], paths.log_file("coverage"),
             cwd=home(), failed="gcovr cannot read the counters")


def _filters(tree: Path) -> list[str]:
    """Our files, and our headers where they are included."""
    names = [path.removesuffix(".c") for path in sources()] + headers()
    return [word for name in names
            for word in ("--filter", f"{re.escape(str(tree / name))}\\.?[ch]?$")]


def _run_native(step: ui.Step) -> Path:
    """Build and run the tests of our files that need no kernel; where their counters are."""
    for name, program in NATIVE.items():
        step.progress(f"{name} without a kernel")
        place, tests = home() / "native" / name, paths.TESTS_DIR / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        proc.run(["make", "-s", "-C", tests, f"O={place}", "SANITIZE=-O1 -g -w --coverage"],
                 paths.log_file("coverage"), failed=f"cannot build {tests}")
        proc.run([place / program], paths.log_file("coverage"), cwd=place,
                 failed=f"{place / program} has failed")
    return home() / "native"


def _add_line(line: dict[str, Any], other: dict[str, Any]) -> None:
    """
    What two programs have run of one line.

    Branches count only where both have as many: the macros of the kernel have others than those
    that stand for them.
    """
    line["count"] += other["count"]
    if len(line["branches"]) == len(other["branches"]):
        for branch, more in zip(line["branches"], other["branches"]):
            branch["count"] += more["count"]


def _is_shared(path: str) -> bool:
    """Whether a file in the tree is the one that programs without a kernel are made of."""
    return trees.same(paths.ROOT / path, assemble.tree(paths.SERIES) / path)


def added(kernel: dict[str, Any], native: dict[str, Any]) -> dict[str, Any]:
    """What ran in the kernel, and what ran of the same lines without one."""
    others = {(one["file"], line["line_number"]): line
              for one in native["files"] for line in one["lines"]}
    for one in kernel["files"]:
        for line in one["lines"]:
            if other := others.get((one["file"], line["line_number"])):
                _add_line(line, other)
    return kernel


def sum_up(step: ui.Step) -> None:
    """Have gcovr read all counters, and make pages and a summary of the sums."""
    with _alone():
        places, tree = _put_back(), assemble.tree(paths.SERIES)
    native = _run_native(step)
    step.progress("reading the counters")
    shutil.rmtree(pages(), ignore_errors=True)
    pages().mkdir(parents=True)
    found = []
    parts: tuple[tuple[str, Path, list[str | Path]], ...] = (
        ("kernel", tree, ["--object-directory", paths.in_build("kernel"), *places]),
        ("native", paths.ROOT, [native]))
    for name, root, words in parts:
        _gcovr("--root", root, *_filters(root), "--json", pages() / f"{name}.json", *words)
        found.append(json.loads((pages() / f"{name}.json").read_text()))
    # A base may have a form of its own of a file.
    found[1]["files"] = [one for one in found[1]["files"] if _is_shared(one["file"])]
    (pages() / "lines.json").write_text(json.dumps(added(*found)))
    _gcovr("--root", tree, "--add-tracefile", pages() / "lines.json", "--html-details",
           pages() / "index.html", "--json-summary", pages() / "summary.json")


def pages() -> Path:
    return home() / "pages"


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0


@dataclass
class Count:
    """Of a file or of all files: what there is, and what of it ran."""

    lines: int = 0
    # in a guest
    booted: int = 0
    # in a guest, or in a program without a kernel
    ran: int = 0
    branches: int = 0
    taken: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(*map(sum, zip(astuple(self), astuple(other))))

    def row(self) -> str:
        """For the table."""
        return (f"{_percent(self.booted, self.lines):>5.1f} %  "
                f"{self.ran:>5} of {self.lines:>4} {_percent(self.ran, self.lines):>5.1f} %  "
                f"{self.taken:>5} of {self.branches:>4} "
                f"{_percent(self.taken, self.branches):>5.1f} %")


def _lines(name: str) -> dict[str, list[dict[str, Any]]]:
    """{file: its lines with code}"""
    found = json.loads((pages() / f"{name}.json").read_text())["files"]
    return {one["file"]: [line for line in one["lines"] if not line.get("gcovr/noncode")]
            for one in found}


def counts() -> dict[str, Count]:
    """{file: its Count}; the branches as gcovr has them, which leaves out those of no code."""
    booted = {path: sum(bool(line["count"]) for line in lines)
              for path, lines in _lines("kernel").items()}
    found = json.loads((pages() / "summary.json").read_text())["files"]
    return {one["filename"]: Count(one["line_total"], booted[one["filename"]],
                                   one["line_covered"], one["branch_total"],
                                   one["branch_covered"]) for one in found}


def unreached() -> list[str]:
    """Lines that no test ran, as FILE:NUMBER."""
    return [f"{path}:{line['line_number']}" for path, lines in sorted(_lines("lines").items())
            for line in lines if not line["count"]]


def _function_at(source: str, number: int) -> str:
    """The name of the function in which a line of a file is, or that begins there."""
    found = filter(None, map(FUNCTION.match, reversed(source.splitlines()[:number])))
    return next((match[1] for match in found), "")


def explained() -> set[str]:
    """The functions of which the documentation says why no test runs all of their lines."""
    found = LEFT.search((paths.ROOT / EXPLAINED).read_text())
    if not found:
        raise LabError(f"{EXPLAINED} has no list of the lines that were left",
                       "put it behind 'These lines were left:'")
    return set(re.findall(r"``(\w+)\(\)``", found[1]))


def of_functions(lines: Iterable[str], tree: Path) -> dict[str, str]:
    """Lines of a tree, FILE:NUMBER, by the functions that they are in: {name: its first one}"""
    found: dict[str, str] = {}
    for line in lines:
        path, _, number = line.rpartition(":")
        found.setdefault(_function_at((tree / path).read_text(), int(number)), line)
    return found


def left() -> dict[str, str]:
    """
    The functions that the tests do not run whole, though nothing says why, as of_functions().

    Those of which something is said without need are printed: some lines run by chance.
    """
    found, said = of_functions(unreached(), assemble.tree(paths.SERIES)), explained()
    if needless := sorted(said - found.keys()):
        print(f"each line has run of what {EXPLAINED} names as left: {', '.join(needless)}")
    return {name: line for name, line in found.items() if name not in said}


def show() -> bool:
    """The table; whether the tests run as much as they are to."""
    rows = counts()
    total = sum(rows.values(), Count())
    missing = [path for path in sources() if path not in rows]
    width = max(map(len, rows))
    print(f"{'':{width}}  guests{'lines':>15}{'branches':>25}")
    for name, row in [*sorted(rows.items()), ("all", total)]:
        print(f"{name:{width}}  {row.row()}")
    for path in missing:
        print(f"{path:{width}}  nothing was counted")
    (pages() / "unreached").write_text("".join(f"{line}\n" for line in unreached()))
    print(f"pages: {pages() / 'index.html'}; lines that did not run: {pages() / 'unreached'}")
    reached = (_percent(total.booted, total.lines), _percent(total.ran, total.lines),
               _percent(total.taken, total.branches))
    return not missing and all(map(operator.ge, reached, LEAST))
