# SPDX-License-Identifier: GPL-2.0-only
#
# The devices of the lab's machines: guests are microvms, and q35 has an SMI. What is not listed
# here, and needed by nothing that is, is not built.

CONFIG_MICROVM=y
CONFIG_Q35=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_ISA_DEBUG=y
# 10.2 does not link without: its Q35 calls what only CXL has.
CONFIG_CXL=y
