# SPDX-License-Identifier: GPL-2.0-only
"""Kernel, perf and QEMU, of assembled trees."""
