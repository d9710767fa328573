# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of perf: made, read, shown."""
