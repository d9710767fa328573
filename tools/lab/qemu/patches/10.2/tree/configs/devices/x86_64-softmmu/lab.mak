# SPDX-License-Identifier: GPL-2.0-only
#
# As for the lab's own release, but without q35, whose ACPI tables call what only CXL has: QEMU 10.2
# does not link with q35 alone.

CONFIG_MICROVM=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_ISA_DEBUG=y
