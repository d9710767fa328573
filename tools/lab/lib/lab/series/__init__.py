# SPDX-License-Identifier: GPL-2.0-only
"""The steps as patches: for git, for distributions, for another base."""
