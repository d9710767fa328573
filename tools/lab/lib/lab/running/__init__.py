# SPDX-License-Identifier: GPL-2.0-only
"""Guests: machines, processors, what they say."""
