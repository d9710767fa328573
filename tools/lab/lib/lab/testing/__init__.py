# SPDX-License-Identifier: GPL-2.0-only
"""Test files and what they report; fuzzer, mutants, coverage of kselftests."""
