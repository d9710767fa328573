# SPDX-License-Identifier: GPL-2.0-only
"""Test files and what they report: TAP, JUnit, kselftests, KUnit, the fuzzer, mutants."""
