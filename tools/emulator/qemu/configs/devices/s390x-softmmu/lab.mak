# SPDX-License-Identifier: GPL-2.0-only
#
# The devices of the lab's s390x machines.

CONFIG_S390_CCW_VIRTIO=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_SERIAL=y
