# SPDX-License-Identifier: GPL-2.0-only
"""All parts that a verb needs, in order; and taking them away."""
