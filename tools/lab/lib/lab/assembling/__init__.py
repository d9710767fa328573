# SPDX-License-Identifier: GPL-2.0-only
"""From steps to a tree: hooks, growing files, what goes from the base."""
