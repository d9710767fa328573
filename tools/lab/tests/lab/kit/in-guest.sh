# SPDX-License-Identifier: GPL-2.0-only
# Run by kit.test in a guest, as root: in-guest.sh ARCHIVE OUT CHECKS. Each thing that is tested
# leaves files in OUT: NAME.log, NAME.status, and the state of the settings before and after.

archive=$1 out=$2 checks=$3
settings=/proc/sys/kernel
tracing=/sys/kernel/tracing

# What the kit must leave as it was; a list of the test's own.
state()		# file
{
	(
		cd $settings && for name in perf_* nmi_watchdog kptr_restrict ftrace_enabled ; do
			echo "$name $(cat "$name")"
		done
		echo "online $(cat /sys/devices/system/cpu/online)"
		echo "tracing_on $(cat $tracing/tracing_on)"
		echo "events $(cat $tracing/set_event)"
		echo "uprobes $(cat $tracing/uprobe_events)"
		echo "instances $(ls $tracing/instances)"
		echo "mounts $(wc -l </proc/self/mounts)"
		echo "left $(ls -d /run/perf-aux-kit* /var/tmp/perf-aux-kit* /tmp/perf-aux-kit* 2>/dev/null)"
	) >"$out/$1"
}

run()		# name, arguments of the kit
{
	name=$1; shift
	"$kit/kit" --out "$out/$name" "$@" >"$out/$name.log" 2>&1 </dev/null
	echo $? >"$out/$name.status"
}

# A copy of the kit with one defect.
broken()	# name, file, expression of sed
{
	kit=/run/broken-$1
	cp -r "$whole" "$kit"
	sed -i -e "$3" "$kit/lib/$2"
	cmp -s "$whole/lib/$2" "$kit/lib/$2" && echo "defect $1 is none" >>"$out/guest.log"
}

# After its records were read, the middle of a recording is overwritten.
# shellcheck disable=SC2016
damage='s/^    summary = perfdata.summarize.*/&\n    damage(context.data(name))/
$a def damage(path):\
    data = bytearray(path.read_bytes())\
    middle = len(data) // 2\
    data[middle:middle + 256] = b"\\xff" * 256\
    path.write_bytes(data)'

# Start it in the background, and send a signal when it has changed settings.
stopped_by()	# signal
{
	# Who reads a file of the share while it is written, may read zeroes.
	log=/run/$1.log
	"$kit/kit" --out "$out/$1" --only losses,switch >"$log" 2>&1 </dev/null &
	pid=$!
	until grep -q '^recording' "$log" ; do
		kill -0 $pid || break
		sleep 0.1
	done
	sleep 0.3
	kill "-$1" $pid
	wait $pid
	echo $? >"$out/$1.status"
	cp "$log" "$out"
}

hostname kit-secret-host
echo 'kitsecretuser:x:1234:1234:Kit Secret Person:/home/kitsecretuser:/bin/sh' >>/etc/passwd
mkdir -p /home/kitsecretuser
# A command line of somebody else
sh -c 'sleep 3000; : kit-secret-command' >/dev/null 2>&1 </dev/null &
cd /home/kitsecretuser && tar xf "$archive" || exit 1
whole=$(echo "$PWD"/perf-aux-kit-*)
kit=$whole

# None of them is what the kit wants. The lab has a percentage of 0, with which there is no rate.
echo 3 >$settings/perf_event_paranoid
echo 2 >$settings/kptr_restrict
echo 30 >$settings/perf_cpu_time_max_percent
echo 50000 >$settings/perf_event_max_sample_rate

for check in $checks ; do
	case $check in
	whole)
		state whole.before
		# shellcheck disable=SC2086
		run whole ${WHOLE-}
		state whole.after ;;
	stopped)
		state INT.before
		stopped_by INT
		state INT.after
		stopped_by KILL
		state KILL.after
		mv "$out/KILL" "$out/again"
		run again --only pmi64k --quick
		state again.after ;;
	refused)
		"$kit/kit" compare /etc/passwd "$out/none.json" >"$out/no-report.log" 2>&1
		run no-part --only nothing
		mkdir /run/empty /run/old
		env PATH=/run/empty /usr/bin/python3 "$kit/kit" --check >"$out/no-perf.log" 2>&1
		printf '#!/bin/sh\necho perf version 4.9.1\n' >/run/old/perf
		chmod +x /run/old/perf
		PATH=/run/old:$PATH "$kit/kit" --check >"$out/old-perf.log" 2>&1
		perf record -q -a -e intel_pt// -o /dev/null sleep 600 >/dev/null 2>&1 &
		tracing_pid=$!
		sleep 2
		run busy --check
		kill $tracing_pid
		wait $tracing_pid
		mkdir /run/noexec
		mount -t tmpfs -o noexec tmpfs /run/noexec
		run noexec --check --work /run/noexec
		umount /run/noexec
		chmod 755 /home/kitsecretuser
		setpriv --reuid 65534 --clear-groups "$kit/kit" --check >"$out/no-root.log" 2>&1 ;;
	broken)
		broken count recordings.py 's/MANY_ROUNDS = 5000/&; CALLS = 2 * ROUNDS + 1/'
		run broken-count --only per-thread
		broken decoder recordings.py "$damage"
		run broken-decoder --only per-thread
		broken told perfdata.py 's/flags & AUX_TRUNCATED/0/'
		run broken-told --only losses
		broken restore settings.py \
			's/in reversed(self.entries):/in []:/'
		run broken-restore --only pmi64k --quick
		state broken-restore.after ;;
	check)
		# Where systemd runs, it is mounted.
		mount -t securityfs none /sys/kernel/security 2>/dev/null
		run "check" --check ;;
	esac
done
