# SPDX-License-Identifier: GPL-2.0-only
"""Packages and sources from Debian's mirror, in an apt state of our own.

The mirror, the proxy and the like come from the machine's apt configuration;
the suites are trixie for QEMU, those that hold the base, and on
Debian 12 its backports for meson. What has to run beside the machine's own
programs comes from the machine's suite. Nothing of the system's apt is changed.
apt checks each index against Debian's archive key and each download against
its index; the checksums are checked once more before anything is unpacked.
"""

import functools
import re
import subprocess
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.base import bases, cache, paths, proc, ui
from lab.base.errors import LabError

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
BASE_SUITE = "trixie"
NO_MIRROR = "check the network and the apt sources of this machine"


@dataclass(frozen=True)
class Mirror:
    """Where this machine gets Debian from; security may be empty."""

    main: str
    security: str


def parse_targets(text: str, codename: str) -> Mirror:
    """The mirror, from 'apt-get indextargets' lines of 'URI RELEASE COMPONENT'."""
    aliases = {codename, "stable", "oldstable"}
    main = security = ""
    for line in text.splitlines():
        uri, release, component = (line.split() + ["", "", ""])[:3]
        if component != "main" or uri.startswith("cdrom:"):
            continue
        if release in aliases and not main:
            main = uri.rstrip("/")
        elif re.fullmatch(r"(.*)(-security|/updates)", release) and not security:
            if re.split("-security|/updates", release)[0] in aliases:
                security = uri.rstrip("/")
    if not main:
        raise LabError(f"no mirror of Debian {codename} main in this machine's apt sources",
                       "add one to /etc/apt/sources.list.d")
    return Mirror(main, security)


def machine_mirror(codename: str) -> Mirror:
    text = proc.output(["apt-get", "indextargets", "--no-release-info", "--format",
                        "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"])
    return parse_targets(text, codename)


def tool_suites(codename: str) -> dict[str, tuple[str, ...]]:
    """{suite: kinds of packages} of what the lab needs whichever the base is."""
    suites: dict[str, tuple[str, ...]] = {BASE_SUITE: ("deb", "deb-src"),
                                          f"{BASE_SUITE}-security": ("deb", "deb-src")}
    if codename != BASE_SUITE:
        suites[f"{codename}-backports"] = ("deb",)
    return suites


def source_lines(mirror: Mirror, codename: str) -> list[str]:
    """Lines for sources.list; every one names the key that must have signed."""
    suites = tool_suites(codename)
    for suite in bases.current().suites:
        suites.setdefault(suite, ("deb", "deb-src"))
    return [line for suite, kinds in suites.items() for line in lines_of(mirror, suite, kinds)]


def lines_of(mirror: Mirror, suite: str, kinds: Iterable[str]) -> list[str]:
    """Those of one suite; none of security's if the machine has no mirror of that.

    A mirror may have stopped at some day of sid, whose index soon is past its date.
    """
    uri = mirror.security if suite.endswith("-security") else mirror.main
    dated = " check-valid-until=no" if suite == "sid" else ""
    return [f"{kind} [signed-by={KEYRING}{dated}] {uri} {suite} main" for kind in kinds if uri]


def own_lines(mirror: Mirror, codename: str) -> list[str]:
    """The machine's own suite: its programs run with the libraries that are installed."""
    return lines_of(mirror, codename, ["deb"])


def machine_acquire() -> list[str]:
    """The machine's proxy, timeout and similar settings.

    Not its index targets: those would fetch icons and descriptions as well.
    """
    dump = proc.output(["apt-config", "dump"])
    return [line for line in dump.splitlines()
            if line.startswith("Acquire::") and "::IndexTargets" not in line
            and "::Changelogs" not in line and '""' not in line]


class Apt:
    """A private state below the build directory; lines makes its sources.list."""

    def __init__(self, codename: str, lines: Callable[[Mirror, str], list[str]] = source_lines,
                 home: str = "apt", arch: str = "amd64") -> None:
        self.codename = codename
        self.arch = arch
        self.lines = lines
        self.home = paths.in_build(home)
        self.log = paths.log_file(home)
        self.config = self.home / "apt.conf"

    def _settings(self) -> list[str]:
        home = self.home
        return [f'Dir::State "{home}/state";', f'Dir::State::status "{home}/status";',
                f'Dir::Cache "{home}/cache";', f'Dir::Etc::sourcelist "{home}/sources.list";',
                'Dir::Etc::sourceparts "-";', 'Dir::Etc::main "-";', 'Dir::Etc::parts "-";',
                # The machine's pinning must not choose other versions.
                f'Dir::Etc::preferencesparts "{home}/preferences.d";',
                'Dir::Etc::preferences "/dev/null";',
                # Otherwise apt drops root and cannot write in a private place.
                'APT::Sandbox::User "root";', f'APT::Architecture "{self.arch}";',
                f'APT::Architectures "{self.arch}";',
                'Acquire::Languages "none";', 'Acquire::PDiffs "false";',
                'Acquire::Retries "2";']

    def refresh(self, step: ui.Step) -> None:
        """Make the configuration, and fetch the indices that it names."""
        self._configure()
        step.progress("reading the mirror's indices")
        self._update(step.progress)

    def _configure(self) -> None:
        if not Path(KEYRING).exists():
            raise LabError(f"Debian's archive key is missing ({KEYRING})",
                           "install it with 'apt-get install debian-archive-keyring'")
        for name in ("state/lists/partial", "cache/archives/partial", "preferences.d"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        (self.home / "status").touch()
        lines = self.lines(machine_mirror(self.codename), self.codename)
        (self.home / "sources.list").write_text("\n".join(lines) + "\n")
        self.config.write_text("\n".join(machine_acquire() + self._settings()) + "\n")

    def _env(self) -> dict[str, str]:
        return {"APT_CONFIG": str(self.config)}

    def _update(self, on_line: Callable[[str], None]) -> None:
        """Fetch the indices. apt-get exits 0 for a mirror that is away."""
        lines: list[str] = []

        def collect(line: str) -> None:
            lines.append(line)
            on_line(line)
        failure = ""
        try:
            proc.run(["apt-get", "update", "--error-on=any"], self.log, env=self._env(),
                     on_line=collect)
        except LabError:
            errors = [line for line in lines if line.startswith(("E:", "W:", "Err:"))]
            failure = errors[0] if errors else "no message"
        if failure:
            raise update_error(lines, failure)

    def tool_suites(self) -> Collection[str]:
        """Where all but the base comes from: a suite of the base may have what does not fit."""
        return tool_suites(self.codename) if self.lines is source_lines else ()

    def newest(self, package: str, pattern: str = ".*", suites: Collection[str] = ()) -> str:
        """The newest version of a binary package whose version matches, of any suite or of some."""
        text = proc.output(["apt-cache", "madison", package], env=self._env())
        return newest_of(package, binary_versions(text, suites), pattern, suites)

    def _sources(self, package: str) -> list[dict[str, str]]:
        """What the index says of a source package, a block for each version."""
        text = proc.output(["apt-cache", "showsrc", package], env=self._env())
        blocks = [parse_block(block) for block in text.split("\n\n")]
        return [block for block in blocks if block.get("Package") == package]

    def newest_source(self, package: str, pattern: str, suites: Collection[str] = ()) -> str:
        """The newest version of a source package that matches; 'suites' are those that were asked."""
        versions = [block["Version"] for block in self._sources(package)]
        return newest_of(package, versions, pattern, suites)

    def source_versions(self, package: str, pattern: str) -> list[str]:
        """All that match, the newest first."""
        found = {block["Version"] for block in self._sources(package)
                 if re.fullmatch(pattern, block["Version"])}

        def order(one: str, other: str) -> int:
            return -1 if _is_newer(one, other) else 1
        return sorted(found, key=functools.cmp_to_key(order))

    def fields(self, package: str, version: str) -> dict[str, str]:
        """What the index says of a binary package."""
        show = proc.output(["apt-cache", "show", f"{package}={version}"], env=self._env())
        return parse_block(show.split("\n\n")[0])

    def download(self, package: str, version: str, directory: Path,
                 on_line: Callable[[str], None] | None = None) -> Path:
        """A binary package, as a file whose checksum was compared."""
        block = self.fields(package, version)
        name = f"{package}_{version.replace(':', '%3a')}_{block['Architecture']}.deb"
        self._fetch(["download", f"{package}={version}"], directory, {name: block["SHA256"]},
                    on_line)
        return directory / name

    def _source_files(self, package: str, version: str) -> dict[str, str]:
        """{name: checksum} of a source package's files."""
        block = next(b for b in self._sources(package) if b["Version"] == version)
        lines = [line.split() for line in block["Checksums-Sha256"].split("\n") if line.strip()]
        return {name: checksum for checksum, _, name in lines}

    def download_source(self, package: str, version: str, directory: Path,
                        on_line: Callable[[str], None] | None = None) -> Path:
        """A source package; the result is its .dsc."""
        files = self._source_files(package, version)
        self._fetch(["source", "--download-only", "--only-source", f"{package}={version}"],
                    directory, files, on_line)
        return next(directory / name for name in files if name.endswith(".dsc"))

    def download_packaging(self, package: str, version: str, directory: Path,
                           on_line: Callable[[str], None] | None = None) -> Path:
        """What Debian adds to a source package: its .debian.tar.xz."""
        files = {name: checksum for name, checksum in self._source_files(package, version).items()
                 if name.endswith(".debian.tar.xz")}
        self._fetch(["source", "--download-only", "--diff-only", f"{package}={version}"],
                    directory, files, on_line)
        return directory / next(iter(files))

    def _fetch(self, args: list[str], directory: Path, files: dict[str, str],
               on_line: Callable[[str], None] | None) -> None:
        """Have the files, {name: checksum} in the index, out of the cache or from the mirror."""
        directory.mkdir(parents=True, exist_ok=True)
        if not all([have(directory / name, checksum) for name, checksum in files.items()]):
            self._get(args, directory, on_line)
        for name, checksum in files.items():
            verify(directory / name, checksum)
            cache.put(checksum, directory / name)

    def _get(self, args: list[str], directory: Path,
             on_line: Callable[[str], None] | None) -> None:
        proc.run(["apt-get", "-q", *args], self.log, cwd=directory, env=self._env(),
                 on_line=on_line, failed=f"cannot fetch {args[-1]} from the package mirror "
                                         f"({NO_MIRROR})")


def only(suite: str, kind: str) -> Callable[[Mirror, str], list[str]]:
    """One suite, whatever the machine's is; kind is deb or deb-src."""
    return lambda mirror, _codename: lines_of(mirror, suite, [kind])


def sources_of(suite: str, codename: str, step: ui.Step) -> Apt:
    """The source packages of one suite, as its newest index has them."""
    private = Apt(codename, only(suite, "deb-src"), f"apt-{suite}")
    private.refresh(step)
    return private


def newest_in(suites: Iterable[str], package: str, codename: str,
              step: ui.Step) -> tuple[dict[str, str], list[str]]:
    """({suite: newest version of a source package}, [what is wrong with another suite])."""
    found: dict[str, str] = {}
    errors: list[str] = []
    for suite in suites:
        try:
            private = sources_of(suite, codename, step)
            found[suite] = private.newest_source(package, ".*", [suite])
        except LabError as error:
            errors.append(f"{suite}: {error}")
    return found, errors


def update_error(lines: Iterable[str], failure: str) -> LabError:
    """Which of the two it was: a mirror out of reach, or one that lies."""
    text = "\n".join(lines)
    if re.search(r"NO_PUBKEY|BADSIG|EXPKEYSIG|not signed|signatures? (?:couldn't|could not|"
                 r"were? invalid)|Hash Sum mismatch|BADSIG", text):
        return LabError(f"the package mirror's signature or checksum is wrong: {failure}",
                        "do not use this mirror; choose another one in the apt sources")
    return LabError(f"cannot reach a package mirror: {failure}", NO_MIRROR)


def binary_versions(text: str, suites: Collection[str] = ()) -> list[str]:
    """Versions of binary packages in lines of 'apt-cache madison', of any suite or of some."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    found = [(row[1], row[2].split()) for row in rows if len(row) == 3]
    return [version for version, (_, suite, *_, kind) in found
            if kind == "Packages" and (not suites or suite.partition("/")[0] in suites)]


def newest_of(package: str, versions: Iterable[str], pattern: str,
              suites: Iterable[str] = ()) -> str:
    best = ""
    for version in versions:
        if re.fullmatch(pattern, version) and (not best or _is_newer(version, best)):
            best = version
    if not best:
        raise LabError(f"the package mirror has no {package} that fits",
                       f"the lab needs one in {' or '.join(suites) or BASE_SUITE}; choose "
                       "another mirror")
    return best


def _is_newer(one: str, other: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", one, "gt", other],
                          check=False).returncode == 0


def parse_block(text: str) -> dict[str, str]:
    """The fields of one paragraph of an index; continuation lines stay."""
    fields: dict[str, str] = {}
    name = None
    for line in text.splitlines():
        if line[:1].isspace() and name:
            fields[name] += "\n" + line
        elif ":" in line:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
    return fields


def have(file: Path, checksum: str) -> bool:
    """Whether a file is there as the index has it, or comes out of the cache."""
    if not file.exists() or cache.checksum_of(file) != checksum:
        file.unlink(missing_ok=True)
        cache.take(checksum, file)
    return file.exists()


def verify(file: Path, checksum: str) -> None:
    """Compare with the signed index; a file that differs is removed."""
    try:
        found = cache.checksum_of(file)
    except OSError:
        raise LabError(f"the download of {file.name} is missing",
                       "run the command again") from None
    if found != checksum:
        file.unlink()
        raise LabError(f"{file.name} is not what Debian signed (wrong checksum); removed it",
                       "run the command again, or choose another mirror")
