# SPDX-License-Identifier: GPL-2.0-only
"""The QEMU command line: a microvm with virtio-mmio devices and nothing else.

QEMU's ordinary PC needs half a minute under TCG before the kernel runs; the
microvm needs none of it, as it has no PCI, no ACPI and no real firmware.
Other processors than x86-64 have the machines that arches.py says.
"""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from lab.base import paths
from lab.compiling import arches
from lab.running import cpumodels, ptcaps
from lab.base.errors import LabError

CPU_PROPERTIES = ["vendor=GenuineIntel", "pmu=on"]
MACHINE = "microvm,acpi=off,pcie=off,pit=on,pic=on,rtc=on,isa-serial=on"
# panic=-1 and reboot=t, with -no-reboot, end QEMU at once in either case.
# The TSC is QEMU's virtual clock; a watchdog that measures it against timer ticks
# which a busy host delivers late would call it unstable.
# The detector of hard lockups takes a counter from each CPU: kernel.nmi_watchdog=1 starts it.
# That of soft ones, which comes with it, would take a host that is busy for them.
KERNEL_ARGS = ("console=ttyS0 earlyprintk=ttyS0 panic=-1 reboot=t nokaslr tsc=reliable "
               "nmi_watchdog=0 nosoftlockup")
# Page table isolation costs time, and there is no BTS with it: --append "mitigations=auto pti=on"
# turns it on. It takes the place of this, as newer kernels take nothing back of what "off" did.
NO_MITIGATIONS = "mitigations=off"
# Of machines of other processors
OTHER_KERNEL_ARGS = "console={} panic=-1 nosoftlockup"
MAX_SHARES = 6
MAX_CPUS = 8


@dataclass
class Machine:
    """What kind of guest to start; filled in from the command line.

    gdb is the socket where the guest, stopped before its first instruction,
    waits for a debugger; empty without one. arch is None for x86-64.
    """

    kernel: str
    cpu: str = cpumodels.DEFAULT
    cpus: int = 2
    memory: str = "2G"
    shares: list[str] = field(default_factory=list)
    pt: str = ""
    icount: bool = False
    append: str = ""
    gdb: str = ""
    qemu: str = ""
    arch: arches.Arch | None = None


def parse_memory(text: str) -> int:
    """'512M' or '2G', in bytes; what the kernel cannot boot with is refused."""
    match = re.fullmatch(r"(\d+)([MG])", text)
    size = int(match[1]) << {"M": 20, "G": 30}[match[2]] if match else 0
    if not 128 << 20 <= size <= 64 << 30:
        raise LabError(f"bad memory size '{text}'", "use for example 512M or 2G")
    return size


def _has_pt(qemu: str) -> bool:
    """Whether this QEMU has the PT model: an unpatched one can run as well."""
    listing = subprocess.run([qemu, "-device", "max-x86_64-cpu,help"],
                             capture_output=True, text=True, check=False)
    return "x-pt-" in listing.stdout


def _cpu(machine: Machine) -> str:
    properties = ptcaps.cpu_properties(machine.pt)
    model = [machine.cpu, *CPU_PROPERTIES]
    if not _has_pt(machine.qemu):
        if machine.pt and machine.pt != "off":
            raise LabError(f"{machine.qemu} has no Intel PT model",
                           "leave --pt away or build the lab's own QEMU with 'lab build'")
        return ",".join(model)
    return ",".join([*model, *properties])


def _share_args(index: int, directory: str, bus: str) -> list[str]:
    if index >= MAX_SHARES:
        raise LabError("too many shared directories", f"at most {MAX_SHARES}")
    return ["-fsdev", f"local,id=share{index},path={_escape(directory)},"
                      "security_model=none,multidevs=remap",
            "-device", f"virtio-9p-{bus},fsdev=share{index},mount_tag=lab.share{index}"]


def _escape(path: str | Path) -> str:
    """A comma ends an option of QEMU, unless doubled."""
    return str(path).replace(",", ",,")


def _port_args(fds: dict[str, int], tty: bool, bus: str) -> list[str]:
    args = ["-device", f"virtio-serial-{bus},max_ports=8"]
    for name, fd in fds.items():
        device = "virtconsole" if name == "tty" else "virtserialport"
        args += ["-chardev", f"socket,id={name},fd={fd}",
                 "-device", f"{device},chardev={name},name=lab.{name}"]
    return args


def kernel_args(append: str, arch: arches.Arch | None = None) -> str:
    """The kernel's arguments, those of the caller last."""
    given = any(word.startswith("mitigations=") for word in append.split())
    usual = OTHER_KERNEL_ARGS.format(arch.console) if arch else KERNEL_ARGS
    return " ".join([usual, *([] if given else [NO_MITIGATIONS]), append]).strip()


def command_line(machine: Machine, initrd: str | Path, console: str,
                 fds: dict[str, int]) -> list[str]:
    """The whole command; fds maps the names of ports to socket descriptors."""
    arch = machine.arch
    bus = arch.bus if arch else "device"
    root: str | Path = arch.root if arch else "/"
    kind = arch.machine if arch else ("-M", MACHINE, "-cpu", _cpu(machine))
    args = [machine.qemu, "-L", str(paths.firmware()), *kind, "-accel", "tcg",
            "-smp", str(machine.cpus), "-m", machine.memory,
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", machine.kernel, "-initrd", initrd,
            "-append", kernel_args(machine.append, arch),
            "-chardev", f"file,id=console,path={_escape(console)}",
            "-serial", "chardev:console",
            "-fsdev", f"local,id=root,path={_escape(root)},security_model=none,readonly=on,"
                      "multidevs=remap",
            "-device", f"virtio-9p-{bus},fsdev=root,mount_tag=lab.root"]
    for index, directory in enumerate(machine.shares):
        args += _share_args(index, directory, bus)
    args += _port_args(fds, "tty" in fds, bus)
    if machine.icount:
        args += ["-icount", "shift=0,sleep=off"]
    if machine.gdb:
        args += ["-chardev", f"socket,id=gdb,path={_escape(machine.gdb)},server=on,wait=off",
                 "-gdb", "chardev:gdb", "-S"]
    return [str(arg) for arg in args]
