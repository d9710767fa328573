# SPDX-License-Identifier: GPL-2.0-only
"""Archives for other machines: Debian packages, the kit."""
