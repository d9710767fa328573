# SPDX-License-Identifier: GPL-2.0-only
"""'lab list': what is built, the tests, the benchmarks, the CPU models, the PT capabilities."""

from lab.assembling import steps
from lab.base import bases, cache, paths, stamp
from lab.compiling import arches
from lab.running import cpumodels, ptcaps
from lab.testing import bench, tests
from lab.base.errors import for_base


def _kernels() -> list[tuple[str, str]]:
    found = sorted(paths.in_build("kernel").glob("*/vmlinux"))
    return [(image.parent.name, str(image)) for image in found
            if image.parent.name not in arches.kernels()]


def _processors() -> list[tuple[str, str]]:
    """Those that have machines of their own, and whether their kernel is built."""
    return [(arch.name, arch.what + (", built" if arch.vmlinux.exists() else ""))
            for arch in arches.ALL.values()]


def _section(title: str, rows: list[tuple[str, str]], empty: str) -> None:
    print(f"{title}:")
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows or [(empty, "")]:
        print(f"  {name:<{width}}  {text}".rstrip())


def _steps() -> list[tuple[str, str]]:
    return [(step.name, step.subject) for step in steps.read()]


def _bases() -> list[tuple[str, str]]:
    """Each base: its package, the release that is fetched or else the oldest that fits."""
    rows = []
    for name in bases.names():
        base, mark = bases.read(name), ""
        if name == paths.base_name():
            mark = f", here {stamp.read('version-linux') or 'not fetched'}"
        rows.append((name, f"{base.package}, {base.oldest or 'any'} or newer{mark}"))
    return rows


def _cache() -> list[tuple[str, str]]:
    if not cache.state().directory:
        return []
    sizes = cache.sizes()
    return [("directory", str(cache.state().directory))] + [
        (name, f"{sizes[name] // cache.MIB} MiB, at most {limit // cache.MIB} MiB")
        for name, limit in cache.LIMITS.items()]


def show() -> None:
    _section("Kernels", _kernels(), for_base("none yet: run 'lab build'"))
    _section("Processors (--arch NAME)", _processors(), "none")
    _section("Bases (--base NAME)", _bases(), "none")
    _section(f"Steps of the series on {paths.base_name()}", _steps(), "none yet")
    known = (("perf", paths.perf()), ("perf-stock", paths.perf("stock")), ("qemu", paths.qemu()))
    tools = [(name, str(path)) for name, path in known if path.exists()]
    _section("Tools", tools, for_base("none yet: run 'lab build'"))
    _section("Cache", _cache(), cache.warning().removeprefix("lab: ") or "off")
    files = tests.discover()
    _section("Tests", [(tests.name_of(f), tests.summary_of(f)) for f in files], "none")
    _section("Benchmarks", [(f.stem, tests.summary_of(f)) for f in bench.discover()], "none")
    models = [(name, model.what()) for name, model in cpumodels.MODELS.items()]
    _section("CPU models (--cpu MODEL)", models, "none")
    caps = [(name, text) for name, (_, text) in ptcaps.CAPABILITIES.items()]
    _section("PT capabilities (--pt NAME or no-NAME)", caps, "none")
    print(f"  ranges=N  {ptcaps.RANGES[2]}")
    print("  rude, rude=SEED, rude-NAME  what the SDM permits and software must bear: "
          + " ".join(ptcaps.MANNERS))
    print("  erratum-NAME  errata of named processors: " + " ".join(ptcaps.ERRATA))
