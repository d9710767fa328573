#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Read by check.sh where Debian's own kernel runs, on a machine without hardware that traces. The
# module was built beforehand.

cd /root || exit 1
exec >/root/result 2>/root/result.err
say() { echo "$@"; }

say release "$(uname -r)"
"$SELFTESTS/perf_events/aux_report.sh" >none.txt 2>&1
say none "$?"
insmod perf_aux_synth/perf_aux_synth.ko
say synth "$(find /sys/bus/event_source/devices/ -name 'aux_synth*' | wc -l)"
"$SELFTESTS/perf_events/aux_report.sh" $PROGRAMS >report.txt 2>&1
say report "$?" "$(tail -n 1 report.txt)"
# Of a kernel like this one, which does not know who uses an area, it is never unloaded.
rmmod perf_aux_synth
say stays "$?"
# Out of the tree (4096) and not signed (8192), and nothing else: the kernel has not warned (512).
say taint "$(cat /proc/sys/kernel/tainted)"
say end
sync
