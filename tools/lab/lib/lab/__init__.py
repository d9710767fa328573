# SPDX-License-Identifier: GPL-2.0-only
"""The lab: kernels with Intel PT on any machine."""
