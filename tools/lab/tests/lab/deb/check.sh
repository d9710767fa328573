#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run by systemd in the machine that deb.test boots; each line of the result is a word and a value.

. /etc/aux-check.conf
case $(uname -r) in *-aux*) ;; *) . /root/of-debian.sh; exit ;; esac
# Where perf keeps a copy of the vDSO
export HOME=/root
exec >/root/result 2>/root/result.err
say() { echo "$@"; }

say release "$(uname -r)"
say root "$(lsblk -no TRAN,FSTYPE "$(findmnt -no SOURCE /)" | tr -s ' ')"
say card "$(basename "$(readlink /sys/class/net/e*/device/driver)")"
say modules "$(cut -d' ' -f1 /proc/modules | sort | tr '\n' ' ')"
say failed "$(systemctl --failed --no-legend | wc -l)"
modprobe btrfs && modprobe e1000e && modprobe igc && say modprobe "$?"
# A key that is found fast: it is the cipher that the kernel must have.
echo secret >/root/key
second=$(echo /dev/disk/by-id/ata-*second)
cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$second" /root/key &&
	cryptsetup open --key-file /root/key "$second" sealed &&
	mkfs.btrfs -q -f /dev/mapper/sealed >/dev/null && mount /dev/mapper/sealed /mnt &&
	say btrfs "$(findmnt -no SOURCE,FSTYPE /mnt)"
nft -f /etc/nftables.conf && say firewall "$(nft list ruleset | grep -c 'table inet filter')"
say apparmor "$(cat /sys/module/apparmor/parameters/enabled)"

cd /root || exit 1
perf-aux record -o pt.data -e intel_pt//u ls -l / >ls.out 2>&1
say record "$?"
perf-aux script -i pt.data --itrace=be -F ip,sym >pt.txt 2>pt.err
say branches "$(grep -c ' => \|[0-9a-f] ' pt.txt)"
say errors "$(cat pt.txt pt.err | grep -c 'instruction trace error')"
perf-aux calltrace --out kept -- /bin/true >calls.txt 2>&1
say calltrace "$?" "$(head -n 1 calls.txt)"
"$SELFTESTS/run_kselftest.sh" -t perf_events:aux_records_test >selftests.txt 2>&1
say selftests "$(grep -c '^# ok\|^ok' selftests.txt)" "$(grep -c '^not ok\|^# not ok' selftests.txt)"
# The PMUs without hardware are there with their module, which an event keeps, and go with it.
pmus() { find /sys/bus/event_source/devices/ -name 'aux_synth*' | wc -l; }
timers() { grep -c perf_mux_hrtimer_handler /proc/timer_list; }
modprobe perf_aux_synth
say synth "$(pmus)"
"$SELFTESTS/perf_events/aux_report.sh" aux_synth_test aux_records_test >report.txt 2>&1
say report "$?" "$(tail -n 1 report.txt)"
perf-aux stat -e aux_synth// -- sleep 1000 >/dev/null 2>&1 &
until [ "$(cat /sys/module/perf_aux_synth/refcnt)" -gt 0 ] || ! kill -0 $!; do sleep 0.1; done
rmmod perf_aux_synth 2>/dev/null
say kept "$?"
kill $! && wait $!
for _ in 1 2 3; do
	# A timer of each PMU is on its way then, and goes with it.
	for turn in /sys/bus/event_source/devices/aux_synth*/perf_event_mux_interval_ms; do
		echo 60000 >"$turn"
	done
	started=$(timers)
	rmmod perf_aux_synth && say unloaded "$(pmus)"
	[ "$started" -ge 3 ] && say timers "$(timers)"
	modprobe perf_aux_synth
done
say synth_again "$(pmus)"
say taint "$(cat /proc/sys/kernel/tainted)"
say end
sync
