# SPDX-License-Identifier: GPL-2.0-only
#
# The devices of the lab's arm and arm64 machines.

CONFIG_ARM_VIRT=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_SERIAL=y
