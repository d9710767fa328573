# SPDX-License-Identifier: GPL-2.0-only
#
# The devices of the lab's machines: guests are microvms, q35 has an SMI, and boots what 'make deb'
# packs from an NVMe or a USB disk, with a network card of Intel's beside it. What is not listed here,
# and needed by nothing that is, is not built.

CONFIG_MICROVM=y
CONFIG_Q35=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_ISA_DEBUG=y
CONFIG_NVME_PCI=y
CONFIG_USB_XHCI_PCI=y
CONFIG_USB_STORAGE_CLASSIC=y
CONFIG_E1000E_PCI_EXPRESS=y
