#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""load.py MODULE...: load modules into the guest's kernel; says which are refused, and why."""

import ctypes
import os
import sys

FINIT_MODULE = 313

libc = ctypes.CDLL(None, use_errno=True)
refused = 0
for module in sys.argv[1:]:
    fd = os.open(module, os.O_RDONLY)
    if libc.syscall(FINIT_MODULE, fd, b"", 0):
        print(f"load: {module}: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        refused += 1
    os.close(fd)
sys.exit(refused)
