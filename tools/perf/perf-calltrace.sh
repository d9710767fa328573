#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf calltrace: record a program with Intel PT and show its calls; see perf-calltrace(1)

usage='usage: perf calltrace [OPTIONS] -- COMMAND [ARG...]
       perf calltrace [OPTIONS] --pid PID [--for SECONDS]
       perf calltrace [--lines N] --show DIR

    --from [OBJECT:]FUNCTION  trace only from its entry on, until it returns
    --to [OBJECT:]FUNCTION    with --from: until this one is entered
    --last[=SIZE]             keep only the end of the trace
    --kernel                  trace the kernel too
    --filter FILTER           an address filter, as of perf record
    -m SIZE                   of an AUX area, for example 64M
    --out DIR                 keep all that decoding elsewhere needs
    --record-only             with --out: do not decode it here
    --lines N                 how many calls to show, 0 for all (40)'

# The exit status if the command is not run, as of env(1) and timeout(1)
fail()
{
	echo "perf calltrace: $*" >&2
	exit 125
}

from='' to='' filter='' size='' pid='' seconds='' out='' show=''
kernel=false last=false only=false lines=40
while [ $# -gt 0 ] ; do
	case $1 in
	--from | --to | --filter | -m | --pid | --for | --out | --show | --lines)
		[ -n "${2-}" ] || fail "$1 needs a value: see perf calltrace --help" ;;
	esac
	case $1 in
	--from)		from=$2; shift ;;
	--to)		to=$2; shift ;;
	--filter)	filter=$2; shift ;;
	-m)		size=$2; shift ;;
	--pid)		pid=$2; shift ;;
	--for)		seconds=$2; shift ;;
	--out)		out=$2; shift ;;
	--show)		show=$2; shift ;;
	--lines)	lines=$2; shift ;;
	--last)		last=true
			case ${2-} in [0-9]*) size=$2; shift ;; esac ;;
	--last=*)	last=true size=${1#*=} ;;
	--kernel)	kernel=true ;;
	--record-only)	only=true ;;
	-h | --help)	echo "$usage"; exit 0 ;;
	--)		shift; break ;;
	*)		fail "what is '$1'? COMMAND is behind --; see perf calltrace --help" ;;
	esac
	shift
done

check_numbers()	# what they are, an example, numbers...
{
	what=$1 example=$2; shift 2
	for one ; do
		case $one in *[!0-9]*) fail "'$one' is no $what: use one such as $example" ;; esac
	done
}

check_options()	# COMMAND...
{
	check_numbers "number of lines" 100 "$lines"
	[ -z "$show" ] || return 0
	check_numbers "number of seconds" 10 "$seconds"
	check_numbers "size" "512K, 64M or 1G" "${size%[KMG]}"
	[ -z "$to" ] || [ -n "$from" ] || fail "--to needs --from, where the trace begins"
	[ -z "$seconds" ] || [ -n "$pid" ] || fail "--for needs --pid: a command has its own end"
	[ -n "$out" ] || ! $only || fail "--record-only keeps nothing without --out DIR"
	if [ -z "$pid" ] ; then
		[ $# -gt 0 ] || fail "there is nothing to trace: give '-- COMMAND' or --pid PID"
		return
	fi
	check_numbers "process ID" "those of pgrep NAME" "$pid"
	[ $# -eq 0 ] || fail "--pid and a command: use one of them"
	[ -d "/proc/$pid" ] || fail "there is no process $pid (any more): pgrep NAME finds others"
	kill -0 "$pid" 2>/dev/null || fail "process $pid is of another user: try as root"
}

check_machine()
{
	[ -d /sys/bus/event_source/devices/intel_pt ] ||
		fail "this machine has no Intel PT (or is a virtual one without it): use another"
	[ "$(id -u)" -eq 0 ] || ! $kernel ||
		fail "--kernel copies the kernel's code, which only root may: try as root"
}

# The file that execvp() takes; the shell's own commands are none.
path_of()	# COMMAND
{
	case $1 in
	*/*)	echo "$1" ;;
	*)	echo "$PATH" | tr : '\n' | while read -r one ; do
			[ -f "$one/$1" ] && [ -x "$one/$1" ] && echo "$one/$1" && break
		done ;;
	esac
}

# " (NAME?)" with the name that begins most like what was asked for
nearest()	# FUNCTION, names on standard input
{
	awk -v want="$1" '{
		n = 0
		while (n < length(want) && substr($0, n + 1, 1) == substr(want, n + 1, 1))
			n++
		if (n > most) { most = n; best = $0 }
	}
	END { if (2 * most >= length(want)) print " (" best "?)" }'
}

# A library, by its path or by how its name begins
library()	# OBJECT
{
	case $1 in
	*/*)	echo "$1" ;;
	*)	if [ -n "$pid" ] ; then cat "/proc/$pid/maps" ; else ldd "$program" ; fi |
			grep -o "/[^ ]*/$1[^/ ]*" | head -n 1 ;;
	esac
}

# Put a probe of this script's own on a function.
probe()		# EVENT, [OBJECT:]FUNCTION, what perf probe has behind it
{
	object=$program function=$2
	case $2 in *:*) object=$(library "${2%%:*}") function=${2#*:} ;; esac
	[ -r "$object" ] || fail "'$2' names no file that can be read: give the path of a library"
	perf probe -x "$object" -F --filter '*' >"$work/names" 2>"$work/said" ||
		fail "perf probe cannot read $object: $(head -n 1 "$work/said")"
	if ! grep -Fxq -e "$function" "$work/names" ; then
		! perf probe -q -n -x "$object" -a "$function" >/dev/null 2>&1 ||
			fail "$function was inlined into all its callers:" \
				"name one of them, or compile it with __attribute__((noinline))"
		fail "$object has no function $function$(nearest "$function" <"$work/names"):" \
			"it may be inlined, stripped, or of a library (OBJECT:FUNCTION)"
	fi
	perf probe -x "$object" -a "$group:$1=$function$3" >"$work/said" 2>&1 ||
		fail "perf probe cannot probe $function: $(head -n 1 "$work/said")"
}

set_probes()
{
	tracefs=/sys/kernel/tracing
	[ -e $tracefs/uprobe_events ] || tracefs=/sys/kernel/debug/tracing
	[ -w $tracefs/uprobe_events ] ||
		fail "--from needs probes, and $tracefs/uprobe_events is read-only: try as root"
	probed=true
	probe from "$from" ''
	if [ -n "$to" ] ; then probe to "$to" '' ; else probe to "$from" %return ; fi
}

remove_probes()
{
	! $probed || perf probe -q -d "$group:*" 2>/dev/null
	probed=false
}

# perf record for COMMAND, for PID, and for a trial
record()	# RECORDING, what is traced
{
	data=$1; shift
	if [ -n "$from" ] ; then
		for event in "$tracefs/events/$group"/*/ ; do
			event=$(basename "$event") action=pause
			case $event in from*) action=resume ;; esac
			set -- -e "$group:$event/aux-action=$action/" "$@"
		done
	fi
	[ -z "$filter" ] || set -- --filter "$filter" "$@"
	terms=${from:+aux-action=start-paused}
	if $kernel ; then
		set -- --kcore -e "intel_pt/$terms/" "$@"
	else
		set -- -e "intel_pt/$terms/u" "$@"
	fi
	[ -z "$size" ] || set -- -m ",$size" "$@"
	! $last || set -- -Se "$@"
	# The kernel has no build ID of the vDSO to tell, so perf would not keep it.
	set -- perf --buildid-dir "$dir/buildid" record --no-buildid-mmap -o "$data" "$@"
	[ -z "$seconds" ] || set -- timeout -s INT "$seconds" "$@"
	# Probes act on the trace of their CPU. One CPU has all of a command and its children.
	cpu=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]\([0-9]*\)$/\1/p' /proc/self/status)
	[ -z "$from" ] || [ -n "$pid" ] || set -- taskset -c "$cpu" "$@"
	"$@"
}

# Record next to nothing, and say what is wrong if that fails.
try()
{
	(seconds='' ; record "$work/trial" -N ${thread:+"$thread"} -- true) >"$work/said" 2>&1 &&
		is_complete "$work/trial" && return
	case $(cat "$work/said") in
	*"kernel does not support the term"* | *"'aux_action' feature is not supported"*)
		fail "--from needs a kernel that can pause a trace: use Linux 6.13 or newer" ;;
	*aux-action*)
		fail "--from needs a perf that knows aux-action: use that of Linux 6.14 or newer" ;;
	*paranoid* | *ermission* | *"not permitted"*)
		fail "not permitted: try as root, or set sysctl kernel.perf_event_paranoid=2" ;;
	esac
	fail "perf record failed: $(grep . "$work/said" | tail -n 1)"
}

# perf writes the size of the data last.
is_complete()	# RECORDING
{
	file=$1
	[ ! -d "$file" ] || file=$file/data
	[ "$(od -An -tu8 -j48 -N8 "$file" 2>/dev/null | tr -d ' ')" -gt 0 ] 2>/dev/null
}

record_process()
{
	record "$dir/perf.data" -q ${thread:+"$thread" -T} -p "$pid" >"$work/said" 2>&1 &
	recorder=$!
	while kill -0 $recorder 2>/dev/null ; do
		wait $recorder
	done
	status=0
	is_complete "$dir/perf.data" || [ -d "/proc/$pid" ] ||
		fail "process $pid ended before it could be traced: choose one that lives longer"
}

# Lines of perf script to lines of calls, indented; what was counted goes to the file "summary".
# shellcheck disable=SC2016
to_calls='
# The symbol of "address symbol+offset (object)". It leaves the latter two, in "place" what is
# the same for all of a function, and in "in_kernel" whether that is code of the kernel.
function symbol(part)
{
	match(part, / [0-9a-f][0-9a-f][0-9a-f][0-9a-f]+ /)
	address = substr(part, RSTART + 1, RLENGTH - 2)
	in_kernel = address ~ /^ffff............$/
	part = substr(part, RSTART + RLENGTH)
	object = match(part, / \([^ ]*\) *$/) ? substr(part, RSTART) : ""
	part = substr(part, 1, length(part) - length(object))
	gsub(/^.*\/|[() ]/, "", object)
	if (object == "[uprobes]")
		copies[substr(address, 1, length(address) - 3)]
	offset = match(part, /\+0x[0-9a-f]+$/) ? substr(part, RSTART + 3) : ""
	sub(/(@@.*)?\+0x[0-9a-f]+$/, "", part)
	place = part
	if (part ~ /^\[unknown\]/) {
		place = object
		part = "0x" address
	}
	return part
}
function call(callee, caller)
{
	if (start == "")
		start = time
	printf "%12.2f  %s/%s  %*s%s  (%s)\n", (time - start) * 1e6, comm, tid,
		2 * depth[tid], "", callee, object
	stack[tid, ++depth[tid]] = caller
	of_kernel[tid, depth[tid]] = in_kernel
	count++
	if (!first && callee ~ /^(main|__libc_start_call_main)$/)
		first = count
}
# A branch from the kernel to code of the user ends all that the kernel has called. A trace that
# begins within the kernel does not have the call that this returns to.
function leave_kernel()
{
	while (depth[tid] > 0 && of_kernel[tid, depth[tid]])
		depth[tid]--
}
function leave(source, target)
{
	for (n = depth[tid]; n > 0 && stack[tid, n] != target; n--)
		;
	# The function that the trace began with returns to a caller that is not in it.
	if (n || source == began[tid])
		depth[tid] = n ? n - 1 : 0
}
/instruction trace error/ {
	match($0, / ip 0x[0-9a-f]+ /)
	page = substr($0, RSTART + 6, RLENGTH - 10)
	# There the kernel has copies of the instructions below probes, which perf does not see.
	if (/code 5:/ && page in copies)
		next
	if (/code 7:/)
		overflows++
	else if (/code 8:/)
		losses++
	else if (!errors++)
		print >"/dev/stderr"
	next
}
match($0, / [0-9]+ +[0-9]+\.[0-9]+: /) {
	comm = substr($0, 1, RSTART)
	split(substr($0, RSTART, RLENGTH - 2), field)
	rest = substr($0, RSTART + RLENGTH)
	gsub(/^ +| +$/, "", comm)
	tid = field[1]; time = field[2]
	if (names[tid] != comm)
		depth[tid] = 0
	names[tid] = comm
	if (rest ~ /^ *calltrace_[0-9]+:from/) {
		hits++
		callee = symbol(rest)
		# It was called in what is traced, or the trace begins with it.
		if (called[tid] != callee) {
			depth[tid] = 0
			began[tid] = place
			call(callee, "")
		}
		called[tid] = ""
		entered[tid] = place
	} else if (at = index(rest, " => ")) {
		source = substr(rest, 1, at)
		if (source ~ /: +(call|syscall|int|hw int) /) {
			symbol(source); caller = place
			called[tid] = symbol(substr(rest, at + 3))
			call(called[tid], caller)
		} else if (source ~ /: +(return|sysret|iret) /) {
			symbol(source); caller = place
			symbol(substr(rest, at + 3))
			leave(caller, place)
			if (!in_kernel)
				leave_kernel()
			called[tid] = ""
		} else if (source ~ /: +tr end /) {
			symbol(source)
			ended[tid] = offset == "0" ? place : ""
			if (source ~ / return /)
				depth[tid] -= depth[tid] > 0
		} else if (source ~ /: +tr strt /) {
			callee = symbol(substr(rest, at + 3))
			# What a filter traces begins, or the handler of a signal; or the kernel has
			# executed the call that is below a probe.
			if (object != "[uprobes]" && offset == "0" && ended[tid] != place &&
			    entered[tid] != place)
				call(callee, entered[tid])
		}
	}
}
END { print count + 0, first + 0, hits + 0, errors + 0, overflows + 0, losses + 0 >summary }'

decode()	# DIR
{
	{
		perf --buildid-dir "$1/buildid" script -f -i "$1/perf.data" --itrace=cre --ns \
			-F comm,tid,time,event,flags,ip,addr,sym,symoff,dso 2>"$work/said"
		echo $? >"$work/status"
	} | awk -v summary="$work/summary" "$to_calls" >"$work/calls" 2>"$work/error"
	[ "$(cat "$work/status")" -eq 0 ] ||
		fail "perf cannot decode it: $(grep . "$work/said" | tail -n 1)"
	read -r calls first hits errors overflows losses <"$work/summary"
}

# How often perf has warned of it
warned()	# text with \(...\) around the number
{
	sed -n "s/.*$1.*/\1/p" "$work/said" | head -n 1
}

hole()		# how many times, why, what to do
{
	[ "${1:-0}" -eq 0 ] || holes="$holes
  $1 times $2: $3"
}

verdict()
{
	holes='' less="trace less (--from, --filter) or only the end (--last)"
	lost=$(warned 'AUX data lost \([0-9]*\) times')
	hole "${lost:-$losses}" "the area was full" "use a larger area (-m), $less"
	hole "$(warned 'AUX data had gaps in it \([0-9]*\) times')" "it was kept from tracing" \
		"run no virtual machine meanwhile"
	hole "$(warned 'lost \([0-9]*\) chunks')" "perf was too slow to read" "$less"
	hole "$overflows" "the processor was faster than its trace (overflow)" "$less"
	hole "$errors" "perf could not decode it" "$(sed 's/.* ip/first at ip/' "$work/error")"
	if [ -n "$holes" ] ; then
		echo "The trace is not complete:$holes"
	elif $last ; then
		echo "The end of the trace is complete: nothing was lost, and all of it is decoded."
	else
		echo "The trace is complete: nothing was lost, and all of it is decoded."
	fi
	[ -z "$from" ] || echo "$from was entered $hits times."
}

show_calls()	# DIR
{
	decode "$1"
	verdict
	[ "$calls" -gt 0 ] || { echo "There is no call in it." ; return ; }
	if [ "$status" -gt 128 ] && signal=$(kill -l "$status" 2>/dev/null) ; then
		printf '\nThe last calls before the command was killed by SIG%s:\n' "$signal"
	elif [ "$status" -gt 0 ] ; then
		printf '\nThe last calls before the command exited with %d:\n' "$status"
	fi
	[ "$lines" -gt 0 ] || { lines=$calls first=1 ; }
	printf '\n%12s  call\n' microseconds
	if [ "$status" -gt 0 ] || $last ; then
		tail -n "$lines" "$work/calls"
	else
		tail -n "+$first" "$work/calls" | head -n "$lines"
	fi
	[ "$lines" -ge "$calls" ] || printf '\n%d calls; --lines 0 shows all of them\n' "$calls"
}

timeline()	# DIR
{
	perf script --list-dlfilters 2>/dev/null | grep -q dlfilter-timeline.so || return
	perf --buildid-dir "$1/buildid" script -f -i "$1/perf.data" --itrace=cre \
		--dlfilter dlfilter-timeline.so --dlarg "$1/timeline.json" >/dev/null 2>&1 &&
		echo "A timeline of it: $1/timeline.json"
}

about()		# what
{
	sed -n "s/^$1: //p" "$show/about" 2>/dev/null | head -n 1
}

show_kept()
{
	is_complete "$show/perf.data" || fail "$show has no whole recording: --out DIR makes one"
	status=$(about status)
	check_numbers "status" 0 "$status"
	[ "$(about last)" != true ] || last=true
	from=$(about from)
	status=${status:-0}
	show_calls "$show"
}

make_out()
{
	mkdir -p "$out" 2>/dev/null
	if [ ! -d "$out" ] || [ ! -w "$out" ] ; then
		fail "cannot write $out: name another directory"
	fi
	[ -z "$(ls -A "$out")" ] || fail "$out is not empty: name a new directory"
	# perf keeps nothing below a relative path.
	dir=$(cd "$out" && pwd)
}

# Of what is recorded, perf makes a whole recording then, and a command has got the signal too.
# shellcheck disable=SC2317
interrupted()
{
	$recording || exit 130
	[ -z "$recorder" ] || kill -INT "$recorder" 2>/dev/null
}

group=calltrace_$$ probed=false recording=false recorder='' thread=''
command -v perf >/dev/null || fail "there is no perf: install it (linux-perf, linux-tools, perf)"
check_options "$@"
work=$(mktemp -d) || fail "there is no room in ${TMPDIR:-/tmp}: set TMPDIR to another directory"
trap 'remove_probes; rm -rf "$work"' EXIT
trap interrupted INT TERM HUP
trap 'exit 141' PIPE
[ -z "$show" ] || { show_kept ; exit ; }

check_machine
dir=$work
[ -z "$out" ] || make_out
if [ -n "$pid" ] ; then
	program=$(readlink -f "/proc/$pid/exe")
	thread=${from:+--per-thread}
else
	program=$(path_of "$1")
	[ -x "$program" ] || fail "there is no program '$1' that can be run: check its path"
fi
[ -z "$from" ] || set_probes
if [ -n "$from" ] || [ "$(id -u)" -ne 0 ] ; then try ; fi
recording=true
if [ -n "$pid" ] ; then
	record_process
else
	record "$dir/perf.data" -q -- "$@"
	status=$?
fi
is_complete "$dir/perf.data" || try
is_complete "$dir/perf.data" || fail "perf record has failed: there may be no room in $dir"
remove_probes
printf '%s: %s\n' status "$status" from "$from" last $last command "$*" >"$dir/about"
$only || show_calls "$dir"
if [ -n "$out" ] ; then
	$only || timeline "$out"
	echo "To decode it on another machine, copy $out and run one of"
	echo "    perf calltrace --show $out"
	echo "    perf --buildid-dir $out/buildid script -i $out/perf.data --call-trace"
fi
exit "$status"
