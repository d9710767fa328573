# SPDX-License-Identifier: GPL-2.0-only
"""The machine: what the report says of it, and why the kit refuses to run on it.

What is read here is a list of single facts. Nothing that names a machine or a person is among them.
"""

import errno
import gzip
import os
import re
import shutil
from pathlib import Path

from common import PROGRAMS, PT, Refusal, read, run
from cpus import Choice

INTEL, TCG = "GenuineIntel", "TCGTCGTCGTCG"
HYPERVISORS = {"KVMKVMKVM": "KVM", "Microsoft Hv": "Hyper-V", "VMwareVMware": "VMware",
               "XenVMMXenVMM": "Xen", "VBoxVBoxVBox": "VirtualBox", "unknown": "an unknown kind"}
# perf record has --control fd: with 'snapshot', and perf stat has --control, from here on.
OLDEST_PERF = (5, 10)
OTHER_PERF = "--perf /usr/lib/linux-tools/*/perf"
OLDEST_KERNEL = (5, 10)
AUX_ACTION_KERNEL = (6, 13)
LOCKDOWN = "/sys/kernel/security/lockdown"
SYMBOL = re.compile(r"^(CONFIG_(?:\w*_)?PERF(?:_\w+)?|CONFIG_PREEMPT\w*|CONFIG_HZ)=(y|m|\d+)$",
                    re.MULTILINE)


def numbers(text):
    """The first two numbers of a version, (0, 0) if there are none."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def cpuid(work, choice):
    """{name: value} of the program 'cpu'."""
    try:
        status, out, err = run([PROGRAMS / "cpu"], work, [choice.cpu])
    except OSError as error:
        status, out, err = 1, "", error.strerror
    if status:
        raise Refusal("the kit's programs do not run here (%s): unpack all of its archive, on a "
                      "machine with x86-64, where programs may be run (no noexec)"
                      % (err.strip() or "status %d" % status))
    return dict(line.partition(" ")[::2] for line in out.splitlines())


def copy_program(work):
    """What is recorded is beside its recordings, so that its file is on a disk that perf sees."""
    program = work / "known"
    shutil.copy(str(PROGRAMS / "known"), str(program))
    try:
        status = run([program, "0"], work)[0]
    except OSError:
        status = 1
    if status:
        raise Refusal("programs may not be run from %s (noexec?): --work DIR names a directory "
                      "where they may" % work.parent)


def find_perf(asked):
    """The perf to use: the series' package has one of its own, perf-aux."""
    names = [asked] if asked else ["perf-aux", "perf"] if has_series() else ["perf"]
    for name in names:
        if shutil.which(name):
            return shutil.which(name)
    if asked:
        raise Refusal("there is no program %s: --perf names a perf" % asked)
    raise Refusal("there is no perf: install the package linux-perf (Debian), perf (Fedora, SUSE) "
                  "or linux-tools-generic (Ubuntu), or name one: %s" % OTHER_PERF)


def perf_version(work, tool):
    try:
        status, out, err = run([tool, "version"], work)
    except OSError as error:
        status, out, err = 1, "", error.strerror
    if status or not numbers(out)[0]:
        raise Refusal("%s does not run (%s): install the perf of this kernel, or name another: %s"
                      % (tool, (err.strip().splitlines() or ["no message"])[0], OTHER_PERF))
    version = out.strip().replace("perf version ", "")
    if numbers(version) < OLDEST_PERF:
        raise Refusal("perf %s is too old: install 5.10 or newer, or name another: %s"
                      % (version, OTHER_PERF))
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
        raise Refusal("the kernel has no PMU intel_pt: 'dmesg | grep -w PT' may say why (the "
                      "firmware or a debugger has it on: 'enabled at boot time'; no ToPA output); "
                      "boot without clearcpuid=, and a kernel with CONFIG_PERF_EVENTS_INTEL_PT if "
                      "it has that option")


def traced_cpus(text):
    """The CPUs that can trace, of what 'cost probe' says: CPU, errno and bytes; -1: a thread."""
    found = set()
    for cpu, error, size in (map(int, line.split()) for line in text.splitlines()):
        where = "a thread" if cpu < 0 else "CPU %d" % cpu
        if error == errno.EBUSY:
            raise Refusal("another program traces, so %s cannot be traced: end it (perf, also with "
                          "branch stacks, or a tool that uses LBR or BTS)" % where)
        if error == errno.ENODEV and cpu >= 0:
            # The driver does not use it, as it can do less than the others.
            continue
        if error:
            raise Refusal("Intel PT cannot trace %s (%s): 'dmesg | tail' may say why"
                          % (where, os.strerror(error)))
        if not size:
            raise Refusal("Intel PT writes nothing for %s: on this processor KVM's VMXON stops it; "
                          "end virtual machines, and 'rmmod kvm_intel'" % where)
        found.add(cpu)
    return found - {-1}


def probe(work):
    """Trace a thread and each CPU for a millisecond."""
    # Where it begins is the thread: on a CPU that the driver leaves out, it would not be traced.
    begin = [Choice(os.sched_getaffinity(0)).cpu]
    status, out, err = run([PROGRAMS / "cost", "probe", "-", "0"], work, begin)
    if status:
        raise Refusal("the program cost has ended early (%s): unpack all of the kit's archive"
                      % (err.strip() or "status %d" % status))
    found = traced_cpus(out)
    if not found:
        raise Refusal("no CPU can trace: 'dmesg | grep -w PT' may say why")
    return found


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


def kernel():
    release = os.uname().release
    locked = re.search(r"\[(\w+)\]", read(LOCKDOWN))
    series = has_series()
    return {"release": release, "series": series, "configuration": configuration(release),
            # Whether events can pause a trace
            "aux-action": series or numbers(release) >= AUX_ACTION_KERNEL,
            "lockdown": locked.group(1) if locked else "none",
            "tainted": read("/proc/sys/kernel/tainted")}


def conditions(cpu):
    """What times depend on, beside the processor and the kernel."""
    system = Path("/sys/devices/system/cpu")
    scaling = system / ("cpu%d/cpufreq" % cpu)
    turbo = read(system / "intel_pstate/no_turbo") or read(system / "cpufreq/boost")
    if (system / "intel_pstate/no_turbo").exists():
        turbo = str(1 - int(turbo))
    model_ = re.search(r"\((\w+)\)", read("/sys/kernel/debug/sched/preempt"))
    built = re.findall(r"PREEMPT\w*", os.uname().version)
    found = {"governor": read(scaling / "scaling_governor"),
             "frequency-driver": read(scaling / "scaling_driver"), "turbo": turbo,
             "smt": read(system / "smt/active"),
             "preemption": model_.group(1) if model_ else " ".join(built),
             "mitigations": " ".join(re.findall(r"\bmitigations=\S+", read("/proc/cmdline")))}
    found.update((file.name, read(file)) for file in sorted((system / "vulnerabilities").glob("*")))
    return {key: value or "unknown" for key, value in found.items()}


def check(work, asked_perf=""):
    """(the facts of the report, perf), or a refusal."""
    cpu = cpuid(work, Choice(os.sched_getaffinity(0)))
    check_processor(cpu)
    check_kernel()
    tool = find_perf(asked_perf)
    version = perf_version(work, tool)
    check_pt(cpu)
    copy_program(work)
    processor = model(cpu)
    processor["pt"] = capabilities(cpu)
    perf = {"version": version, "program": os.path.basename(tool)}
    return {"processor": processor, "kernel": kernel(), "perf": perf}, tool


def choose_cpus(facts, work):
    """Where to measure; what is known by that is added to the facts."""
    choice = Choice(probe(work))
    facts["processor"]["hybrid"] = bool(choice.large)
    facts["conditions"] = conditions(choice.cpu)
    return choice
