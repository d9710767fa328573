# SPDX-License-Identifier: GPL-2.0-only
"""What all of the lab stands on: paths, processes, messages, packages, sources."""
