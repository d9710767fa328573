# SPDX-License-Identifier: GPL-2.0-only
"""The machine: what the report says of it, and why the kit refuses to run on it.

What is read here is a list of single facts. Nothing that names a machine or a person is among them.
"""

import gzip
import os
import re
import shutil
from pathlib import Path

from common import PROGRAMS, PT, Refusal, read, run

INTEL, TCG = "GenuineIntel", "TCGTCGTCGTCG"
HYPERVISORS = {"KVMKVMKVM": "KVM", "Microsoft Hv": "Hyper-V", "VMwareVMware": "VMware",
               "XenVMMXenVMM": "Xen", "VBoxVBoxVBox": "VirtualBox", "unknown": "an unknown kind"}
# perf record has --control fd: with 'snapshot', and perf stat has --control, from here on.
OLDEST_PERF = (5, 10)
OLDEST_KERNEL = (5, 10)
AUX_ACTION_KERNEL = (6, 13)
LOCKDOWN = "/sys/kernel/security/lockdown"
SYMBOL = re.compile(r"^(CONFIG_(?:\w*_)?PERF(?:_\w+)?|CONFIG_PREEMPT\w*|CONFIG_HZ)=(y|m|\d+)$",
                    re.MULTILINE)


def numbers(text):
    """The first two numbers of a version, (0, 0) if there are none."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def cpuid(work):
    """{name: value} of the program 'cpu'."""
    try:
        status, out, err = run([PROGRAMS / "cpu"], work)
    except OSError as error:
        status, out, err = 1, "", error.strerror
    if status:
        raise Refusal("the kit's programs do not run here (%s): unpack all of its archive, on a "
                      "machine with x86-64, where programs may be run (no noexec)"
                      % (err.strip() or "status %d" % status))
    return dict(line.partition(" ")[::2] for line in out.splitlines())


def perf_version(work):
    if not shutil.which("perf"):
        raise Refusal("there is no perf: install the package linux-perf (Debian), perf (Fedora, "
                      "SUSE) or linux-tools-generic (Ubuntu)")
    status, out, err = run(["perf", "version"], work)
    if status or not numbers(out)[0]:
        raise Refusal("perf does not run (%s): install the perf of this kernel, on Ubuntu "
                      "linux-tools-$(uname -r)" % (err.strip().splitlines() or ["no message"])[0])
    version = out.strip().replace("perf version ", "")
    if numbers(version) < OLDEST_PERF:
        raise Refusal("perf %s is too old: install 5.10 or newer" % version)
    return version


def check_processor(cpu):
    """What has no Intel PT at all, or only what a hypervisor lends."""
    if cpu.get("vendor") != INTEL:
        raise Refusal("this processor is of %s and has no Intel PT: use a machine with an Intel "
                      "processor (Broadwell or newer)" % cpu.get("vendor", "nobody"))
    hypervisor = cpu.get("hypervisor")
    if hypervisor and hypervisor != TCG:
        raise Refusal("this is a virtual machine (%s), whose times are not the processor's: run "
                      "the kit on the machine itself" % HYPERVISORS.get(hypervisor, hypervisor))


def check_root():
    if os.geteuid():
        raise Refusal("only root may trace the whole machine: run it as root (sudo ./kit)")


def check_kernel():
    release = os.uname().release
    if "[confidentiality]" in read(LOCKDOWN):
        raise Refusal("the kernel is locked down (confidentiality), so there are no tracepoints "
                      "and no copy of its code: boot with lockdown=integrity, or without lockdown=")
    if numbers(release) < OLDEST_KERNEL:
        raise Refusal("Linux %s is too old: boot 5.10 or newer" % release)
    if not Path("/proc/sys/kernel/perf_event_paranoid").exists():
        raise Refusal("this kernel has no perf events: boot one with CONFIG_PERF_EVENTS=y")


def check_pt(cpu):
    if "pt-0" not in cpu:
        raise Refusal("this processor has no Intel PT, or the firmware has it off: look for "
                      "'Processor Trace' in the firmware's setup, or use another machine")
    if not PT.is_dir():
        raise Refusal("the kernel has no PMU intel_pt: boot one with CONFIG_PERF_EVENTS_INTEL_PT "
                      "(if it has the option), and without KVM's pt_mode=1")


def model(cpu):
    """The processor as /proc/cpuinfo has it, without what differs from time to time."""
    fields = {}
    for line in read("/proc/cpuinfo").split("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()

    def number(key):
        return int(fields[key]) if fields.get(key, "").isdigit() else 0
    return {"vendor": cpu["vendor"], "name": fields.get("model name", ""),
            "family": number("cpu family"), "model": number("model"),
            "stepping": number("stepping"), "microcode": fields.get("microcode", ""),
            "signature": cpu.get("signature", ""), "cpus": os.cpu_count(),
            "hybrid": Path("/sys/bus/event_source/devices/cpu_core").exists(),
            "emulated": cpu.get("hypervisor") == TCG}


def capabilities(cpu):
    caps = {file.name: read(file) for file in sorted((PT / "caps").glob("*"))}
    caps["nr_addr_filters"] = read(PT / "nr_addr_filters", "0")
    return {"caps": caps, "cpuid": {key: cpu[key] for key in ("pt-0", "pt-1") if key in cpu}}


def configuration(release):
    """Symbols of perf, and of what its times depend on."""
    try:
        with gzip.open("/proc/config.gz", "rt") as file:
            text = file.read()
    except (OSError, EOFError):
        text = read("/boot/config-" + release) or read("/lib/modules/%s/config" % release)
    return dict(SYMBOL.findall(text))


def tracefs():
    """Where tracefs is, or None: the kit mounts nothing."""
    for place in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        if Path(place, "events").is_dir():
            return Path(place)
    return None


def has_series():
    """The series brings the tracepoints perf_aux, and options of its drivers."""
    place = tracefs()
    if place and (place / "events/perf_aux").is_dir():
        return True
    return "CONFIG_PERF_EVENTS_INTEL_PT" in configuration(os.uname().release)


def has_aux_action(facts):
    """Whether events can pause a trace: since 6.13, and in the series on any base."""
    return facts["series"] or numbers(facts["release"]) >= AUX_ACTION_KERNEL


def kernel():
    release = os.uname().release
    locked = re.search(r"\[(\w+)\]", read(LOCKDOWN))
    return {"release": release, "series": has_series(), "configuration": configuration(release),
            "lockdown": locked.group(1) if locked else "none",
            "sample-rate": read("/proc/sys/kernel/perf_event_max_sample_rate"),
            "cpu-time-percent": read("/proc/sys/kernel/perf_cpu_time_max_percent"),
            "tainted": read("/proc/sys/kernel/tainted"),
            "meltdown": read("/sys/devices/system/cpu/vulnerabilities/meltdown")}


def check(work):
    """The facts of the report, or a refusal."""
    cpu = cpuid(work)
    check_processor(cpu)
    check_kernel()
    version = perf_version(work)
    check_pt(cpu)
    processor = model(cpu)
    processor["pt"] = capabilities(cpu)
    return {"processor": processor, "kernel": kernel(), "perf": {"version": version}}
